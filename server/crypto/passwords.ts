/** Passwords of users, kept only as salted scrypt hashes, and hashed beside the event loop. */
import { scrypt, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../fixtures/random.ts';

/** Enough against a stolen database of test users: 10 ms of a core, and 4 MiB. */
const scryptCost = { N: 4096, r: 8, p: 1 };
const HASH_BYTES = 32;
/** At the same time; files and names of hosts need threads of the same pool. */
const RUNNING_MAX = 2;
/** What waits for one of them takes a second at most. */
const WAITING_MAX = 128;

/** Too many passwords wait to be hashed; this one was not taken. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy';
}

/** `salt:hash`, both in hex. Rejects with `PasswordsBusy`. */
export async function hashPassword(password: string, random: Random): Promise<string> {
  const salt = random.bytes(16);
  return `${salt.toString('hex')}:${(await derive(password, salt)).toString('hex')}`;
}

/** What a password is compared with where none is stored, so that this takes as long. */
const noHash = `${'0'.repeat(32)}:${'0'.repeat(2 * HASH_BYTES)}`;

/**
 * False too when nothing is stored: nobody is there, or was only invited and has no password yet.
 * Rejects with `PasswordsBusy`.
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
  else if (waiting.length >= WAITING_MAX) throw new PasswordsBusy('too many passwords wait');
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
