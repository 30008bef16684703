/** The effect of a response transform on one request. */
import type { UpgradeRequest } from '../http/upgrade-request.ts';

export interface Interception {
  /**
   * True while the transform holds back the pipeline's response; the transform then reports the
   * status that the caller sees.
   */
  readonly isHolding: boolean;
  /** Headers that are added to the handler's response. */
  readonly addedHeaders: readonly (readonly [string, string])[];
  /**
   * Runs before the handler; resolves to `response-sent` when the transform has answered the
   * request.
   */
  begin(): Promise<'response-sent' | 'continue'>;
  /** Called with the status of the pipeline's response. */
  recordResponse(status: number): void;
  /** Returns additions to an accepted WebSocket handshake. */
  onUpgrade(): Pick<UpgradeRequest, 'headers' | 'opened'>;
}
