/**
 * ECDSA signatures as bytes: the ASN.1 sequence of R and S, read by hand so that no library that
 * also made it vouches for it. Knows P-256 only.
 */

const SEQUENCE = 0x30;
const INTEGER = 0x02;
/** Bytes of one of the two integers on P-256. */
const SCALAR_BYTES = 32;

/** The two integers of a signature, 32 bytes each. */
export interface EcdsaIntegers {
  readonly r: Buffer;
  readonly s: Buffer;
}

/**
 * The integers of a DER signature. Throws on anything that is not the one strict encoding: wrong
 * tag or length, bytes left over, a negative or padded integer, an integer that is too long.
 * Spec: Device authentication, "ASN.1 SEQUENCE of the two integers R then S"
 */
export function readEcdsaSequence(der: Buffer): EcdsaIntegers {
  const [tag, length] = der;
  if (tag !== SEQUENCE) throw new Error('the signature is not an ASN.1 sequence');
  if (length !== der.length - 2) throw new Error('the sequence does not span the signature');
  const first = readInteger(der.subarray(2));
  const second = readInteger(first.rest);
  if (second.rest.length > 0) throw new Error('bytes follow the second integer');
  return { r: first.value, s: second.value };
}

/** The other form, 64 bytes of R and S without structure, which the contract does not accept. */
export function joinIntegers({ r, s }: EcdsaIntegers): Buffer {
  return Buffer.concat([r, s]);
}

/** The ASN.1 sequence of the integers, as short as it can be. */
export function writeEcdsaSequence({ r, s }: EcdsaIntegers): Buffer {
  const integers = Buffer.concat([writeInteger(r), writeInteger(s)]);
  return Buffer.concat([Buffer.from([SEQUENCE, integers.length]), integers]);
}

function writeInteger(value: Buffer): Buffer {
  const first = value.findIndex((byte) => byte !== 0);
  const digits = value.subarray(first < 0 ? value.length - 1 : first);
  const padding = Buffer.alloc(digits.readUInt8(0) >= 0x80 ? 1 : 0);
  const content = Buffer.concat([padding, digits]);
  return Buffer.concat([Buffer.from([INTEGER, content.length]), content]);
}

function readInteger(bytes: Buffer): { value: Buffer; rest: Buffer } {
  const [tag, length = 0, first = 0, second = 0] = bytes;
  if (tag !== INTEGER) throw new Error('the sequence holds something other than an integer');
  if (length === 0 || length > bytes.length - 2) throw new Error('an integer has a wrong length');
  if (first >= 0x80) throw new Error('an integer is negative');
  if (first === 0 && second < 0x80) throw new Error('an integer is padded');
  const digits = bytes.subarray(first === 0 ? 3 : 2, 2 + length);
  if (digits.length > SCALAR_BYTES) throw new Error('an integer is longer than the curve allows');
  const value = Buffer.concat([Buffer.alloc(SCALAR_BYTES - digits.length), digits]);
  return { value, rest: bytes.subarray(2 + length) };
}
