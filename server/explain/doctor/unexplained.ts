/** Describes a signature that no known cause explains, by its format alone. */
import { constants, createHash, type KeyObject, publicDecrypt } from 'node:crypto';
import type { KeyType } from '../../../fixtures/contract/vocabulary.ts';
import type { SignatureFacts } from '../../crypto/refused-signature.ts';
import { type CauseText, type Diagnosis, diagnosisOf } from './diagnosis.ts';
import { pairInSequence } from './p256.ts';
import { bytesIn } from './readings.ts';
import { DIGEST_BYTES, ED25519_BYTES, namedDigest, paddedContent } from './schemes.ts';

/** The data that the rows examine. */
interface UnexplainedSignature extends SignatureFacts {
  /** The bytes of the signature text, read as base64 or hexadecimal; undefined if it is neither. */
  readonly bytes: Buffer | undefined;
}

/** A remark on the format of a signature. The table lists the most informative remarks first. */
interface Remark extends CauseText {
  /** Returns true if the remark applies, or a string with details. */
  readonly fits: (remains: UnexplainedSignature) => boolean | string;
}

const digestNames: Readonly<Record<number, string>> = {
  20: 'SHA-1',
  32: 'SHA-256',
  48: 'SHA-384',
};

/** Lengths in bytes of the signatures of RSA keys of 2048, 3072 and 4096 bits. */
const rsaBytes: ReadonlySet<number> = new Set([256, 384, 512]);

/**
 * The expected length of a signature in bytes. An ECDSA signature in DER declares its own length.
 */
const lengths: Readonly<Record<KeyType, (remains: UnexplainedSignature) => number>> = {
  rsa: ({ key }) => Math.ceil((key.key.asymmetricKeyDetails?.modulusLength ?? 0) / 8),
  ecdsa: ({ bytes }) => (bytes?.[0] === 0x30 ? 2 + (bytes[1] ?? 0) : 0),
  ed25519: () => ED25519_BYTES,
};

const compareKeys =
  'Compare the key in pubkey with `openssl pkey -in KEY -pubout` of the key that signs.';

const remarks: readonly Remark[] = [
  {
    id: 'not-base64',
    sentence: 'The header holds no base64.',
    remedy: 'Encode the bytes of the signature with standard base64, as `base64 -w0` does.',
    fits: ({ bytes }) => bytes === undefined,
  },
  {
    id: 'digest-sent',
    sentence: 'The digest of the body was sent in place of a signature.',
    remedy: 'Sign with the private key of the device: a digest proves nothing about the sender.',
    fits: ({ bytes, body }) =>
      ['sha1', 'sha256', 'sha384', 'sha512'].find(
        (name) => bytes?.equals(createHash(name).update(body).digest()) === true,
      ) ?? false,
  },
  {
    id: 'other-key-type',
    sentence: 'The signature has the format of another key type than that of pubkey.',
    remedy: compareKeys,
    fits: ({ bytes = Buffer.alloc(0), key: { keyType } }) => {
      if (keyType !== 'ecdsa' && pairInSequence(bytes)) return 'as of an ECDSA key';
      if (keyType === 'rsa' && bytes.length === ED25519_BYTES) return 'as of an Ed25519 key';
      return keyType !== 'rsa' && rsaBytes.has(bytes.length) && 'as of an RSA key';
    },
  },
  {
    id: 'cut-off',
    sentence: 'The signature is cut off.',
    remedy:
      'Make the buffer as long as the longest signature (ECDSA 72 bytes, RSA as its modulus), and write base64 without line breaks.',
    fits: (remains) => {
      const { bytes, key, signatureText } = remains;
      const fullLength = lengths[key.keyType](remains);
      const length = bytes?.length ?? 0;
      // An ECDSA signature is recognized by the start of a SEQUENCE. One line of base64 has as many
      // bytes as SHA-384, so that length is not taken for a digest.
      const isDigest = digestNames[length] !== undefined && length !== LINE_BYTES;
      const isShort = length < fullLength && (key.keyType === 'ecdsa' || !isDigest);
      return (
        isShort && `after ${length} of ${fullLength} bytes, ${signatureText.length} characters`
      );
    },
  },
  {
    id: 'length-of-a-digest',
    sentence: 'The header holds as many bytes as a digest or HMAC has, which is not a signature.',
    remedy: 'Sign with the private key of the device, not with a shared secret.',
    fits: (remains) => {
      const { bytes, key } = remains;
      const length = bytes?.length ?? 0;
      const name = length === lengths[key.keyType](remains) ? undefined : digestNames[length];
      return name !== undefined && `${length} bytes, as ${name}`;
    },
  },
  {
    id: 'not-a-signature',
    sentence: 'The bytes in the header cannot be a signature of this key type.',
    remedy: `Send the bytes that the signing function returns. ${compareKeys}`,
    fits: (remains) => {
      const { bytes, key } = remains;
      const fullLength = lengths[key.keyType](remains);
      if (key.keyType === 'ecdsa' && bytes && !pairInSequence(bytes)) {
        return `${bytes.length} bytes that are not an ASN.1 SEQUENCE of two INTEGERs`;
      }
      return bytes?.length !== fullLength && `${bytes?.length} bytes; it must be ${fullLength}`;
    },
  },
  {
    id: 'other-bytes-signed',
    sentence: 'The key is right, but the signed bytes are not those of the body.',
    remedy:
      'Sign the bytes of the body exactly as they are sent: keep them in one buffer for both.',
    fits: ({ bytes = Buffer.alloc(0), key, body }) => {
      const content = key.keyType === 'rsa' ? paddedContent(key.key, bytes) : undefined;
      if (!content) return false;
      const digest = content.subarray(-DIGEST_BYTES);
      if (!content.equals(namedDigest(digest))) return 'and without the name of SHA-256';
      const bodyDigest = createHash('sha256').update(body).digest('hex');
      return `bytes with SHA-256 ${digest.toString('hex')} were signed; the ${body.length} bytes of the body have ${bodyDigest}`;
    },
  },
  {
    id: 'another-key',
    sentence:
      'The signature was made with another private key than that of pubkey, or its bytes were changed.',
    remedy: compareKeys,
    fits: ({ bytes = Buffer.alloc(0), key }) =>
      key.keyType === 'rsa' && !mayBePadded(key.key, bytes),
  },
  {
    id: 'unexplained',
    sentence:
      'No known cause explains the signature. Its format is right, so it was made with another key, or over other bytes.',
    remedy: `${compareKeys} If they are the same, write the bytes that are signed to a file, and compare it with the body.`,
    fits: () => true,
  },
];

/** Number of bytes in a line of 64 base64 characters. */
const LINE_BYTES = 48;
/** The last byte of PSS padding. */
const PSS_TRAILER = 0xbc;

/** Returns a remark on the format of a signature that does not match and that no cause explains. */
export function describeUnexplained(facts: SignatureFacts): Diagnosis {
  const remains = { ...facts, bytes: bytesIn(facts.signatureText) };
  for (const row of remarks) {
    const evidence = row.fits(remains);
    if (evidence !== false)
      return diagnosisOf(row, { detail: evidence === true ? undefined : evidence });
  }
  throw new Error('the last remark holds for every signature');
}

/**
 * Returns true if the decrypted block may be a padding, which is always the case under the right
 * key.
 */
function mayBePadded(key: KeyObject, bytes: Buffer): boolean {
  try {
    const block = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, bytes);
    return block.at(-1) === PSS_TRAILER || block.subarray(0, 8).every((byte) => byte === 0);
  } catch {
    // OpenSSL throws for numbers larger than the modulus, which this key cannot have made.
    return false;
  }
}
