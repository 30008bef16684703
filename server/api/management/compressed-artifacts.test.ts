import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Artifact } from '../../../fixtures/contract/resources.ts';
import { compressedArtifact, suffixOf } from '../../../fixtures/testing/compressed-artifact.ts';
import { malformedArtifact } from '../../../fixtures/testing/malformed-artifact.ts';
import { publish, shownArtifact, uploadArtifact } from '../../testing/test-artifacts.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
const logged: string[] = [];

beforeAll(async () => {
  server = await startTestServer({ logLevel: 'warn' });
});

afterAll(() => server.close());

beforeEach(() => {
  logged.length = 0;
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
});

afterEach(() => vi.restoreAllMocks());

/** Uploads the file, returns the artifact, and deletes it, as all files here have one name. */
async function published(file: Buffer): Promise<Artifact> {
  const id = await publish(server, file);
  const artifact = await shownArtifact(server, id);
  await server.call('delete-artifact', { token: server.adminToken, parameters: { id } });
  return artifact;
}

const checksum = createHash('sha256').update('content').digest('hex');

describe('an uploaded artifact with compressed archives', () => {
  it.each(['xz', 'zst'])('is shown with all that its archives say: %s', async (suffix) => {
    const differences = compressedArtifact(`header.tar.${suffix}`, `data.tar.${suffix}`);
    const file = await malformedArtifact(differences);
    const { size, artifact_depends, updates } = await published(file);
    expect([size, artifact_depends]).toEqual([file.length, { device_type: ['board'] }]);
    expect(updates?.[0]?.files).toMatchObject([{ name: 'app.bin', checksum, size: 7 }]);
    expect(logged).toEqual([]);
  });

  it.each(['wide.tar.xz', 'x86.tar.xz', 'wide.tar.zst'])(
    'is stored without its payload being read, and a log line says so: %s',
    async (data) => {
      const { updates } = await published(
        await malformedArtifact(compressedArtifact('header.tar.xz', data)),
      );
      expect(updates?.[0]?.files).toEqual([{ name: 'app.bin', checksum }]);
      expect(logged).toEqual([
        expect.stringContaining(
          `artifact release-1 is stored without reading data/0000.tar.${suffixOf(data)}: its `,
        ),
      ]);
    },
  );

  it.each([
    [
      'wide.tar.xz',
      /^artifact: header\.tar\.xz: its xz compression cannot be read: .*; write .*gzip/,
    ],
    [
      'x86.tar.xz',
      /^artifact: header\.tar\.xz: its xz compression cannot be read: .*; write .*gzip/,
    ],
    ['wide.tar.zst', /^artifact: header\.tar\.zst: its zstd compression cannot .*; write .*gzip/],
    ['zeros.xz', /^artifact: header\.tar\.xz: it unpacks to more bytes than the limit/],
    ['data.tar.zst', /^artifact: header\.tar\.zst: app\.bin comes before header-info/],
  ])('returns 400 when its header cannot be read: %s', async (header, reason) => {
    const file = await malformedArtifact(compressedArtifact(header, 'data.tar.xz'));
    const response = await uploadArtifact(server, file);
    expect([response.status, response.json().error]).toEqual([400, expect.stringMatching(reason)]);
  });
});
