/** Limits on a tenant's accepted devices, and on its pending keys. */
import { limits } from '../../fixtures/contract/limits.ts';

interface Acceptance {
  /** Maximum number of accepted devices; `limits.deviceLimitNone` for no limit. */
  readonly limit: number;
  readonly acceptedCount: number;
  /** True when the device already has an accepted key; another key does not count again. */
  readonly isAccepted: boolean;
}

/** Returns true when a key of the device may be accepted. */
export function mayAccept({ limit, acceptedCount, isAccepted }: Acceptance): boolean {
  return isAccepted || limit === limits.deviceLimitNone || acceptedCount < limit;
}

interface Pending {
  /** Maximum number of pending keys. */
  readonly keysMax: number;
  /** Number of pending keys, and the bytes of these keys and their identities. */
  readonly count: number;
  readonly bytes: number;
}

/**
 * Returns true when one more key may be pending. Each key counts as one, and a large key by its
 * bytes.
 */
export function mayWait({ keysMax, count, bytes }: Pending, newBytes: number): boolean {
  return count < keysMax && bytes + newBytes <= keysMax * limits.bytesPerPendingDevice;
}
