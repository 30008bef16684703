/** RSA keys that are derived from a seed. OpenSSL cannot seed its own prime search. */
import { checkPrimeSync, createPrivateKey, type KeyObject } from 'node:crypto';
import type { Random } from '../../../fixtures/base/random.ts';

const PRIME_BYTES = 128;
const PUBLIC_EXPONENT = 65_537n;

/** Returns an RSA-2048 private key; equal generators give the same key. */
export function rsaKeyFrom(random: Random): KeyObject {
  const [p, q] = [primeFrom(random), primeFrom(random)];
  const d = inverse(PUBLIC_EXPONENT, (p - 1n) * (q - 1n));
  const numbers = {
    n: p * q,
    e: PUBLIC_EXPONENT,
    d,
    p,
    q,
    dp: d % (p - 1n),
    dq: d % (q - 1n),
    qi: inverse(q, p),
  };
  const members = Object.entries(numbers).map(([name, value]) => [name, base64url(value)]);
  const jwk = { kty: 'RSA', ...Object.fromEntries(members) };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

/**
 * Returns the first suitable prime from a random odd number on. The two highest bits are set, so
 * that the product of two primes has the full length.
 */
function primeFrom(random: Random): bigint {
  const bytes = random.bytes(PRIME_BYTES);
  bytes.writeUInt8(bytes.readUInt8(0) | 0xc0, 0);
  bytes.writeUInt8(bytes.readUInt8(PRIME_BYTES - 1) | 1, PRIME_BYTES - 1);
  let candidate = BigInt(`0x${bytes.toString('hex')}`);
  while (candidate % PUBLIC_EXPONENT === 1n || !checkPrimeSync(candidate)) candidate += 2n;
  return candidate;
}

/** Returns the inverse of a number modulo `modulus`, by Euclid's extended algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [remainder, next, factor, nextFactor] = [modulus, value % modulus, 0n, 1n];
  while (next !== 0n) {
    const quotient = remainder / next;
    [remainder, next] = [next, remainder - quotient * next];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  return ((factor % modulus) + modulus) % modulus;
}

function base64url(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
}
