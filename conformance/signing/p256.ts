/**
 * ECDSA on P-256 from its definition: whole numbers and nothing else, so that it shares no fault
 * with a library. Deterministic by RFC 6979. Slow, and open to whoever measures its time: it is for
 * keys of the suite only.
 */
import { createHash, createHmac } from 'node:crypto';

const SCALAR_BYTES = 32;

// FIPS 186-4, appendix D.1.2.3
const FIELD = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const BASE: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
};

/** A point of the curve; the point at infinity is `undefined`. */
interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

/** The two integers of a signature. */
interface Signature {
  readonly r: bigint;
  readonly s: bigint;
}

/** Signs the SHA-256 of the body; gives the ASN.1 sequence of R and S. ANSI X9.62, section 7.3 */
export function signOnP256(scalar: Buffer, body: Buffer): Buffer {
  const digest = createHash('sha256').update(body).digest();
  const { r, s } = integersOf(scalar, digest);
  const integers = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.from([0x30, integers.length]), integers]);
}

/** Tries the nonces of RFC 6979 in order; another one than the first is all but impossible. */
function integersOf(scalar: Buffer, digest: Buffer): Signature {
  const secret = numberOf(scalar);
  const message = numberOf(digest);
  for (const nonce of nonces(scalar, digest)) {
    const r = modulo(multiple(BASE, nonce)?.x ?? 0n, ORDER);
    const s = modulo(inverse(nonce, ORDER) * (message + r * secret), ORDER);
    if (r !== 0n && s !== 0n) return { r, s };
  }
  throw new Error('no nonce is left');
}

/** RFC 6979, section 3.2, with HMAC-SHA-256; as many as ever could be needed. */
function* nonces(scalar: Buffer, digest: Buffer): Generator<bigint> {
  const given = Buffer.concat([scalar, bytesOf(modulo(numberOf(digest), ORDER))]);
  let value = Buffer.alloc(SCALAR_BYTES, 1);
  let key = Buffer.alloc(SCALAR_BYTES);
  for (const mark of [0, 1]) {
    key = hmac(key, value, Buffer.from([mark]), given);
    value = hmac(key, value);
  }
  for (let attempt = 0; attempt < 100; attempt++) {
    value = hmac(key, value);
    const nonce = numberOf(value);
    if (nonce > 0n && nonce < ORDER) yield nonce;
    key = hmac(key, value, Buffer.from([0]));
    value = hmac(key, value);
  }
}

function hmac(key: Buffer, ...parts: readonly Buffer[]): Buffer<ArrayBuffer> {
  return createHmac('sha256', key).update(Buffer.concat(parts)).digest();
}

/** The point added to itself that many times. */
function multiple(point: Point, times: bigint): Point | undefined {
  let sum: Point | undefined;
  let power: Point | undefined = point;
  for (let rest = times; rest > 0n; rest >>= 1n) {
    if (rest & 1n) sum = added(sum, power);
    power = added(power, power);
  }
  return sum;
}

/** The sum of two points, by chord or by tangent; the curve's coefficient a is -3. */
function added(one: Point | undefined, other: Point | undefined): Point | undefined {
  if (!one || !other) return one ?? other;
  if (one.x === other.x && modulo(one.y + other.y, FIELD) === 0n) return undefined;
  const slope =
    one.x === other.x
      ? (3n * one.x * one.x - 3n) * inverse(2n * one.y, FIELD)
      : (other.y - one.y) * inverse(other.x - one.x, FIELD);
  const x = modulo(slope * slope - one.x - other.x, FIELD);
  return { x, y: modulo(slope * (one.x - x) - one.y, FIELD) };
}

/** By Euclid's algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [above, below] = [modulus, modulo(value, modulus)];
  let [former, latter] = [0n, 1n];
  while (below > 0n) {
    const quotient = above / below;
    [above, below] = [below, above - quotient * below];
    [former, latter] = [latter, former - quotient * latter];
  }
  return modulo(former, modulus);
}

function modulo(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

function bytesOf(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * SCALAR_BYTES, '0'), 'hex');
}

/** One ASN.1 INTEGER: as few bytes as it takes, and a zero before a first bit that is set. */
function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const digits = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const content = digits.readUInt8(0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits;
  return Buffer.concat([Buffer.from([0x02, content.length]), content]);
}
