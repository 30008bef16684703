/**
 * Signs the messages between coordinator and workers, because other programs may write to the same
 * Redis. A signature is valid for one run and one purpose. Nothing is parsed before its signature
 * is verified.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Purpose of a signed text: the facts about a run, a message in one direction, or the job of a
 * shard.
 */
export type SignedPurpose = readonly ['info' | 'up' | 'down'] | readonly ['job', shard: number];

const PROTOCOL = 'fleetbed-worker/1';
/** Length of an HMAC-SHA256 in hexadecimal. */
const SIGNATURE_CHARACTERS = 64;

/** Signs and verifies the messages of one run. */
export class RunSigner {
  readonly #secret: string;
  readonly #run: string;

  /**
   * Creates a signer.
   * @param run the ID of the run, which is never reused
   */
  constructor(secret: string, run: string) {
    this.#secret = secret;
    this.#run = run;
  }

  /** Returns the signature followed by the text. */
  sign(purpose: SignedPurpose, text: string): string {
    return this.#signature(purpose, text) + text;
  }

  /**
   * Returns the text when its signature is valid for this purpose; undefined otherwise.
   * @param charactersMax maximum length of the text; longer input is refused without verification
   */
  open(purpose: SignedPurpose, signed: string, charactersMax: number): string | undefined {
    if (signed.length > SIGNATURE_CHARACTERS + charactersMax) return undefined;
    const text = signed.slice(SIGNATURE_CHARACTERS);
    const sentSignature = Buffer.from(signed.slice(0, SIGNATURE_CHARACTERS));
    const right = Buffer.from(this.#signature(purpose, text));
    return sentSignature.length === right.length && timingSafeEqual(sentSignature, right)
      ? text
      : undefined;
  }

  #signature(purpose: SignedPurpose, text: string): string {
    // The context contains no line break, so a string cannot imitate another context.
    const context = JSON.stringify([PROTOCOL, this.#run, ...purpose]);
    return createHmac('sha256', this.#secret).update(`${context}\n${text}`).digest('hex');
  }
}
