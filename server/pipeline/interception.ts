/** A response transform at work on one request. */
import type { UpgradeRequest } from '../http/upgrade-request.ts';

export interface Interception {
  /** True while the answer that the pipeline gives is not what the caller sees. */
  readonly isHolding: boolean;
  /** Header lines that the handler's own answer gets. */
  readonly notices: readonly (readonly [string, string])[];
  /** Does what comes before the handler; whether that was the whole answer. */
  begin(): Promise<'answered' | 'go-on'>;
  /** Told the status that the pipeline has answered. */
  answered(status: number): void;
  /** What is added to a websocket handshake that is granted. */
  onUpgrade(): Pick<UpgradeRequest, 'headers' | 'opened'>;
}
