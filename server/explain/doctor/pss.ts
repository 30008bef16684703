/**
 * Verifies PSS with any mask digest. Some libraries always mask with SHA-1, which node:crypto
 * cannot verify. See RFC 8017, sections 8.1.2 and 9.1.2.
 */
import { constants, createHash, type KeyObject, publicDecrypt } from 'node:crypto';

/** The two digests of a PSS signature, by the names of node:crypto. */
export interface PssDigests {
  /** The digest of the message. */
  readonly digest: string;
  /** The digest of the mask generation function (MGF1). */
  readonly mask: string;
}

const TRAILER = 0xbc;

/**
 * Returns true if the signature is the key's PSS signature over the message, with a salt of any
 * length.
 */
export function signsByPss(
  message: Buffer,
  { digest, mask }: PssDigests,
  { key, signature }: { key: KeyObject; signature: Buffer },
): boolean {
  const encoded = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
  const bits = (key.asymmetricKeyDetails?.modulusLength ?? 0) - 1;
  const block = encoded.subarray(encoded.length - Math.ceil(bits / 8));
  const hashed = createHash(digest).update(message).digest();
  const maskedBytes = block.length - hashed.length - 1;
  if (maskedBytes < 1 || block[block.length - 1] !== TRAILER) return false;
  const hash = block.subarray(maskedBytes, -1);
  const unmaskedBlock = unmask(block.subarray(0, maskedBytes), { seed: hash, mask });
  unmaskedBlock.writeUInt8(unmaskedBlock.readUInt8(0) & (0xff >> (8 * block.length - bits)), 0);
  const start = unmaskedBlock.findIndex((byte) => byte !== 0);
  if (unmaskedBlock[start] !== 1) return false;
  const salted = createHash(digest).update(Buffer.alloc(8)).update(hashed);
  return salted
    .update(unmaskedBlock.subarray(start + 1))
    .digest()
    .equals(hash);
}

function unmask(masked: Buffer, { seed, mask }: { seed: Buffer; mask: string }): Buffer {
  const chunks: Buffer[] = [];
  for (let bytes = 0; bytes < masked.length; ) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(chunks.length);
    const chunk = createHash(mask).update(seed).update(counter).digest();
    chunks.push(chunk);
    bytes += chunk.length;
  }
  const stream = Buffer.concat(chunks);
  return Buffer.from(masked.map((byte, index) => byte ^ (stream[index] ?? 0)));
}
