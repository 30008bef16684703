/**
 * Verifying Ed25519ph, the variant of Ed25519 that digests before it signs, which node:crypto of
 * Node 20 does not have. Only to name a mistake: nothing here runs in constant time.
 * RFC 8032, sections 5.1 and 5.1.7.
 */
import { createHash, type KeyObject } from 'node:crypto';

const field = 2n ** 255n - 19n;
const order = 2n ** 252n + 27742317777372353535851937790883648493n;
const curveD = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;
const rootOfMinusOne = 0x2b8324804fc1df0b2b4d00993dfbd7a72f431806ad2fe478c4ee1b274a0ea0b0n;
/** dom2(1, "") of section 2. */
const domain = Buffer.from('SigEd25519 no Ed25519 collisions\x01\x00', 'latin1');

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** A point in extended coordinates: x = X/Z, y = Y/Z, T = XY/Z. */
type Point = readonly [x: bigint, y: bigint, z: bigint, t: bigint];

const neutral: Point = [0n, 1n, 1n, 0n];

/** True when the 64 bytes are the key's Ed25519ph signature, without a context, over the message. */
export function signsPrehashed(message: Buffer, key: KeyObject, signature: Buffer): boolean {
  const { x: encoded = '' } = key.export({ format: 'jwk' });
  const keyBytes = Buffer.from(encoded, 'base64url');
  if (signature.length !== SIGNATURE_BYTES || keyBytes.length !== KEY_BYTES) return false;
  const rBytes = signature.subarray(0, KEY_BYTES);
  const s = littleEndian(signature.subarray(KEY_BYTES));
  const [a, r, base] = [decode(keyBytes), decode(rBytes), decode(basePointBytes)];
  if (!a || !r || !base || s >= order) return false;
  const digest = createHash('sha512').update(message).digest();
  const hash = createHash('sha512').update(domain).update(rBytes).update(keyBytes).update(digest);
  const k = littleEndian(hash.digest()) % order;
  return isSame(multiple(base, s), sum(r, multiple(a, k)));
}

/** y = 4/5, x even. */
const basePointBytes = Buffer.from([0x58, ...Array.from({ length: 31 }, () => 0x66)]);

function decode(bytes: Buffer): Point | undefined {
  const value = littleEndian(bytes);
  const isOdd = value >> 255n === 1n;
  const y = value & (2n ** 255n - 1n);
  if (y >= field) return undefined;
  const [u, v] = [modulo(y * y - 1n), modulo(curveD * y * y + 1n)];
  const candidate = modulo(u * v ** 3n * power(modulo(u * v ** 7n), (field - 5n) / 8n));
  const square = modulo(v * candidate * candidate);
  if (square !== u && square !== modulo(-u)) return undefined;
  const root = square === u ? candidate : modulo(candidate * rootOfMinusOne);
  if (root === 0n && isOdd) return undefined;
  const x = (root % 2n === 1n) === isOdd ? root : modulo(-root);
  return [x, y, 1n, modulo(x * y)];
}

function multiple(point: Point, factor: bigint): Point {
  let [result, doubled] = [neutral, point];
  for (let rest = factor; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = sum(result, doubled);
    doubled = sum(doubled, doubled);
  }
  return result;
}

/** Section 5.1.4; complete, so it doubles too. */
function sum([x1, y1, z1, t1]: Point, [x2, y2, z2, t2]: Point): Point {
  const a = modulo((y1 - x1) * (y2 - x2));
  const b = modulo((y1 + x1) * (y2 + x2));
  const c = modulo(2n * t1 * t2 * curveD);
  const d = modulo(2n * z1 * z2);
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [modulo(e * f), modulo(g * h), modulo(f * g), modulo(e * h)];
}

function isSame([x1, y1, z1]: Point, [x2, y2, z2]: Point): boolean {
  return modulo(x1 * z2 - x2 * z1) === 0n && modulo(y1 * z2 - y2 * z1) === 0n;
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, squared] = [1n, base];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = modulo(result * squared);
    squared = modulo(squared * squared);
  }
  return result;
}

function modulo(value: bigint): bigint {
  const rest = value % field;
  return rest < 0n ? rest + field : rest;
}

function littleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
