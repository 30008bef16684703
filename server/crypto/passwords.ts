/** User passwords, stored only as salted scrypt hashes, and hashed outside the event loop. */
import { scrypt, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../fixtures/random.ts';

/** Enough against a stolen database of test users: 10 ms of a core, and 4 MiB. */
const scryptCost = { N: 4096, r: 8, p: 1 };
const HASH_BYTES = 32;
/** Concurrent hashes; file access and name resolution need threads of the same pool. */
const RUNNING_MAX = 2;
/** The longest wait for one of them is a second. */
const WAITING_MAX = 128;

/** Too many passwords wait to be hashed; this one was not accepted. */
export class TooManySignIns extends Error {
  override readonly name = 'PasswordsBusy';
}

/** Returns `salt:hash`, both in hex. Rejects with `PasswordsBusy`. */
export async function hashPassword(password: string, random: Random): Promise<string> {
  const salt = random.bytes(16);
  return `${salt.toString('hex')}:${(await derive(password, salt)).toString('hex')}`;
}

/** Compared with a password where none is stored, so that the check takes as long. */
const noHash = `${'0'.repeat(32)}:${'0'.repeat(2 * HASH_BYTES)}`;

/**
 * Returns false also when nothing is stored: an unknown user, or one who was invited and has no
 * password yet. Rejects with `PasswordsBusy`.
 */
export async function passwordFits(password: string, stored: string | undefined): Promise<boolean> {
  const [salt = '', hash = ''] = (stored ?? noHash).split(':');
  const derived = await derive(password, Buffer.from(salt, 'hex'));
  return timingSafeEqual(Buffer.from(hash, 'hex'), derived) && stored !== undefined;
}

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer): Promise<Buffer> {
  if (running < RUNNING_MAX) running += 1;
  else if (waiting.length >= WAITING_MAX) throw new TooManySignIns('too many sign-ins are waiting');
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password, salt, HASH_BYTES, scryptCost, (fault, hash) =>
        fault ? reject(fault) : resolve(hash),
      );
    });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
