import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  artifactBytes,
  fetchFile,
  linkTo,
  publish,
  uploadArtifact,
} from '../../server/testing/test-artifacts.ts';
import { board, deploy, nextRequests, report } from '../../server/testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  newDevice,
} from '../../server/testing/test-device.ts';
import { callsTo, type TestServer } from '../../server/testing/test-server.ts';
import { openSocket } from '../../server/testing/test-sockets.ts';
import { control } from '../../server/testing/test-tenants.ts';
import { type RunningCommand, startCommand, startServe } from '../testing/built-command.ts';
import { persistentDisks, readOnlyLaunchers, smallDisks } from '../testing/small-disk.ts';

let folder: string;
let last: RunningCommand | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));
  mkdirSync(join(folder, 'disk'));
});

afterEach(async () => {
  await last?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function serveOn(disk: string, launcher: readonly string[]) {
  const { running, ready } = await startServe(['--data', join(disk, 'data')], launcher);
  last = running;
  const { event: _, version: __, ...facts } = ready;
  return { running, server: { ...facts, ...callsTo(ready.baseUrl) } as TestServer };
}

/** Every kind of write request, with the status of its success. */
async function statusesOf(server: TestServer, device: AcceptedDevice, deployment: string) {
  const { token } = device;
  const json = [{ name: 'color', value: 'red' }];
  const responses = {
    inventory: await server.call('patch-attributes', { token, json }),
    status: await report(server, device, { id: deployment, status: 'downloading' }),
    upload: await uploadArtifact(server, await artifactBytes({ name: 'another' })),
    tenant: await control(server, 'POST', '/tenants', { name: 'T', adminEmail: 't@example.com' }),
  };
  const statuses = Object.entries(responses).map(([name, { status }]) => [name, status]);
  return {
    statuses: Object.fromEntries(statuses),
    texts: Object.values(responses).map((a) => a.text),
  };
}

describe.each(smallDisks())(
  'a server on a full disk ($name)',
  ({ launcher, fullLauncher, fill, empty }) => {
    it('refuses writes with 507, serves reads, and writes once space is free', async () => {
      const disk = join(folder, 'disk');
      const { running, server } = await serveOn(disk, launcher(disk));
      const { pid = 0 } = running.child;
      const device = await acceptedDevice(server, 'a');
      const artifact = await publish(server);
      const deployment = await deploy(server, [device]);
      const link = (await linkTo(server, device.token, artifact)).uri;
      const poll = () => nextRequests['GET v1'](server, device.token, board);
      expect((await poll()).status).toBe(200);

      fill(pid, disk);
      for (let round = 0; round < 3; round += 1) {
        const { statuses, texts } = await statusesOf(server, device, deployment);
        expect(statuses).toEqual({ inventory: 507, status: 507, upload: 507, tenant: 507 });
        for (const text of texts) expect(JSON.parse(text).error).toContain('storage is full');
      }
      expect((await poll()).status).toBe(200);
      expect((await fetchFile(link)).status).toBe(200);
      const listed = await server.call('list-devices', { token: server.adminToken });
      expect([listed.status, listed.json<unknown[]>().length]).toEqual([200, 1]);
      expect((await authenticate(server, newDevice('b'))).status).toBe(507);

      empty(pid, disk);
      const { statuses } = await statusesOf(server, device, deployment);
      expect(statuses).toEqual({ inventory: 200, status: 204, upload: 201, tenant: 201 });
      expect((await authenticate(server, device)).status).toBe(200);
      await acceptedDevice(server, 'b');

      const { code, stderr } = await running.end();
      expect(code).toBe(0);
      expect(stderr.match(/no space left in|cannot write in/g)).toHaveLength(1);
      expect(stderr).toContain(join(disk, 'data'));
      expect(stderr).not.toMatch(/^ +at /m);
    });

    it('refuses to start, with exit code 3 and one sentence', async () => {
      const disk = join(folder, 'disk');
      const args = ['serve', '--port', '0', '--control-port', '0', '--data', join(disk, 'data')];
      last = startCommand(args, {}, fullLauncher(disk));
      const { code, stderr } = await last.ended;
      expect(stderr).toMatch(/^fleetbed: (no space left in|cannot write in) .*\n$/);
      expect(code).toBe(3);
    });
  },
);

describe.each(persistentDisks())('a server that was killed with -9 on a full disk', (make) => {
  it('restarts with all data, and writes once space is free', async () => {
    const folderOfDisk = join(folder, 'disk');
    const disk = await make(folderOfDisk);
    try {
      const first = await serveOn(folderOfDisk, disk.launcher);
      const device = await acceptedDevice(first.server, 'a');
      await openSocket(first.server, device);
      const artifact = await publish(first.server);
      // This value is larger than the space that the first start leaves for its copy.
      const json = [{ name: 'large', value: 'x'.repeat(250_000) }];
      await first.server.call('put-attributes', { token: device.token, json });
      disk.fill();
      expect((await authenticate(first.server, newDevice('b'))).status).toBe(507);
      await first.running.end('SIGKILL');
      disk.empty();
      disk.fill();

      const { running, server } = await serveOn(folderOfDisk, disk.launcher);
      const listed = await server.call('list-devices', { token: first.server.adminToken });
      expect([listed.status, listed.json<unknown[]>().length]).toEqual([200, 1]);
      const link = (await linkTo(server, device.token, artifact)).uri;
      expect((await fetchFile(link)).status).toBe(200);
      const { devices } = JSON.parse((await control(server, 'GET', '/devices')).text);
      expect(devices).toMatchObject([{ id: device.id, connected: false }]);
      disk.empty();
      await acceptedDevice(server, 'b');
      const reset = await control(server, 'POST', '/reset');
      expect([reset.status, reset.text]).toEqual([
        409,
        expect.stringContaining('could not write a copy of it'),
      ]);
      expect((await running.end()).code).toBe(0);
    } finally {
      await disk.end();
    }
  });
});

describe.each(readOnlyLaunchers())('a server on a read-only file system', (launcher) => {
  it('refuses to start, with exit code 3 and one sentence', async () => {
    const disk = join(folder, 'disk');
    const { running } = await serveOn(disk, []);
    await running.end();
    const args = ['serve', '--port', '0', '--control-port', '0', '--data', join(disk, 'data')];
    last = startCommand(args, {}, launcher(disk));
    const { code, stderr } = await last.ended;
    expect(stderr).toMatch(/^fleetbed: .*data is on a read-only file system .*\n$/);
    expect(code).toBe(3);
  });
});
