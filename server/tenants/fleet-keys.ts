/** Finds the keys of a tenant's devices, to identify the key that made a signature. */
import { readPublicKey } from '../crypto/public-key.ts';
import { type NamedDeviceKey, OTHER_KEYS_MAX } from '../crypto/refused-signature.ts';
import type { Store } from '../store/store.ts';

/**
 * Yields keys that may have made a signature: keys of the device with this identity, then the
 * newest of other devices.
 */
export function keysOfFleet(
  { devices }: Pick<Store, 'devices'>,
  identity: string,
): Iterable<NamedDeviceKey> {
  return {
    *[Symbol.iterator]() {
      for (const { deviceId, publicKeyPem } of devices.newestKeys(identity, OTHER_KEYS_MAX)) {
        const key = readPublicKey(publicKeyPem);
        if (!('reason' in key)) yield { device: `device ${deviceId}`, key };
      }
    },
  };
}
