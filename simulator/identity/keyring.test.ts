import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { mergedSharedKeys, sharedKeysLine } from '../result/shared-keys.ts';
import { Keyring, type KeyringOptions } from './keyring.ts';

let folder: string;
const rings: Keyring[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-keyring-'));
});

afterEach(() => {
  for (const ring of rings.splice(0)) ring.close();
});

afterAll(() => rmSync(folder, { recursive: true }));

async function keyring(options: Partial<KeyringOptions> = {}): Promise<Keyring> {
  const rsaPool = { size: 2, bits: 2048, folder: join(folder, 'pool') } as const;
  const ring = await Keyring.open({ random: seededRandom('x'), rsaPool, ...options });
  rings.push(ring);
  return ring;
}

function fleet(keyType: KeyType, ...indexes: readonly number[]) {
  return indexes.map((index) => ({ index, keyType }));
}

describe('a fleet with RSA keys', () => {
  it('gives device i the key i mod the size of the pool', async () => {
    const ring = await keyring();
    const pems = await Promise.all(
      [0, 1, 2, 5].map(
        async (index) => (await ring.keyFor({ index, keyType: 'rsa' })).publicKeyPem,
      ),
    );
    expect(pems[0]).not.toBe(pems[1]);
    expect(pems.slice(2)).toEqual([pems[0], pems[1]]);
  });

  it('has the same keys for any seed, because the pool is stored', async () => {
    const owner = { index: 1, keyType: 'rsa' } as const;
    const mine = await (await keyring()).keyFor(owner);
    const other = await (await keyring({ random: seededRandom('y') })).keyFor(owner);
    expect(other.publicKeyPem).toBe(mine.publicKeyPem);
  });

  it('uses the next key of the pool when a device changes its key', async () => {
    const ring = await keyring();
    const next = await ring.keyFor({ index: 0, keyType: 'rsa' }, 1);
    expect(next.publicKeyPem).toBe((await ring.keyFor({ index: 1, keyType: 'rsa' })).publicKeyPem);
  });

  it('reports the keys in use, the devices per key and a hash of the pool', async () => {
    const ring = await keyring();
    const devices = [...fleet('rsa', 0, 2, 3), ...fleet('ed25519', 1, 2)];
    const shared = await ring.sharedKeys(devices);
    expect(shared).toMatchObject({ source: 'rsa-pool', size: 2, bits: 2048, devices: 3 });
    expect(shared?.keys.map((key) => [key.position, key.devices])).toEqual([
      [0, 2],
      [1, 1],
    ]);
    expect((await (await keyring()).sharedKeys(devices))?.hash).toBe(shared?.hash);
    const elsewhere = await keyring({ rsaPool: { size: 2, bits: 2048 } });
    expect((await elsewhere.sharedKeys(devices))?.hash).not.toBe(shared?.hash);
    expect(shared && sharedKeysLine(shared)).toBe(
      `3 devices share 2 RSA-2048 keys of a pool of 2, 1 to 2 a key; hash ${shared?.hash.slice(0, 16)}`,
    );
  });

  it('reports the same when it is merged from the reports of its shards', async () => {
    const ring = await keyring();
    const parts = await Promise.all([
      ring.sharedKeys(fleet('rsa', 0, 1)),
      ring.sharedKeys(fleet('rsa', 2, 3)),
    ]);
    const whole = await ring.sharedKeys(fleet('rsa', 0, 1, 2, 3));
    expect(mergedSharedKeys(parts.flatMap((part) => part ?? []))).toEqual(whole);
  });

  it('reports nothing about keys that are not shared or were never generated', async () => {
    const ring = await keyring({ rsaPool: { size: 64, bits: 2048 } });
    expect(await ring.sharedKeys(fleet('ed25519', 0, 1))).toBeUndefined();
    const preparing = ring.prepare(fleet('rsa', 0, 1)).catch(() => undefined);
    ring.close();
    await preparing;
    expect(await ring.sharedKeys(fleet('rsa', 0, 1))).toBeUndefined();
  });
});

describe('a fleet with keys from the user', () => {
  it('gives device i key i mod the key count, by file name', async () => {
    const keys = ['a', 'b'].map((name) => {
      const { privateKey } = generateKeyPairSync('ed25519');
      writeFileSync(
        join(folder, `${name}.pem`),
        privateKey.export({ type: 'pkcs8', format: 'pem' }),
      );
      return privateKey;
    });
    const ring = await keyring({ keyFolder: folder });
    for (const index of [0, 1, 2, 3]) {
      const { privateKey } = await ring.keyFor({ index, keyType: 'rsa' });
      expect(privateKey.equals(keys[index % 2] ?? privateKey), `device ${index}`).toBe(true);
    }
    expect(ring.ownKeyType(5)).toBe('ed25519');
    const shared = await ring.sharedKeys(fleet('ed25519', 0, 1, 2));
    expect(shared).toMatchObject({ source: 'key-folder', size: 2, devices: 3 });
  });
});
