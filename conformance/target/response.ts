/** Responses as received from the target. */
import type { Duplex } from 'node:stream';
import type { Headers } from './exchange.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The bytes decoded as UTF-8. */
  readonly text: string;
}

/** A response to an upgrade; `socket` is set when the protocol was switched. */
export interface UpgradeResponse extends HttpResponse {
  readonly socket?: Duplex;
}
