/** Records what duties need to know about all devices together, within bounds. */
import { excerptOf } from '../../fixtures/base/excerpt.ts';
import { signatureProblem } from '../signing/verify.ts';
import { BoundedMap } from './bounded-map.ts';
import { digestOf } from './exchange-facts.ts';
import { MIN_PAUSE_MS } from './exemptions.ts';

const IDENTITY_MAX_CHARACTERS = 100;
/** Maximum number of keys of which the identity is recorded. */
const KEYS_MAX = 20_000;
/** Maximum number of signatures of which the result is recorded. */
const SIGNATURES_MAX = 1000;
/** Number of devices that poll in step; fewer may do so by chance. */
const IN_STEP_MIN = 10;

/** The history of all devices together. */
export class FleetHistory {
  readonly #identityOfKey = new BoundedMap<KnownIdentity>(KEYS_MAX);

  readonly #signatures = new BoundedMap<string>(SIGNATURES_MAX);
  #inStep: { readonly sinceMs: number; readonly count: number } = { sinceMs: 0, count: 0 };

  /**
   * Returns what is wrong with the signature of a body, as `signatureProblem` does; a request that
   * is repeated while the device is pending is verified once.
   */
  signatureProblem(pem: string, body: Buffer, text: string): string | undefined {
    const name = digestOf(`${pem}\n${text}\n${body.toString('latin1')}`);
    const known = this.#signatures.get(name);
    if (known !== undefined) return known === '' ? undefined : known;
    const problem = signatureProblem(pem, body, text);
    this.#signatures.keep(name, problem ?? '');
    return problem;
  }

  /**
   * Records a poll after a restart. Returns true for the tenth one, and further ones, in a second.
   */
  pollsInStep(sentMs: number): boolean {
    const { sinceMs, count } = this.#inStep;
    const isSame = sentMs - sinceMs < MIN_PAUSE_MS;
    this.#inStep = isSame ? { sinceMs, count: count + 1 } : { sinceMs: sentMs, count: 1 };
    return this.#inStep.count >= IN_STEP_MIN;
  }

  /** Records the identity of a key. Returns another one under which it was used, if any. */
  otherIdentity(key: string, identity: string, client: string): KnownIdentity | undefined {
    const name = digestOf(key);
    const digest = digestOf(identity);
    const known = this.#identityOfKey.get(name);
    if (known) return known.digest === digest ? undefined : known;
    const text = excerptOf(identity, IDENTITY_MAX_CHARACTERS);
    this.#identityOfKey.keep(name, { digest, text, client });
    return undefined;
  }
}

/** An identity by its digest and its beginning, with the device that used it. */
interface KnownIdentity {
  readonly digest: string;
  readonly text: string;
  readonly client: string;
}
