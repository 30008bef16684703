/** Defects in the signature of an authentication request. Spec: Device authentication */
import { statusBecomes } from '../alterations.ts';
import type { Defect, ProxiedRequest } from '../defect.ts';
import {
  type SignedRequest,
  sha256,
  signatureText,
  signedRequest,
  takesSignature,
  verifies,
  verifiesDigest,
} from '../signed-requests.ts';

const operations = ['post-auth-request'] as const;

const hexadecimal = ({ text }: SignedRequest): Buffer => Buffer.from(text, 'hex');
const standard = ({ text }: SignedRequest): Buffer => Buffer.from(text, 'base64');

function overDigest(name: string) {
  return (request: SignedRequest): boolean =>
    verifiesDigest(request.key, { digest: name, body: request.body, signature: standard(request) });
}

function isKeyType(keyType: string) {
  return (request: ProxiedRequest): boolean => signedRequest(request)?.keyType === keyType;
}

const header: readonly Defect[] = [
  {
    id: 'missing-signature-is-401',
    title: 'A request without the signature header is answered with 401 instead of 400.',
    violates: ['auth.signature-header-is-required'],
    operations,
    alter: statusBecomes(400, 401, (request) => signatureText(request) === undefined),
  },
  {
    id: 'zeros-are-a-signature',
    title: 'R and S that are zero are treated as a valid signature.',
    violates: ['auth.signature-must-verify'],
    operations,
    alter: takesSignature(
      'ec',
      (request) => standard(request).toString('hex') === '3006020100020100',
    ),
  },
  {
    id: 'signature-is-not-checked-before-the-first-token',
    title: 'A P-256 signature by another key is accepted.',
    violates: [
      'auth.preauthorized-must-sign',
      'auth.signature-must-verify',
      'auth.bad-signature-is-401',
      'auth.authorization-is-ignored',
      'auth.body-is-what-is-signed',
    ],
    operations,
    alter: takesSignature('ec', (request) => isSequence(request) && !isOfThisKey(request)),
  },
  {
    id: 'bad-signature-is-403',
    title: 'A signature that does not verify is answered with 403.',
    violates: ['auth.bad-signature-is-401'],
    operations,
    alter: statusBecomes(401, 403, (request) => {
      const signedParts = signedRequest(request);
      return signedParts !== undefined && !verifies(signedParts, standard(signedParts));
    }),
  },
  {
    id: 'line-end-is-not-signed',
    title: 'A request is verified without the line end after its body.',
    violates: ['auth.body-is-what-is-signed'],
    operations,
    alter: statusBecomes(200, 401, ({ body }) => body.at(-1) === 0x0a),
  },
  {
    id: 'order-with-an-external-id-is-not-signed',
    title: 'A request that begins with its external_id is verified in another order.',
    violates: ['auth.body-is-what-is-signed'],
    operations,
    alter: statusBecomes(200, 401, ({ body }) => /^\s*\{\s*"external_id"/.test(body.toString())),
  },
  {
    id: 'body-is-written-anew',
    title: 'A signature over the body as the server would serialize it is accepted.',
    violates: ['auth.body-is-what-is-signed', 'auth.signature-must-verify'],
    operations,
    alter: takesSignature('ec', (request) => {
      const body = Buffer.from(`${request.body.toString().trim()}\n`);
      return verifies({ ...request, body }, standard(request));
    }),
  },
];

const rsa: readonly Defect[] = [
  {
    id: 'rsa-is-refused',
    title: 'No RSA signature is accepted.',
    violates: ['auth.rsa'],
    operations,
    alter: statusBecomes(200, 401, isKeyType('rsa')),
  },
  {
    id: 'rsa-keys-of-2048-bits-only',
    title: 'The signature of an RSA key of more than 2048 bits is not accepted.',
    violates: ['auth.rsa'],
    operations,
    alter: statusBecomes(200, 401, (request) => (signatureText(request) ?? '').length > 400),
  },
  {
    id: 'signatures-of-512-characters-at-most',
    title: 'The signature of an RSA key of 4096 bits is not accepted.',
    violates: ['auth.rsa'],
    operations,
    alter: statusBecomes(200, 401, (request) => (signatureText(request) ?? '').length > 512),
  },
  {
    id: 'rsa-over-sha-1',
    title: 'An RSA signature over SHA-1 is accepted.',
    violates: ['auth.rsa-digest'],
    operations,
    alter: takesSignature('rsa', overDigest('sha1')),
  },
  {
    id: 'rsa-with-pss',
    title: 'An RSA signature with PSS padding is accepted.',
    violates: ['auth.rsa-standard'],
    operations,
    alter: takesSignature('rsa', (request) => {
      const { key, body } = request;
      return verifiesDigest(key, {
        digest: 'sha256',
        body,
        signature: standard(request),
        pss: true,
      });
    }),
  },
  {
    id: 'rsa-in-hexadecimal',
    title: 'An RSA signature in hexadecimal is accepted.',
    violates: ['auth.rsa-base64'],
    operations,
    alter: takesSignature('rsa', (request) => verifies(request, hexadecimal(request))),
  },
];

const ecdsa: readonly Defect[] = [
  {
    id: 'ecdsa-is-refused',
    title: 'No P-256 signature is accepted.',
    violates: [
      'auth.ecdsa',
      'auth.preauthorized-gets-token',
      'auth.accepted-gets-token',
      'auth.decommissioned-is-unknown',
      'auth.decision-stays',
    ],
    operations,
    alter: statusBecomes(200, 401, isKeyType('ec')),
  },
  {
    id: 'ecdsa-over-sha-512',
    title: 'A P-256 signature over SHA-512 is accepted.',
    violates: ['auth.ecdsa-digest'],
    operations,
    alter: takesSignature('ec', overDigest('sha512')),
  },
  {
    id: 'ecdsa-side-by-side',
    title: 'A P-256 signature of R and S side by side is accepted.',
    violates: ['auth.ecdsa-sequence'],
    operations,
    alter: takesSignature('ec', (request) => {
      const { key, body } = request;
      return verifiesDigest(key, {
        digest: 'sha256',
        body,
        signature: standard(request),
        sideBySide: true,
      });
    }),
  },
  {
    id: 'ecdsa-in-the-alphabet-of-urls',
    title: 'A P-256 signature in URL-safe Base64 is accepted.',
    violates: ['auth.ecdsa-base64'],
    operations,
    alter: takesSignature(
      'ec',
      (request) => /[-_]/.test(request.text) && verifies(request, standard(request)),
    ),
  },
];

const ed25519: readonly Defect[] = [
  {
    id: 'ed25519-is-refused',
    title: 'No Ed25519 signature is accepted.',
    violates: ['auth.ed25519'],
    operations,
    alter: statusBecomes(200, 401, isKeyType('ed25519')),
  },
  {
    id: 'ed25519-over-a-digest',
    title: 'An Ed25519 signature over the SHA-256 of the body is accepted.',
    violates: ['auth.ed25519-no-digest'],
    operations,
    alter: takesSignature('ed25519', (request) =>
      verifies({ ...request, body: sha256(request.body) }, standard(request)),
    ),
  },
  {
    id: 'ed25519-with-the-body-behind-it',
    title: 'The first 64 bytes of a longer Ed25519 signature are accepted.',
    violates: ['auth.ed25519-standard'],
    operations,
    alter: takesSignature('ed25519', (request) => {
      const signature = standard(request);
      return signature.length > 64 && verifies(request, signature.subarray(0, 64));
    }),
  },
  {
    id: 'ed25519-in-base64-twice',
    title: 'An Ed25519 signature in twice-encoded Base64 is accepted.',
    violates: ['auth.ed25519-base64'],
    operations,
    alter: takesSignature('ed25519', (request) =>
      verifies(request, Buffer.from(standard(request).toString(), 'base64')),
    ),
  },
];

export const signatureDefects: readonly Defect[] = [...header, ...rsa, ...ecdsa, ...ed25519];

/** Returns true when the header is a sequence of two P-256 integers, in standard Base64. */
function isSequence(request: SignedRequest): boolean {
  const bytes = standard(request);
  const isStandard = bytes.toString('base64') === request.text;
  return isStandard && bytes[0] === 0x30 && bytes[1] === bytes.length - 2 && bytes.length > 60;
}

/**
 * Returns true when this key made the signature, over this body with any digest, or with R and S
 * exchanged.
 */
function isOfThisKey(request: SignedRequest): boolean {
  const digests = ['sha1', 'sha256', 'sha384', 'sha512'];
  const overTwice = { ...request, body: sha256(request.body) };
  if (digests.some((name) => overDigest(name)(request)) || verifies(overTwice, standard(request))) {
    return true;
  }
  const { r, s } = integersOf(standard(request));
  const body = { ...request, text: '' };
  return verifiesDigest(body.key, {
    digest: 'sha256',
    body: body.body,
    signature: Buffer.concat([s, r]),
    sideBySide: true,
  });
}

/** Returns the two integers of a sequence, 32 bytes each. */
function integersOf(der: Buffer): { readonly r: Buffer; readonly s: Buffer } {
  const length = der[3] ?? 0;
  const padded = (bytes: Buffer) => Buffer.concat([Buffer.alloc(32), bytes]).subarray(-32);
  return { r: padded(der.subarray(4, 4 + length)), s: padded(der.subarray(6 + length)) };
}
