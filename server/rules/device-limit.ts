/** How many devices a tenant may accept. */
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
