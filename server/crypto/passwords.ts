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

/** What a password is compared with where none is stored, so that this takes as long. */
const noHash = `${'0'.repeat(32)}:${'0'.repeat(2 * HASH_BYTES)}`;

/** False too when nothing is stored: nobody is there, or was only invited and has no password yet. */
export function passwordFits(password: string, stored: string | undefined): boolean {
  const [salt = '', hash = ''] = (stored ?? noHash).split(':');
  const derived = derive(password, Buffer.from(salt, 'hex'));
  return timingSafeEqual(Buffer.from(hash, 'hex'), derived) && stored !== undefined;
}

function derive(password: string, salt: Buffer): Buffer {
  return scryptSync(password, salt, HASH_BYTES, scryptCost);
}
