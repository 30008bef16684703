/** The causes of an invalid signature that lie in signing: the wrong bytes, the wrong digest or the wrong key. */
import { createHash } from 'node:crypto';
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import type { KeyType } from '../../../fixtures/contract/vocabulary.ts';
import { verifySignature } from '../../crypto/device-signature.ts';
import { type NamedDeviceKey, OTHER_KEYS_MAX } from '../../crypto/refused-signature.ts';
import type { CauseText } from './diagnosis.ts';
import * as lineEnds from './line-ends.ts';
import {
  type OtherJson,
  otherJsonTexts,
  styleOfJson,
  textsWithEmptyMembers,
  textsWithoutMembers,
} from './other-json.ts';
import { DIGEST_BYTES, type DigestName, namedDigest, type OpenSignature } from './schemes.ts';

/** The data that the rows examine. */
export interface SigningEvidence {
  /** The body of the request as it was sent. */
  readonly body: Buffer;
  /** The signature, opened with the key that it should match. */
  readonly signature: OpenSignature;
  readonly signatureBytes: Buffer;
  readonly otherKeys: Iterable<NamedDeviceKey>;
}

/** A known cause in signing, and the test that recognizes it. */
export interface SigningCause extends CauseText {
  readonly keyTypes: readonly KeyType[];
  /** Returns true if the signature is invalid for this cause, or a string that names its variant. */
  readonly fits: (evidence: SigningEvidence) => boolean | string;
}

const all: readonly KeyType[] = ['rsa', 'ecdsa', 'ed25519'];
const digesting: readonly KeyType[] = ['rsa', 'ecdsa'];
const signBytesSent =
  'Sign the bytes of the body exactly as they are sent: keep them in one buffer for both.';
const signWholeBody = 'Sign the whole body of the request, exactly as it is sent.';

/** Returns a cause by which other bytes than the body were signed correctly. */
function signingCause(
  causeText: CauseText,
  messages: (body: Buffer) => readonly (Buffer | undefined)[],
): SigningCause {
  const fits = ({ body, signature }: SigningEvidence): boolean =>
    messages(body).some((message) => message !== undefined && signature.signs(message));
  return { ...causeText, keyTypes: all, fits };
}

function otherDigest(digest: DigestName, name: string): SigningCause {
  return {
    id: name.toLowerCase(),
    keyTypes: digesting,
    sentence: `The body was digested with ${name}.`,
    remedy: 'Use SHA-256 for every key size.',
    fits: ({ body, signature }) => signature.signs(body, digest),
  };
}

/** All causes in signing. Cheap checks come first, so that expensive ones rarely run. */
export const signingCauses: readonly SigningCause[] = [
  signingCause(
    {
      id: 'line-feed-not-sent',
      sentence: 'A line feed at the end of the body was signed but not sent.',
      remedy: `${signBytesSent} \`echo\` adds one, \`printf %s\` does not; \`curl --data\` drops it, \`--data-binary\` does not.`,
    },
    (body) => [lineEnds.withLineFeed(body)],
  ),
  signingCause(
    {
      id: 'line-feed-not-signed',
      sentence: 'The body sent ends in a line feed that was not signed.',
      remedy: signBytesSent,
    },
    (body) => [lineEnds.withoutLineFeed(body)],
  ),
  signingCause(
    {
      id: 'crlf-not-sent',
      sentence: 'CR LF at the end of the body was signed but not sent.',
      remedy: signBytesSent,
    },
    (body) => [lineEnds.withCrLf(body)],
  ),
  signingCause(
    {
      id: 'crlf-not-signed',
      sentence: 'The body sent ends in CR LF that was not signed.',
      remedy: signBytesSent,
    },
    (body) => [lineEnds.withoutCrLf(body)],
  ),
  signingCause(
    {
      id: 'line-ends-converted',
      sentence: 'The body was signed and sent with different line ends (LF and CR LF).',
      remedy: `${signBytesSent} Open files in binary mode; \`curl --data\` drops line ends, \`--data-binary\` keeps them.`,
    },
    (body) => lineEnds.convertedLineEnds(body),
  ),
  signingCause(
    {
      id: 'nul-signed',
      sentence: 'A zero byte after the body was signed too, such as the terminator of a C string.',
      remedy: 'Sign strlen(body) bytes, not sizeof(body) or one more.',
    },
    (body) => [Buffer.concat([body, Buffer.alloc(1)])],
  ),
  signingCause(
    {
      id: 'empty-body-signed',
      sentence: 'Nothing was signed: the signature is over zero bytes.',
      remedy: `${signWholeBody} Sign after the body is complete; a stream that was already read is empty.`,
    },
    () => [Buffer.alloc(0)],
  ),
  signingCause(
    {
      id: 'id-data-signed',
      sentence: 'Only id_data was signed.',
      remedy: signWholeBody,
    },
    (body) => memberTexts(body, 'id_data'),
  ),
  signingCause(
    {
      id: 'pubkey-signed',
      sentence: 'Only pubkey was signed.',
      remedy: signWholeBody,
    },
    (body) => {
      const texts = memberTexts(body, 'pubkey');
      return [...texts, ...texts.slice(0, 1).map(derOf)];
    },
  ),
  {
    id: 'digest-twice',
    keyTypes: digesting,
    sentence: 'The digest was hashed a second time before it was signed.',
    remedy: 'Pass the body to a function that hashes, or the digest to one that does not.',
    fits: ({ body, signature }) => signature.signs(digest('sha256', body)),
  },
  {
    id: 'digest-as-hex',
    keyTypes: digesting,
    sentence: 'The hexadecimal text of the digest was signed.',
    remedy: 'Sign the 32 bytes of the digest, or pass the body to a function that hashes.',
    fits: ({ body, signature }) =>
      hexTexts('sha256', body).some(
        (text) => signature.signs(text) || signature.signsPlainly(text),
      ),
  },
  {
    id: 'digest-as-base64',
    keyTypes: digesting,
    sentence: 'The base64 of the digest was signed.',
    remedy: 'Sign the 32 bytes of the digest, or pass the body to a function that hashes.',
    fits: ({ body, signature }) =>
      base64Texts(digest('sha256', body)).some((text) => signature.signs(text)),
  },
  signingCause(
    {
      id: 'encoded-body-signed',
      sentence: 'An encoding of the body was signed, such as its base64.',
      remedy: signBytesSent,
    },
    (body) => [...base64Texts(body), Buffer.from(body.toString('hex'))],
  ),
  {
    id: 'digest-without-name',
    keyTypes: ['rsa'],
    sentence: 'The bare digest was signed, without the DigestInfo that names SHA-256.',
    remedy: 'Use a PKCS#1 v1.5 signature with SHA-256, as `openssl dgst -sha256 -sign` makes it.',
    fits: ({ body, signature }) => signature.signsPlainly(digest('sha256', body)),
  },
  {
    id: 'digest-not-applied',
    keyTypes: digesting,
    sentence: 'The body itself was signed instead of its SHA-256 digest.',
    remedy: 'Hash the body with SHA-256 first, or use a function that does both.',
    fits: ({ body, signature }) => {
      const start = body.subarray(0, DIGEST_BYTES);
      return [body, namedDigest(body), namedDigest(start)].some(signature.signsPlainly);
    },
  },
  {
    id: 'digest-with-ed25519',
    keyTypes: ['ed25519'],
    sentence: 'A digest of the body was signed with Ed25519.',
    remedy: 'Pass the body itself to Ed25519, without hashing it first.',
    fits: ({ body, signature }) => {
      for (const name of ['sha256', 'sha512'] as const) {
        if (signature.signs(digest(name, body))) return name;
        if (hexTexts(name, body).some((text) => signature.signs(text))) return `${name} as hex`;
        const texts = base64Texts(digest(name, body));
        if (texts.some((text) => signature.signs(text))) return `${name} as base64`;
      }
      return false;
    },
  },
  {
    id: 'ed25519ph',
    keyTypes: ['ed25519'],
    sentence: 'The signature is Ed25519ph, which hashes the message first.',
    remedy: 'Use pure Ed25519 (RFC 8032, PureEdDSA), often simply called Ed25519.',
    fits: ({ body, signature }) => signature.signsPrehashed(body),
  },
  {
    id: 'pss',
    keyTypes: ['rsa'],
    sentence: 'The signature uses PSS padding.',
    remedy: 'Use PKCS#1 v1.5 padding: RSASSA-PKCS1-v1_5, SHA256withRSA, not RSASSA-PSS.',
    fits: ({ body, signature }) => {
      for (const name of ['sha256', 'sha1', 'sha384', 'sha512'] as const) {
        if (signature.signsByPss(body, { digest: name, mask: name })) return name;
        if (signature.signsByPss(body, { digest: name, mask: 'sha1' }))
          return `${name}, MGF1 with sha1`;
      }
      return false;
    },
  },
  otherDigest('sha1', 'SHA-1'),
  otherDigest('sha384', 'SHA-384'),
  otherDigest('sha512', 'SHA-512'),
  {
    id: 'key-of-another-device',
    keyTypes: all,
    sentence: 'The signature was made with a key other than the one in pubkey.',
    remedy: 'Sign with the private key that belongs to pubkey.',
    fits: ({ body, signatureBytes, otherKeys }) => {
      const text = signatureBytes.toString('base64');
      for (const { device, key } of firstOf(otherKeys, OTHER_KEYS_MAX)) {
        if (verifySignature(body, key, text)) return device;
      }
      return false;
    },
  },
  {
    id: 'json-written-anew',
    keyTypes: all,
    sentence: 'The signed JSON text differs from the sent one.',
    remedy: `${signBytesSent} Encode the JSON once; the "json" option of an HTTP client encodes it again.`,
    fits: ({ body, signature }) => {
      const signedStyle = signedStyleOf(signature, otherJsonTexts(body));
      const sentStyle = signedStyle === false ? undefined : styleOfJson(body);
      return sentStyle === undefined ? signedStyle : `signed: ${signedStyle}; sent: ${sentStyle}`;
    },
  },
  {
    id: 'member-not-signed',
    keyTypes: all,
    sentence: 'What was signed lacks a member that was added to the body after signing.',
    remedy: 'Sign last: complete the body, encode it once, and sign the bytes that are sent.',
    fits: ({ body, signature }) => signedStyleOf(signature, textsWithoutMembers(body)),
  },
  {
    id: 'member-not-sent',
    keyTypes: all,
    sentence: 'What was signed has a member that was left out of the body in sending.',
    remedy: signBytesSent,
    fits: ({ body, signature }) => signedStyleOf(signature, textsWithEmptyMembers(body)),
  },
];

function signedStyleOf(signature: OpenSignature, texts: Iterable<OtherJson>): string | false {
  for (const { bytes, how } of texts) if (signature.signs(bytes)) return how;
  return false;
}

function* firstOf<Item>(items: Iterable<Item>, most: number): Generator<Item> {
  let count = 0;
  for (const item of items) {
    if (count >= most) return;
    count += 1;
    yield item;
  }
}

function digest(name: DigestName, message: Buffer): Buffer {
  return createHash(name).update(message).digest();
}

/**
 * Returns the digest in hexadecimal: in lower and upper case, and with the line ends of `echo` and
 * `sha256sum`.
 */
function hexTexts(name: DigestName, message: Buffer): Buffer[] {
  const lower = digest(name, message).toString('hex');
  return [lower, lower.toUpperCase(), `${lower}\n`, `${lower}  -\n`].map((text) =>
    Buffer.from(text),
  );
}

/** Lines of 64 characters as in PEM, and of 76 as in MIME. */
const base64Lines = [/.{1,64}/g, /.{1,76}/g];

/**
 * Returns base64 texts with and without padding, on one line and in several lines, as `base64` and
 * `openssl base64` write them.
 */
function base64Texts(bytes: Buffer): Buffer[] {
  const text = bytes.toString('base64');
  const inLines = base64Lines.map((line) => text.replace(line, '$&\n'));
  const texts = [text, `${text}\n`, bytes.toString('base64url'), ...inLines];
  return [...new Set(texts)].map((each) => Buffer.from(each));
}

/** Returns the member's text: unchanged, trimmed, with a line feed, and as a JSON string. */
function memberTexts(body: Buffer, name: 'id_data' | 'pubkey'): Buffer[] {
  const value = memberOf(body, name);
  if (value === undefined || value === '') return [];
  const texts = [value, value.trim(), `${value.trimEnd()}\n`, JSON.stringify(value)];
  return [...new Set(texts)].map((text) => Buffer.from(text));
}

function memberOf(body: Buffer, name: string): string | undefined {
  const data = parsedJson(body.toString('utf8'));
  const value = isObject(data) ? data[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function derOf(pem: Buffer): Buffer {
  return Buffer.from(pem.toString('latin1').replace(/-----[^-]+-----|\s/g, ''), 'base64');
}
