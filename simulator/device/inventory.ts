/** Builds a device's inventory. Spec: Attribute (inventory) */
import { limits } from '../../fixtures/contract/limits.ts';
import type { Attribute } from '../../fixtures/contract/resources.ts';
import type { SimulatedDevice } from './device.ts';

/** Returns the device's hostname: its serial number in lower case. */
export function hostnameOf({ identity }: SimulatedDevice): string {
  return identity.serial.toLowerCase();
}

/**
 * Returns the device's attributes: identity, installed software and hardware. Provides beyond the
 * server's limit on attributes are omitted.
 */
export function inventoryOf(device: SimulatedDevice): Attribute[] {
  const { identity, provides, index } = device;
  const constant: Attribute[] = [
    { name: 'hostname', value: hostnameOf(device) },
    { name: 'mac_eth0', value: identity.mac },
    { name: 'serial', value: identity.serial, description: 'Serial number' },
    { name: 'sku', value: identity.sku },
    { name: 'cpu_count', value: 1 + (index % 4) },
    { name: 'memory_total_kb', value: 262_144 * (1 + (index % 4)) },
    { name: 'network_interfaces', value: ['eth0', 'lo'] },
    { name: 'temperature_limits_celsius', value: [-25, 70] },
  ];
  const installedAttributes = Object.entries(provides).map(([name, value]) => ({ name, value }));
  return [...installedAttributes.slice(0, limits.attributesMax - constant.length), ...constant];
}
