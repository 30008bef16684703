import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  artifactBytes,
  fetchFile,
  linkTo,
  publish,
  uploadArtifact,
} from '../../testing/test-artifacts.ts';
import { acceptedDevice, authenticate, newDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';
import { TestFolder } from '../engine/testing/engines.ts';

let folder: TestFolder;
let data: string;
let server: TestServer;
let lines: string[];

beforeEach(async () => {
  folder = new TestFolder();
  data = join(folder.path, 'data');
  lines = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
  server = await startTestServer({ dataFolder: data, logLevel: 'error' });
});

afterEach(() => {
  vi.restoreAllMocks();
  folder.remove();
});

/** Performs every kind of write and returns the statuses. */
async function writes(token: string) {
  const json = [{ name: 'color', value: 'red' }];
  const snapshot = `/snapshots/${lines.length}`;
  const tenant = { name: 'T', adminEmail: 't@example.com' };
  return {
    inventory: (await server.call('patch-attributes', { token, json })).status,
    device: (await authenticate(server, newDevice('b'))).status,
    upload: (await uploadArtifact(server, await artifactBytes({ name: 'another' }))).status,
    tenant: (await control(server, 'POST', '/tenants', tenant)).status,
    snapshot: (await control(server, 'PUT', snapshot)).status,
  };
}

const refused = { inventory: 507, device: 507, upload: 507, tenant: 507, snapshot: 507 };

describe('a server whose data folder is removed', () => {
  it('returns 507 to every write, keeps reading, and closes without an error', async () => {
    const { token } = await acceptedDevice(server, 'a');
    const link = (await linkTo(server, token, await publish(server))).uri;
    expect((await fetchFile(link)).status).toBe(200);
    rmSync(data, { recursive: true });
    expect((await fetchFile(link)).status).toBe(507);
    for (let round = 0; round < 3; round += 1) expect(await writes(token)).toEqual(refused);
    const listed = await server.call('list-devices', { token: server.adminToken });
    expect([listed.status, listed.json<unknown[]>().length]).toEqual([200, 1]);
    await server.close();
    expect(lines).toEqual([
      expect.stringContaining(`files were removed from ${data}: writes are answered with 507`),
    ]);
    expect(existsSync(data)).toBe(false);
  });

  it('writes no files without a path when the folder is removed or moved away', async () => {
    const { token } = await acceptedDevice(server, 'a');
    const moved = join(folder.path, 'moved');
    renameSync(data, moved);
    expect(await writes(token)).toEqual(refused);
    renameSync(moved, data);
    // The server writes again once the folder is back in its place.
    expect(await writes(token)).toMatchObject({ inventory: 200, upload: 201, tenant: 201 });
    await server.close();
  });
});
