/**
 * Authentication requests of each key type with their signatures, valid ones and ones that are
 * invalid for one cause. All signatures are deterministic: ECDSA takes its nonce from RFC 6979, and
 * PSS has no salt. Spec: Device authentication
 */
import {
  constants,
  createHash,
  createPublicKey,
  type KeyObject,
  privateEncrypt,
  sign,
} from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import type { Random } from '../../../fixtures/base/random.ts';
import type { KeyType } from '../../../fixtures/contract/vocabulary.ts';
import { deviceKey } from '../../../simulator/identity/device-key.ts';
import { rsaKeyFrom } from './rsa-key.ts';

/** The key of one device. */
export interface VectorKey {
  readonly keyType: KeyType;
  readonly privateKey: KeyObject;
  /** SubjectPublicKeyInfo in PEM. */
  readonly publicKeyPem: string;
}

/**
 * Returns a key of each type. Those of P-256 and Ed25519 are the keys that `fleetbed simulate`
 * gives to device `index` of the seed.
 */
export function keysFrom(random: Random, index: number): readonly VectorKey[] {
  const privateKey = rsaKeyFrom(random.stream(`vectors/${index}/rsa`));
  const publicKeyPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  return [
    { keyType: 'rsa', privateKey, publicKeyPem: publicKeyPem.toString() },
    deviceKey(random, index, 'ecdsa'),
    deviceKey(random, index, 'ed25519'),
  ];
}

/** Returns the signature that the contract asks for, before Base64. */
export function signatureOf({ keyType, privateKey }: VectorKey, bytes: Uint8Array): Buffer {
  if (keyType === 'ecdsa') return ecdsa(privateKey, createHash('sha256').update(bytes).digest());
  return sign(keyType === 'rsa' ? 'sha256' : null, bytes, privateKey);
}

/** An authentication request with an invalid signature. */
export interface WrongSignature {
  /** Why it is invalid: a cause by its ID, as `fleetbed doctor signature` names it. */
  readonly cause: string;
  readonly keyType: KeyType;
  /** The body as sent. */
  readonly body: Buffer;
  /** The value of the signature header. */
  readonly header: string;
}

/** The keys and the body from which an invalid signature is made. */
interface Request {
  readonly key: VectorKey;
  /** A key of the same type that belongs to another device. */
  readonly otherKey: VectorKey;
  readonly body: Buffer;
}

interface CauseRow {
  /** Key types to which the cause applies; all when absent. */
  readonly keyTypes?: readonly KeyType[];
  /** Returns the body as sent, when it is not `body`. */
  readonly sent?: (body: Buffer) => Buffer;
  /** Returns the signature, or the text of the header when that is what is wrong. */
  readonly sign: (request: Request) => Buffer | string;
}

/** Returns a cause by which other bytes than the body are signed in the right way. */
function signing(
  bytesOf: (body: Buffer) => Uint8Array,
  row: Omit<CauseRow, 'sign'> = {},
): CauseRow {
  return { ...row, sign: ({ key, body }) => signatureOf(key, bytesOf(body)) };
}

/** Returns a cause by which the right signature is written in a wrong way. */
function writing(textOf: (base64: string, signature: Buffer) => string): CauseRow {
  return {
    sign: ({ key, body }) => {
      const signature = signatureOf(key, body);
      return textOf(signature.toString('base64'), signature);
    },
  };
}

function otherDigest(digest: string): CauseRow {
  return {
    keyTypes: ['rsa', 'ecdsa'],
    sign: ({ key, body }) =>
      key.keyType === 'rsa'
        ? sign(digest, body, key.privateKey)
        : ecdsa(key.privateKey, createHash(digest).update(body).digest()),
  };
}

const digesting: readonly KeyType[] = ['rsa', 'ecdsa'];
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
const followedBy =
  (end: string) =>
  (body: Buffer): Buffer =>
    Buffer.concat([body, Buffer.from(end)]);

function memberOf(body: Buffer, name: 'id_data' | 'pubkey'): Buffer {
  return Buffer.from(String(JSON.parse(body.toString())[name]));
}

/** Every cause of an invalid signature by its ID. */
const causes: Readonly<Record<string, CauseRow>> = {
  'line-feed-not-sent': signing(followedBy('\n')),
  'line-feed-not-signed': signing((body) => body, { sent: followedBy('\n') }),
  'crlf-not-sent': signing(followedBy('\r\n')),
  'crlf-not-signed': signing((body) => body, { sent: followedBy('\r\n') }),
  'nul-signed': signing(followedBy('\0')),
  'empty-body-signed': signing(() => Buffer.alloc(0)),
  'id-data-signed': signing((body) => memberOf(body, 'id_data')),
  'pubkey-signed': signing((body) => memberOf(body, 'pubkey')),
  'encoded-body-signed': signing((body) => Buffer.from(body.toString('base64'))),
  'json-written-anew': signing((body) => body, {
    sent: (body) => Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 2)),
  }),
  'key-of-another-device': { sign: ({ otherKey, body }) => signatureOf(otherKey, body) },
  'sha-1': otherDigest('sha1'),
  'sha-384': otherDigest('sha384'),
  'sha-512': otherDigest('sha512'),
  'digest-twice': signing(sha256, { keyTypes: digesting }),
  'digest-as-hex': signing((body) => Buffer.from(sha256(body).toString('hex')), {
    keyTypes: digesting,
  }),
  'digest-with-ed25519': signing(sha256, { keyTypes: ['ed25519'] }),
  'digest-without-name': {
    keyTypes: ['rsa'],
    sign: ({ key, body }) =>
      privateEncrypt({ key: key.privateKey, padding: constants.RSA_PKCS1_PADDING }, sha256(body)),
  },
  pss: {
    keyTypes: ['rsa'],
    sign: ({ key, body }) =>
      sign('sha256', body, {
        key: key.privateKey,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: 0,
      }),
  },
  'raw-r-s': {
    keyTypes: ['ecdsa'],
    sign: ({ key, body }) => Buffer.from(integersOf(signatureOf(key, body)).toBytes('compact')),
  },
  'r-s-swapped': {
    keyTypes: ['ecdsa'],
    sign: ({ key, body }) => {
      const { r, s } = integersOf(signatureOf(key, body));
      return Buffer.from(new p256.Signature(s, r).toBytes('der'));
    },
  },
  hex: writing((_, signature) => signature.toString('hex')),
  base64url: writing((base64) => base64.replaceAll('+', '-').replaceAll('/', '_')),
  'base64-padding': writing((base64) => base64.replaceAll('=', '')),
  'base64-twice': writing((base64) => Buffer.from(base64).toString('base64')),
  // Backwards, the structure of an ECDSA signature is none.
  'little-endian': {
    keyTypes: ['rsa', 'ed25519'],
    sign: ({ key, body }) => signatureOf(key, body).reverse(),
  },
};

/**
 * Returns every cause that applies to the key and that this signature shows: some have no padding,
 * and some no `+` and `/`.
 */
export function wrongSignatures(request: Request): readonly WrongSignature[] {
  const { keyType } = request.key;
  return Object.entries(causes).flatMap(([cause, { keyTypes, sent, sign: signWrongly }]) => {
    if (keyTypes?.includes(keyType) === false) return [];
    const body = sent?.(request.body) ?? request.body;
    const signature = signWrongly(request);
    const header = typeof signature === 'string' ? signature : signature.toString('base64');
    const isRight = header === signatureOf(request.key, body).toString('base64');
    return isRight ? [] : [{ cause, keyType, body, header }];
  });
}

function ecdsa(privateKey: KeyObject, digest: Uint8Array): Buffer {
  const scalar = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  return Buffer.from(p256.sign(digest, scalar, { prehash: false, format: 'der', lowS: false }));
}

function integersOf(der: Buffer): InstanceType<typeof p256.Signature> {
  return p256.Signature.fromBytes(der, 'der');
}
