/**
 * ECDSA on P-256 over a number that is given as it is. node:crypto verifies over digests that it
 * takes itself only, so the points come from its ECDH and their sum is made here.
 * Not for secrets: nothing here runs in constant time.
 */
import { createECDH, ECDH, type KeyObject } from 'node:crypto';

/** The two numbers of a signature. */
export interface SignaturePair {
  readonly r: bigint;
  readonly s: bigint;
}

const CURVE = 'prime256v1';
const NUMBER_BYTES = 32;
const field = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

/** The pair in an ASN.1 SEQUENCE, also where DER would write it shorter; `undefined` for other bytes. */
export function pairInSequence(bytes: Buffer): SignaturePair | undefined {
  if (bytes.length > 0x7f || bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2) return undefined;
  const first = integerAt(bytes, 2);
  const second = first && integerAt(bytes, first.end);
  if (!first || second?.end !== bytes.length) return undefined;
  return { r: first.value, s: second.value };
}

function integerAt(bytes: Buffer, start: number): { value: bigint; end: number } | undefined {
  const length = bytes[start + 1];
  if (bytes[start] !== 0x02 || length === undefined || length === 0) return undefined;
  const end = start + 2 + length;
  return end > bytes.length ? undefined : { value: numberOf(bytes.subarray(start + 2, end)), end };
}

/** The pair of 64 bytes, r and s side by side. */
export function pairSideBySide(bytes: Buffer): SignaturePair | undefined {
  if (bytes.length !== 2 * NUMBER_BYTES) return undefined;
  const [r, s] = [bytes.subarray(0, NUMBER_BYTES), bytes.subarray(NUMBER_BYTES)];
  return { r: numberOf(r), s: numberOf(s) };
}

/** The pair as the one SEQUENCE that DER has for it. */
export function sequenceOf({ r, s }: SignaturePair): Buffer {
  const content = Buffer.concat([integerOf(r), integerOf(s)]);
  return Buffer.concat([Buffer.from([0x30, content.length]), content]);
}

function integerOf(value: bigint): Buffer {
  const plain = value.toString(16);
  const even = plain.padStart(plain.length + (plain.length % 2), '0');
  const hex = Number.parseInt(even.slice(0, 2), 16) > 0x7f ? `00${even}` : even;
  return Buffer.from(`02${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`, 'hex');
}

/** True when the pair is the key's signature over this number, at most its first 32 bytes. */
export function signsNumber(given: Buffer, key: KeyObject, { r, s }: SignaturePair): boolean {
  if (r <= 0n || r >= order || s <= 0n || s >= order || given.length === 0) return false;
  const inverse = inverseOf(s, order);
  const ofBase = (numberOf(given.subarray(0, NUMBER_BYTES)) * inverse) % order;
  if (ofBase === 0n) return false;
  const one = multipleOfBase(ofBase);
  const other = multipleOf(key, (r * inverse) % order);
  // ECDH tells no sign of y, so both sums are looked at.
  const mirrored = { x: other.x, y: field - other.y };
  return [other, mirrored].some((point) => abscissaOfSum(one, point) % order === r);
}

function multipleOfBase(factor: bigint): Point {
  const exchange = createECDH(CURVE);
  exchange.setPrivateKey(bytesOf(factor));
  return pointOf(exchange.getPublicKey());
}

/** The key's point, so many times; its y may be the other one of the two. */
function multipleOf(key: KeyObject, factor: bigint): Point {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = Buffer.concat([
    Buffer.from([4]),
    Buffer.from(x, 'base64url'),
    Buffer.from(y, 'base64url'),
  ]);
  const exchange = createECDH(CURVE);
  exchange.setPrivateKey(bytesOf(factor));
  const compressed = `02${exchange.computeSecret(point).toString('hex')}`;
  const whole = ECDH.convertKey(compressed, CURVE, 'hex', 'hex', 'uncompressed');
  return pointOf(Buffer.from(whole.toString(), 'hex'));
}

function pointOf(uncompressed: Buffer): Point {
  const x = numberOf(uncompressed.subarray(1, 1 + NUMBER_BYTES));
  return { x, y: numberOf(uncompressed.subarray(1 + NUMBER_BYTES)) };
}

function abscissaOfSum(one: Point, other: Point): bigint {
  if (one.x === other.x) return 0n;
  const slope = modulo((other.y - one.y) * inverseOf(modulo(other.x - one.x, field), field), field);
  return modulo(slope * slope - one.x - other.x, field);
}

/** By Euclid's algorithm; `value` is between 0 and the modulus, both excluded. */
function inverseOf(value: bigint, modulus: bigint): bigint {
  let [rest, next, factor, nextFactor] = [modulus, value, 0n, 1n];
  while (next !== 0n) {
    const quotient = rest / next;
    [rest, next] = [next, rest - quotient * next];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return modulo(factor, modulus);
}

function modulo(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}

function bytesOf(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * NUMBER_BYTES, '0'), 'hex');
}
