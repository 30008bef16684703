/** Keys of a tenant's devices, for finding the one that made a signature. */
import { readPublicKey } from '../crypto/public-key.ts';
import { type DeviceKey, OTHER_KEYS_MAX } from '../crypto/refused-signature.ts';
import type { Store } from '../store/store.ts';

/** Yields keys that may have made a signature: the device's other ones, then the fleet's newest. */
export function keysOfFleet(
  { devices }: Pick<Store, 'devices'>,
  identity: string,
): Iterable<DeviceKey> {
  return {
    *[Symbol.iterator]() {
      for (const { deviceId, publicKeyPem } of devices.newestKeys(identity, OTHER_KEYS_MAX)) {
        const key = readPublicKey(publicKeyPem);
        if (!('because' in key)) yield { device: `device ${deviceId}`, key };
      }
    },
  };
}
