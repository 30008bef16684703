/** What came in as an answer to a request. */
import type { Duplex } from 'node:stream';
import type { Headers } from './exchange.ts';

/** One answer as it came in. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The bytes as UTF-8. */
  readonly text: string;
}

/** An answer to an upgrade; the socket is there when the protocol was switched. */
export interface UpgradeAnswer extends Answer {
  readonly socket?: Duplex;
}
