import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';

const WALK_MAX_MS = 15_000;
const guide = readFileSync(new URL('../../server/guide.md', import.meta.url), 'utf8');
const walk = /```sh\n(set -eu\n.*?)```/s.exec(guide)?.[1] ?? '';
const adminPassword = 'a-long-password';

let server: TestServer;
let folder: string;

beforeEach(async () => {
  server = await startTestServer({ adminPassword });
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-walk-'));
});

afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Runs a script in the way a reader of the guide would. */
async function run(script: string, password = adminPassword) {
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    timeout: WALK_MAX_MS,
    env: { PATH: process.env.PATH, URL: server.baseUrl, FLEETBED_ADMIN_PASSWORD: password },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code };
}

const written = (name: string) => [name, readFileSync(join(folder, name), 'utf8')];

describe('the step-by-step walk of the guide', () => {
  it('uses no program of this project', () => {
    expect(walk).toContain('openssl dgst');
    expect(walk).not.toMatch(/fleetbed |node |npx /);
  });

  it('takes a device from its key to a finished update', async () => {
    const { stdout, stderr, code } = await run(walk);
    expect(stderr).not.toContain('curl:');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^authentication: 401\nauthentication: 200\n/);
    expect(JSON.parse(stdout.split('\n').at(-1) ?? '')).toMatchObject({ success: 1, pending: 0 });
    expect(Object.fromEntries(['motd', 'dest_dir', 'filename'].map(written))).toEqual({
      motd: 'hello from release 2\n',
      dest_dir: '/etc\n',
      filename: 'motd\n',
    });
  });

  it('also works on a server that accepts devices automatically', async () => {
    await server.close();
    server = await startTestServer({ adminPassword, autoAccept: true });
    const { stdout, code } = await run(walk);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^authentication: 401\nauthentication: 200\n/),
    ]);
    expect(JSON.parse(stdout.split('\n').at(-1) ?? '')).toMatchObject({ success: 1 });
  });

  it('stops at the first request that is refused', async () => {
    const { stdout, stderr, code } = await run(walk, 'another-password');
    expect(code).not.toBe(0);
    expect(stderr).toContain('401');
    expect(stdout).toBe('');
  });
});
