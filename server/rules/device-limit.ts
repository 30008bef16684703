/** How many devices a tenant may accept, and how many keys may wait to be accepted. */
import { limits } from '../../fixtures/contract/limits.ts';

interface Acceptance {
  /** Maximum number of accepted devices; `limits.deviceLimitNone` for no limit. */
  readonly limit: number;
  readonly acceptedCount: number;
  /** True when the device has an accepted key already: another one does not count again. */
  readonly isAccepted: boolean;
}

/** Whether a key of the device may be accepted. */
export function mayAccept({ limit, acceptedCount, isAccepted }: Acceptance): boolean {
  return isAccepted || limit === limits.deviceLimitNone || acceptedCount < limit;
}

interface Pending {
  /** Maximum number of keys that wait. */
  readonly keysMax: number;
  /** Keys that wait already, and the bytes of these and of their identities. */
  readonly count: number;
  readonly bytes: number;
}

/** Whether one more key may wait: each takes a place, and one of many bytes takes several. */
export function mayWait({ keysMax, count, bytes }: Pending, newBytes: number): boolean {
  return count < keysMax && bytes + newBytes <= keysMax * limits.bytesPerPendingDevice;
}
