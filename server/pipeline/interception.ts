/** A response transform applied to one request. */
import type { UpgradeRequest } from '../http/upgrade-request.ts';

export interface Interception {
  /** True while the pipeline's answer is not what the caller sees. */
  readonly isHolding: boolean;
  /** Header lines added to the handler's own answer. */
  readonly notices: readonly (readonly [string, string])[];
  /** Runs what comes before the handler; resolves to `answered` if that was the whole answer. */
  begin(): Promise<'answered' | 'go-on'>;
  /** Called with the status that the pipeline has answered. */
  answered(status: number): void;
  /** Returns additions to an accepted websocket handshake. */
  onUpgrade(): Pick<UpgradeRequest, 'headers' | 'opened'>;
}
