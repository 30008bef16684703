/** Limits on a tenant's accepted devices, and on its keys that were never accepted. */
import { limits } from '../../fixtures/contract/limits.ts';

interface AcceptanceFacts {
  /** Maximum number of accepted devices; `limits.deviceLimitNone` for no limit. */
  readonly limit: number;
  readonly acceptedCount: number;
  /** True when the device already has an accepted key; another key does not count again. */
  readonly isAccepted: boolean;
}

/** Returns true when a key of the device may be accepted. */
export function mayAccept({ limit, acceptedCount, isAccepted }: AcceptanceFacts): boolean {
  return isAccepted || limit === limits.deviceLimitNone || acceptedCount < limit;
}

interface RecordedKeyTotals {
  /** Maximum number of keys that were never accepted. */
  readonly keysMax: number;
  /** Number of such keys, and the bytes of these keys and their identities. */
  readonly count: number;
  readonly bytes: number;
}

/**
 * Returns true when one more key may be recorded. Each key counts as one, and a large key by its
 * bytes.
 */
export function mayRecordKey(
  { keysMax, count, bytes }: RecordedKeyTotals,
  newBytes: number,
): boolean {
  return count < keysMax && bytes + newBytes <= keysMax * limits.bytesPerUnacceptedKey;
}
