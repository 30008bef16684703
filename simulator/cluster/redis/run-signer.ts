/**
 * Signs what coordinator and workers say to each other, because others may write to the same Redis. A
 * signature holds for one run and one purpose; nothing is parsed before it is checked.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a text is: of a run, of one of its jobs, or on the line to or from its coordinator. */
export type Purpose = readonly ['info' | 'up' | 'down'] | readonly ['job', shard: number];

const PROTOCOL = 'fleetbed-worker/1';
/** HMAC-SHA256 in hex. */
const SIGNATURE_CHARACTERS = 64;

/** Signs and opens for one run. */
export class RunSigner {
  readonly #secret: string;
  readonly #run: string;

  /** @param run an id that no other run ever has */
  constructor(secret: string, run: string) {
    this.#secret = secret;
    this.#run = run;
  }

  /** The text with its signature in front. */
  sign(purpose: Purpose, text: string): string {
    return this.#signature(purpose, text) + text;
  }

  /**
   * The text that was signed for this purpose; undefined for any other.
   * @param charactersMax a longer text is refused unread
   */
  open(purpose: Purpose, signed: string, charactersMax: number): string | undefined {
    if (signed.length > SIGNATURE_CHARACTERS + charactersMax) return undefined;
    const text = signed.slice(SIGNATURE_CHARACTERS);
    const given = Buffer.from(signed.slice(0, SIGNATURE_CHARACTERS));
    const right = Buffer.from(this.#signature(purpose, text));
    return given.length === right.length && timingSafeEqual(given, right) ? text : undefined;
  }

  #signature(purpose: Purpose, text: string): string {
    // The first line holds no line end, so no text can pass for another purpose.
    const context = JSON.stringify([PROTOCOL, this.#run, ...purpose]);
    return createHmac('sha256', this.#secret).update(`${context}\n${text}`).digest('hex');
  }
}
