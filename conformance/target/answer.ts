/** Answers as received from the target. */
import type { Duplex } from 'node:stream';
import type { Headers } from './exchange.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The bytes decoded as UTF-8. */
  readonly text: string;
}

/** An answer to an upgrade; `socket` is set when the protocol was switched. */
export interface UpgradeAnswer extends Answer {
  readonly socket?: Duplex;
}
