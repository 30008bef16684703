import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchFile, linkTo, publish } from '../../../server/testing/test-artifacts.ts';
import { acceptedDevice } from '../../../server/testing/test-device.ts';
import { callsTo, type TestServer } from '../../../server/testing/test-server.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import { runCommand, startServe } from '../../testing/built-command.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Calls the server in another process. */
function serverOf({ event: _, version: __, ...facts }: ServerReady): TestServer {
  return { ...facts, ...callsTo(facts.baseUrl) } as TestServer;
}

function serve(data: string) {
  return runCommand(['serve', '--port', '0', '--control-port', '0', '--data', data]);
}

describe('fleetbed serve --data', () => {
  it('shows the same random password at each start until a password is set', async () => {
    const data = join(folder, 'data');
    const passwords: string[] = [];
    for (const args of [[], [], ['--admin-password', 'correct horse'], []]) {
      const { running, ready } = await startServe(['--data', data, ...args]);
      passwords.push(ready.adminPassword);
      await running.end();
    }
    const [first = ''] = passwords;
    expect(first).toMatch(/^.{16}$/);
    expect(passwords).toEqual([first, first, 'correct horse', '']);
  }, 60_000);

  it('is refused with exit code 3 while another server uses the folder', async () => {
    const data = join(folder, 'data');
    const { running } = await startServe(['--data', data]);
    const { code, stderr } = await serve(data);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^fleetbed: .*is in use by another process; stop that process.*\n$/),
    ]);
    await running.end();
  });

  it('refuses a folder with other files, and keeps them', async () => {
    writeFileSync(join(folder, 'thesis.txt'), 'do not touch');
    const { code, stderr } = await serve(folder);
    expect([code, stderr]).toEqual([3, expect.stringContaining('has other files')]);
    expect(readdirSync(folder)).toEqual(['thesis.txt']);
  });

  it('never serves a changed artifact file, and names it in the log', async () => {
    const data = join(folder, 'data');
    const first = await startServe(['--data', data]);
    const firstServer = serverOf(first.ready);
    const device = await acceptedDevice(firstServer, 'a');
    const id = await publish(firstServer);
    const { pathname, search } = new URL((await linkTo(firstServer, device.token, id)).uri);
    await first.running.end();
    const [world = ''] = readdirSync(join(data, 'tenants'));
    const artifacts = join(data, 'tenants', world, 'artifacts');
    const file = join(artifacts, readdirSync(artifacts)[0] ?? '');
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill((bytes[99] ?? 0) ^ 1, 99, 100));

    const { running, ready } = await startServe(['--data', data]);
    const uri = ready.baseUrl + pathname + search;
    const whole = await fetchFile(uri);
    const part = await fetchFile(uri, { headers: { Range: 'bytes=0-9' } });
    expect([whole.status, part.status]).toEqual([500, 500]);
    const { stderr } = await running.end();
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toContain(`${file} is damaged`);
  });

  it('is refused without a folder name', async () => {
    expect((await serve('')).code).toBe(2);
  });
});
