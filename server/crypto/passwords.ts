/** Passwords of users, kept only as salted scrypt hashes. */
import { scryptSync, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../fixtures/random.ts';

/** Enough against a stolen database of test users, and 10 ms at start-up. */
const scryptCost = { N: 4096, r: 8, p: 1 };
const HASH_BYTES = 32;

/** `salt:hash`, both in hex. */
export function hashPassword(password: string, random: Random): string {
  const salt = random.bytes(16);
  return `${salt.toString('hex')}:${derive(password, salt).toString('hex')}`;
}

/** False too when nothing is stored: who was only invited has no password yet. */
export function passwordFits(password: string, stored: string | undefined): boolean {
  if (stored === undefined) return false;
  const [salt = '', hash = ''] = stored.split(':');
  return timingSafeEqual(Buffer.from(hash, 'hex'), derive(password, Buffer.from(salt, 'hex')));
}

function derive(password: string, salt: Buffer): Buffer {
  return scryptSync(password, salt, HASH_BYTES, scryptCost);
}
