import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  malformedArtifact,
  uncheckedTar,
  validHeaderEntries,
} from '../../../fixtures/testing/malformed-artifact.ts';
import { artifactBytes, debianArtifact, uploadArtifact } from '../../testing/test-artifacts.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

const KEPT_MAX_MS = 10_000;

let folder: string;
let server: TestServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-test-'));
  server = await startTestServer({ dataFolder: folder });
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the stored artifact files and the list of artifacts. */
async function readStored(): Promise<unknown> {
  const listed = await server.call('list-all-artifacts', { token: server.adminToken });
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const ofArtifacts = files.filter((file) => file.includes(`artifacts${sep}`));
  return [ofArtifacts, listed.json()];
}

async function expectRefused(bytes: Buffer, reason: RegExp): Promise<void> {
  const response = await uploadArtifact(server, bytes);
  expect([response.status, response.json()]).toEqual([
    400,
    { error: expect.stringMatching(reason), request_id: expect.any(String) },
  ]);
}

afterEach(async () => {
  // The server may respond before it has removed the file.
  await expect.poll(readStored, { timeout: KEPT_MAX_MS }).toEqual([[], []]);
});

const TEN_GIB = Buffer.alloc(12);
TEN_GIB.writeUInt8(0x80);
TEN_GIB.writeBigUInt64BE(10n * 2n ** 30n, 4);

/** Returns the archive with 10 GiB as the size of an entry, and a corrected header checksum. */
function claimingTenGib(archive: Buffer, entry: string): Buffer {
  const changed = Buffer.from(archive);
  const at = changed.indexOf(`${entry}\0`);
  TEN_GIB.copy(changed, at + 124);
  changed.fill(' ', at + 148, at + 156);
  const sum = changed.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148);
  return changed;
}

it('an artifact whose provides exceed 65536 bytes as JSON returns 400', async () => {
  const provides = { 'rootfs-image.note': 'x'.repeat(70_000) };
  await expectRefused(await artifactBytes({ provides }), /at most 65536 bytes as JSON/);
});

describe('a truncated artifact', () => {
  it('returns 400 at whatever length it ends', async () => {
    const whole = debianArtifact('conformance-release-1');
    const cuts = [1, 511, 512, 513, 1024, 1536, 2048, 3000, 5000, 10_000, whole.length - 1024];
    for (const length of cuts) await expectRefused(whole.subarray(0, length), /artifact: /);
  });
});

describe('an artifact with a wrong checksum', () => {
  it.each([
    ['of the payload', /^.{5}(?=.* data\/)/m, /app\.bin/],
    ['of the header', /^.{5}(?=.* header)/m, /header\.tar\.gz/],
    ['of the version', /^.{5}(?=.* version)/m, /version/],
  ])('returns 400 if it is the checksum %s', async (_, location, reason) => {
    const manifest = (lines: string): string => lines.replace(location, '00000');
    await expectRefused(await malformedArtifact({ manifest }), reason);
  });

  it('returns 400 if one bit of the payload differs', async () => {
    const whole = await artifactBytes({ compression: 'none' });
    const at = whole.lastIndexOf('content of app.bin');
    whole.writeUInt8(whole.readUInt8(at) ^ 1, at);
    await expectRefused(whole, /app\.bin: its SHA-256/);
  });
});

describe('an artifact with an unsafe entry', () => {
  it.each([
    '../evil',
    '../../../../tmp/evil',
    '/etc/cron.d/evil',
    'a/b',
    '..',
    '.',
    'c:\\evil',
    '..\\evil',
    'nul\u0000evil',
    'evil\n',
    '',
  ])('is refused for the file name %j', async (name) => {
    await expectRefused(
      await malformedArtifact({ dataEntries: [{ name, content: 'x' }] }),
      /artifact/,
    );
  });

  it.each(['symlink', 'link', 'directory', 'character-device', 'fifo'] as const)(
    'returns 400 for an entry of the type %s',
    async (type) => {
      const dataEntries = [{ name: 'app.bin', content: '/etc/passwd', type }];
      await expectRefused(await malformedArtifact({ dataEntries }), /artifact/);
    },
  );

  it('returns 400 for a state script with a path out of its folder', async () => {
    const script = { name: 'scripts/../../ArtifactInstall_Enter_00', content: 'x' };
    const headerEntries = [...validHeaderEntries(), script];
    await expectRefused(await malformedArtifact({ headerEntries }), /artifact/);
  });
});

describe('an artifact that claims an entry of 10 GiB', () => {
  it.each(['version', 'manifest', 'header.tar.gz', 'data/0000.tar.gz'])(
    'returns 400 if the entry is %s',
    async (entry) => {
      await expectRefused(claimingTenGib(await artifactBytes(), entry), /artifact/);
    },
  );

  it('returns 400 if the entry is within the payload', async () => {
    const storeData = (archive: Buffer): Buffer => gzipSync(claimingTenGib(archive, 'app.bin'));
    await expectRefused(await malformedArtifact({ storeData }), /app\.bin/);
  });

  it('returns 400 if the entry is within the header', async () => {
    const storeHeader = (archive: Buffer): Buffer =>
      gzipSync(claimingTenGib(archive, 'header-info'));
    await expectRefused(await malformedArtifact({ storeHeader }), /header-info/);
  });
});

describe('an artifact with a decompression bomb', () => {
  const zeros = gzipSync(Buffer.alloc(64 * 2 ** 20));

  it('returns 400 if 400 kB behind the payload unpack to 400 MB', async () => {
    const storeData = (archive: Buffer): Buffer =>
      Buffer.concat([gzipSync(archive), zeros, zeros, zeros, zeros, zeros, zeros]);
    const bomb = await malformedArtifact({ storeData });
    expect(bomb.length).toBeLessThan(500_000);
    await expectRefused(bomb, /unpacks to more bytes than the limit/);
  });

  it('returns 400 if the bomb is in the header', async () => {
    const storeHeader = (archive: Buffer): Buffer => Buffer.concat([gzipSync(archive), zeros]);
    await expectRefused(await malformedArtifact({ storeHeader }), /header\.tar\.gz/);
  });

  it('returns 400 if the payload has 2,000 files', async () => {
    const dataEntries = Array.from({ length: 2000 }, (_, at) => ({ name: `f${at}`, content: '' }));
    await expectRefused(await malformedArtifact({ dataEntries }), /artifact/);
  });

  it('returns 400 without unpacking a gzip within a tar within a gzip', async () => {
    const inner = gzipSync(await uncheckedTar([{ name: 'app.bin', content: zeros }]));
    await expectRefused(await malformedArtifact({ storeData: () => gzipSync(inner) }), /artifact/);
  });
});
