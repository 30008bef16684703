/**
 * Passwords of users. They are stored as salted scrypt hashes only, and hashed outside the event
 * loop.
 */
import { scrypt, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../fixtures/base/random.ts';

/**
 * One hash takes 10 ms of a core and 4 MiB, which is enough for a stolen database of test users.
 */
const scryptCost = { N: 4096, r: 8, p: 1 };
const HASH_BYTES = 32;
/**
 * Maximum number of concurrent hashes; file access and name resolution use the same thread pool.
 */
const RUNNING_MAX = 2;
/** Maximum number of waiting hashes, which keeps the longest wait below about a second. */
const WAITING_MAX = 128;

/** Thrown when too many passwords are waiting to be hashed. */
export class TooManyLogins extends Error {
  override readonly name = 'TooManyLogins';
}

/**
 * Returns `salt:hash`, both in hex.
 * @throws TooManyLogins when too many hashes are waiting
 */
export async function hashPassword(password: string, random: Random): Promise<string> {
  const salt = random.bytes(16);
  return `${salt.toString('hex')}:${(await deriveHash(password, salt)).toString('hex')}`;
}

/** Stands in for a missing hash, so that the check takes the same time for an unknown user. */
const noHash = `${'0'.repeat(32)}:${'0'.repeat(2 * HASH_BYTES)}`;

/**
 * Returns true when the password matches the stored hash. `stored` is undefined for an unknown
 * user, and for an invited user without a password; the result is then false.
 * @throws TooManyLogins when too many hashes are waiting
 */
export async function verifyPassword(
  password: string,
  stored: string | undefined,
): Promise<boolean> {
  const [salt = '', hash = ''] = (stored ?? noHash).split(':');
  const derived = await deriveHash(password, Buffer.from(salt, 'hex'));
  return timingSafeEqual(Buffer.from(hash, 'hex'), derived) && stored !== undefined;
}

let running = 0;
const waiting: (() => void)[] = [];

async function deriveHash(password: string, salt: Buffer): Promise<Buffer> {
  if (running < RUNNING_MAX) running += 1;
  else if (waiting.length >= WAITING_MAX) throw new TooManyLogins('too many logins are waiting');
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password, salt, HASH_BYTES, scryptCost, (error, hash) =>
        error ? reject(error) : resolve(hash),
      );
    });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
