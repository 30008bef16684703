/**
 * Examines a body, a key and a signature, and returns the complete finding of the signature doctor.
 */
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import { verifySignature } from '../../crypto/device-signature.ts';
import { readPublicKey } from '../../crypto/public-key.ts';
import type { NamedDeviceKey } from '../../crypto/refused-signature.ts';
import type { Diagnosis } from './diagnosis.ts';
import { diagnoseKey } from './key.ts';
import { diagnoseSignature } from './signature.ts';
import { describeUnexplained } from './unexplained.ts';

/** The result of an examination, with a diagnosis if a known cause explains it. */
export interface DoctorFinding extends Partial<Diagnosis> {
  readonly fits: boolean;
  /** The subject of the finding. */
  readonly about: 'signature' | 'key';
  readonly sentence: string;
}

/** A signed body, byte for byte as it was sent. */
export interface SignedBody {
  readonly body: Buffer;
  /** The key in PEM. If absent, the key in the body is used. */
  readonly keyText?: string | undefined;
  /** The signature as it was written in the header. */
  readonly signature: string;
  /** Keys of other devices that may have made the signature. */
  readonly otherKeys?: Iterable<NamedDeviceKey>;
}

/** Examines a signature. Takes some tens of milliseconds at worst and never throws. */
export function examine({ body, keyText, signature, otherKeys = [] }: SignedBody): DoctorFinding {
  const sentKey = memberText(body, 'pubkey');
  const pem = keyText ?? sentKey;
  if (pem === undefined) {
    return { fits: false, about: 'key', sentence: 'The body has no text "pubkey"; give the key.' };
  }
  const key = readPublicKey(pem);
  if ('reason' in key) {
    const sentence = `The key cannot be used: it ${key.reason}.`;
    return { fits: false, about: 'key', sentence, ...diagnoseKey(pem) };
  }
  const about = 'signature';
  if (verifySignature(body, key, signature)) {
    const sentence = `The ${key.keyType} signature matches the ${body.length} bytes of the body.`;
    return { fits: true, about, sentence };
  }
  const bodyKeys = sentKey === undefined ? [] : keysOf('pubkey of the body', sentKey);
  const keysOfOthers = {
    *[Symbol.iterator]() {
      yield* bodyKeys;
      yield* otherKeys;
    },
  };
  const facts = { body, key, signatureText: signature, otherKeys: keysOfOthers };
  return { fits: false, about, ...(diagnoseSignature(facts) ?? describeUnexplained(facts)) };
}

/**
 * Returns the key of a PEM text under the name of its holder; empty if the text is not a usable
 * key.
 */
export function keysOf(device: string, text: string): NamedDeviceKey[] {
  const key = readPublicKey(text);
  return 'reason' in key ? [] : [{ device, key }];
}

/** Returns a string member of a JSON body; undefined if there is none. */
export function memberText(body: Buffer, name: string): string | undefined {
  const data = parsedJson(body.toString('utf8'));
  const value = isObject(data) ? data[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
