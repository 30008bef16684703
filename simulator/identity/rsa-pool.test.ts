import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FleetStopped } from '../network/errors.ts';
import { IdentityError } from './identity-error.ts';
import { type KeyProgress, RsaPool, type RsaPoolOptions } from './rsa-pool.ts';

let place: string;
let folder: string;
const pools: RsaPool[] = [];

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'fleetbed-pool-'));
  folder = join(place, 'deep', 'pool');
});

afterEach(async () => {
  for (const pool of pools.splice(0)) pool.close();
  await rm(place, { recursive: true });
});

function poolOf(options: Partial<RsaPoolOptions> = {}): RsaPool {
  const pool = new RsaPool({ size: 64, bits: 2048, folder, ...options });
  pools.push(pool);
  return pool;
}

describe('the pool of RSA keys', () => {
  it('generates a key on request and stores it as PKCS#8, private to its owner', async () => {
    const { privateKey } = await poolOf().key(7);
    expect(readdirSync(folder)).toEqual(['rsa-2048-0007.pem']);
    const file = join(folder, 'rsa-2048-0007.pem');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const kept = readFileSync(file, 'utf8');
    expect(kept).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(createPrivateKey(kept).equals(privateKey)).toBe(true);
    expect(privateKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
  });

  it('contains the same keys in the next run, without generating any', async () => {
    const notified: KeyProgress[] = [];
    const first = await poolOf({ onProgress: (progress) => notified.push(progress) }).key(1);
    expect(notified).toEqual([
      { made: 0, total: 1 },
      { made: 1, total: 1 },
    ]);
    const second = await poolOf({ onProgress: (progress) => notified.push(progress) }).key(1);
    expect(second.publicKeyPem).toBe(first.publicKeyPem);
    expect(notified).toHaveLength(2);
  });

  it('gives the same keys to two runs that start at the same time', async () => {
    const [one, other] = [poolOf(), poolOf()];
    const [mine, theirs] = await Promise.all([one.key(0), other.key(0)]);
    expect(mine.publicKeyPem).toBe(theirs.publicKeyPem);
    expect(readdirSync(folder)).toEqual(['rsa-2048-0000.pem']);
  });

  it('can contain keys of 3072 bits, under separate file names', async () => {
    const { privateKey } = await poolOf({ bits: 3072 }).key(0);
    expect(privateKey.asymmetricKeyDetails?.modulusLength).toBe(3072);
    expect(readdirSync(folder)).toEqual(['rsa-3072-0000.pem']);
  });

  it('stores nothing when it has no folder', async () => {
    const pool = poolOf({ folder: undefined });
    expect(await pool.key(0)).toBe(await pool.key(0));
    expect(readdirSync(place)).toEqual([]);
  });

  it('stops generating keys when it is closed', async () => {
    const pool = poolOf();
    const keys = [0, 1, 2, 3, 4].map((position) => pool.key(position));
    pool.close();
    const ends = await Promise.allSettled(keys);
    expect(ends.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
    for (const end of ends) {
      if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(FleetStopped);
    }
  });
});

describe('an RSA pool with an unusable folder', () => {
  const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;

  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;

  it.each([
    ['half a key', short.export(pkcs8).toString().slice(0, 500)],
    ['nothing', ''],
    ['some other text', 'hello'],
    ['an elliptic key', generateKeyPairSync('ed25519').privateKey.export(pkcs8)],
    ['a shorter key', short.export(pkcs8)],
  ])('names the file that contains %s', async (_, content) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'rsa-2048-0000.pem'), content);
    const refused = poolOf().key(0);
    await expect(refused).rejects.toBeInstanceOf(IdentityError);
    await expect(refused).rejects.toThrow(
      /rsa-2048-0000\.pem in the RSA pool is not a private RSA key of 2048 bits; remove the file/,
    );
  });

  it('fails with an error when a file is in place of the folder', async () => {
    writeFileSync(join(place, 'deep'), '');
    const refused = poolOf().key(0);
    await expect(refused).rejects.toThrow(/^the RSA pool cannot read .*: it is not a folder; use/);
  });

  it('fails with an error when it cannot write to the folder', async () => {
    symlinkSync(join(place, 'nowhere'), join(place, 'link'));
    const refused = poolOf({ folder: join(place, 'link') }).key(0);
    await expect(refused).rejects.toThrow(/^the RSA pool cannot write .*; use another folder/);
  });
});
