/**
 * Signs the messages between coordinator and workers, because others may write to the same Redis. A
 * signature is valid for one run and one purpose; nothing is parsed before it is verified.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a text is for: a run, one of its jobs, or the line to or from its coordinator. */
export type Purpose = readonly ['info' | 'up' | 'down'] | readonly ['job', shard: number];

const PROTOCOL = 'fleetbed-worker/1';
/** Length of an HMAC-SHA256 in hex. */
const SIGNATURE_CHARACTERS = 64;

/** Signs and verifies messages of one run. */
export class RunSigner {
  readonly #secret: string;
  readonly #run: string;

  /** @param run an ID that is never reused */
  constructor(secret: string, run: string) {
    this.#secret = secret;
    this.#run = run;
  }

  /** Returns the text with its signature in front. */
  sign(purpose: Purpose, text: string): string {
    return this.#signature(purpose, text) + text;
  }

  /**
   * Returns the text when it was signed for this purpose; undefined otherwise.
   * @param charactersMax longer input is rejected unread
   */
  open(purpose: Purpose, signed: string, charactersMax: number): string | undefined {
    if (signed.length > SIGNATURE_CHARACTERS + charactersMax) return undefined;
    const text = signed.slice(SIGNATURE_CHARACTERS);
    const given = Buffer.from(signed.slice(0, SIGNATURE_CHARACTERS));
    const right = Buffer.from(this.#signature(purpose, text));
    return given.length === right.length && timingSafeEqual(given, right) ? text : undefined;
  }

  #signature(purpose: Purpose, text: string): string {
    // The first line contains no line break, so no text can pass for another purpose.
    const context = JSON.stringify([PROTOCOL, this.#run, ...purpose]);
    return createHmac('sha256', this.#secret).update(`${context}\n${text}`).digest('hex');
  }
}
