/**
 * Finds in a signed request the type of the key, and whether the signature matches the body.
 * Spec: Device authentication
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';

/** The signature of a request whose body contains the public key. */
export interface RequestSignature {
  /** Name of the header that carries it, as sent. */
  readonly header: string;
  readonly keyType: KeyType;
  /** True if the signature matches the body and the key in the body. */
  readonly fits: boolean;
}

const keyTypes: Readonly<Record<string, KeyType>> = {
  rsa: 'rsa',
  ec: 'ecdsa',
  ed25519: 'ed25519',
};

const signedBody = v.pipe(v.string(), v.parseJson(), v.looseObject({ pubkey: v.string() }));

/** Returns the signature of a request; undefined when it has none, or no readable key. */
export function signatureOf(
  headers: Readonly<Record<string, string>>,
  body: unknown,
): RequestSignature | undefined {
  const header = Object.keys(headers).find((name) => name.toLowerCase().endsWith('-signature'));
  if (header === undefined || !(typeof body === 'string' || Buffer.isBuffer(body)))
    return undefined;
  const bytes = Buffer.from(body);
  const parsed = v.safeParse(signedBody, bytes.toString('utf8'));
  const key = parsed.success ? publicKey(parsed.output.pubkey) : undefined;
  const keyType = keyTypes[key?.asymmetricKeyType ?? ''];
  if (key === undefined || keyType === undefined) return undefined;
  const signature = Buffer.from(headers[header] ?? '', 'base64');
  const isWhole = signature.toString('base64') === headers[header]?.trim();
  return { header, keyType, fits: isWhole && verifies(key, bytes, signature) };
}

/** Returns the key; undefined for a text that is not a key, which some cases send. */
function publicKey(pem: string): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

function verifies(key: KeyObject, body: Buffer, signature: Buffer): boolean {
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return verify(digest, body, key, signature);
}
