/**
 * Verifies ECDSA P-256 over a given number, which node:crypto cannot do because it computes the
 * digest itself. Used only to name causes; node:crypto decides what is accepted.
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

/**
 * Reads the pair from an ASN.1 SEQUENCE, also if it is longer than DER allows; undefined for other
 * bytes.
 */
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

/** Returns the SEQUENCE at the start of longer bytes, by its declared length. */
export function sequenceAt(bytes: Buffer): Buffer | undefined {
  const end = 2 + (bytes[1] ?? 0);
  return bytes[0] === 0x30 && end < bytes.length ? bytes.subarray(0, end) : undefined;
}

/** Returns the number with its 32 bytes in reverse order. */
export function byteReversed(number: bigint): bigint {
  const hex = number.toString(16).padStart(2 * NUMBER_BYTES, '0');
  return numberOf(Buffer.from(hex, 'hex').reverse());
}

/** Reads the pair from 64 bytes, r followed by s. */
export function pairSideBySide(bytes: Buffer): SignaturePair | undefined {
  if (bytes.length !== 2 * NUMBER_BYTES) return undefined;
  const [r, s] = [bytes.subarray(0, NUMBER_BYTES), bytes.subarray(NUMBER_BYTES)];
  return { r: numberOf(r), s: numberOf(s) };
}

/** Returns the pair as a SEQUENCE in DER. */
export function sequenceOf({ r, s }: SignaturePair): Buffer {
  const content = Buffer.concat([integerOf(r), integerOf(s)]);
  return Buffer.concat([Buffer.from([0x30, content.length]), content]);
}

function integerOf(value: bigint): Buffer {
  const digits = value.toString(16);
  const evenDigits = digits.padStart(digits.length + (digits.length % 2), '0');
  const hex = Number.parseInt(evenDigits.slice(0, 2), 16) > 0x7f ? `00${evenDigits}` : evenDigits;
  return Buffer.from(`02${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`, 'hex');
}

/**
 * Returns true if the pair is the key's signature over this number, of which only the first 32
 * bytes count.
 */
export function signsNumber(digest: Buffer, key: KeyObject, { r, s }: SignaturePair): boolean {
  if (r <= 0n || r >= order || s <= 0n || s >= order || digest.length === 0) return false;
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const point = [Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
  const signature = new p256.Signature(r, s).toBytes('compact');
  const number = digest.subarray(0, NUMBER_BYTES);
  return p256.verify(signature, number, Buffer.concat(point), { prehash: false, lowS: false });
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}
