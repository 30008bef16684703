/**
 * Reads a device's public key: SubjectPublicKeyInfo in PEM, of a supported algorithm only.
 * Spec: AuthRequest
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { hasAtMostCharacters } from '../../fixtures/base/characters.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { keyAlgorithms } from './device-signature.ts';

/** A parsed public key. `pem` is normalised: two encodings of one key have the same `pem`. */
export interface PublicKey {
  readonly keyType: KeyType;
  readonly key: KeyObject;
  readonly pem: string;
}

/** The reason why a string is not an accepted key. */
export interface UnusableKey {
  readonly reason: string;
}

const pemBlock = /^-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]*-----END \1-----$/;

/** An RSA key of 8192 bits has 1500 characters; the limit leaves room for other line lengths. */
const TEXT_MAX_CHARACTERS = 16_384;

/** Maximum number of cached keys; parsing PEM costs more than verifying a signature. */
const CACHED_KEYS_MAX = 20_000;
/** Texts up to this length are cached; every accepted key in lines of 64 characters is shorter. */
const CACHED_TEXT_MAX_CHARACTERS = 2048;
const cache = new Map<string, PublicKey>();

/** Reads a key from PEM; returns the reason when the text is not an accepted key. */
export function readPublicKey(text: string): PublicKey | UnusableKey {
  const cachedKey = cache.get(text);
  if (cachedKey) return cachedKey;
  const parsedKey = readPlainEd25519(text) ?? parseKey(text);
  if ('reason' in parsedKey || text.length > CACHED_TEXT_MAX_CHARACTERS) return parsedKey;
  if (cache.size >= CACHED_KEYS_MAX) cache.clear();
  cache.set(text, parsedKey);
  return parsedKey;
}

/** Describes the accepted keys, for error messages. */
export const publicKeyFormat = 'an RSA, ECDSA P-256 or Ed25519 key as SubjectPublicKeyInfo in PEM';

/**
 * The common encoding of an Ed25519 key: 12 constant bytes, then the 32 bytes of the key (RFC
 * 8410).
 */
const plainEd25519 =
  /^-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048])=\n-----END PUBLIC KEY-----\n?$/;

/**
 * Fast path for the common encoding: the general parser takes ten times as long, more than the
 * verification of a signature.
 */
function readPlainEd25519(text: string): PublicKey | undefined {
  const [, bytes] = plainEd25519.exec(text) ?? [];
  if (bytes === undefined) return undefined;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.replaceAll('+', '-').replaceAll('/', '_') };
  const pem = text.endsWith('\n') ? text : `${text}\n`;
  return { keyType: 'ed25519', key: createPublicKey({ key: jwk, format: 'jwk' }), pem };
}

function parseKey(text: string): PublicKey | UnusableKey {
  if (!hasAtMostCharacters(text, TEXT_MAX_CHARACTERS)) {
    return { reason: `has more than ${TEXT_MAX_CHARACTERS} characters` };
  }
  const [, label] = pemBlock.exec(text.trim()) ?? [];
  if (label === undefined) return { reason: 'is not a single PEM block' };
  if (label !== 'PUBLIC KEY') {
    return {
      reason: `is a PEM block of type "${label}"; send SubjectPublicKeyInfo ("PUBLIC KEY")`,
    };
  }
  const key = toKeyObject(text);
  if (!key) return { reason: 'cannot be decoded as SubjectPublicKeyInfo' };
  const algorithm = keyAlgorithms.find(({ detects }) => detects(key));
  if (!algorithm) {
    return {
      reason: `has an unsupported algorithm (${describeKey(key)}); use RSA, ECDSA P-256 or Ed25519`,
    };
  }
  const unfit = algorithm.unfit?.(key);
  if (unfit) return { reason: unfit };
  const plainPublicKey = plainKey(key);
  const pem = plainPublicKey.export({ type: 'spki', format: 'pem' }).toString();
  return { keyType: algorithm.keyType, key: plainPublicKey, pem };
}

/**
 * Returns the key in its plain encoding: SubjectPublicKeyInfo allows several for one key, such as a
 * compressed point or an explicit curve.
 */
function plainKey(key: KeyObject): KeyObject {
  return createPublicKey({ key: key.export({ format: 'jwk' }), format: 'jwk' });
}

function toKeyObject(text: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: text.trim(), format: 'pem', type: 'spki' });
  } catch {
    return undefined;
  }
}

function describeKey(key: KeyObject): string {
  const curve = key.asymmetricKeyDetails?.namedCurve;
  return curve ?? key.asymmetricKeyType ?? 'unknown';
}
