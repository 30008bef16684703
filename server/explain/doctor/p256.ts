/**
 * ECDSA on P-256 over a given number, which node:crypto cannot verify: it computes
 * the digest itself. Only for naming mistakes; node:crypto decides what is accepted.
 */
import type { KeyObject } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';

/** The two numbers of a signature. */
export interface SignaturePair {
  readonly r: bigint;
  readonly s: bigint;
}

const NUMBER_BYTES = 32;
const { ORDER: order } = p256.Point.Fn;

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

/** The SEQUENCE at the beginning of longer bytes, as its own length has it. */
export function sequenceAt(bytes: Buffer): Buffer | undefined {
  const end = 2 + (bytes[1] ?? 0);
  return bytes[0] === 0x30 && end < bytes.length ? bytes.subarray(0, end) : undefined;
}

/** A number whose 32 bytes are in reverse order. */
export function turned(number: bigint): bigint {
  const hex = number.toString(16).padStart(2 * NUMBER_BYTES, '0');
  return numberOf(Buffer.from(hex, 'hex').reverse());
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
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = [Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
  const signature = new p256.Signature(r, s).toBytes('compact');
  const number = given.subarray(0, NUMBER_BYTES);
  return p256.verify(signature, number, Buffer.concat(point), { prehash: false, lowS: false });
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}
