import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerReady } from '../../../server-access/ready.ts';
import {
  type CommandEnd,
  type RunningCommand,
  runCommand,
  startServe,
} from '../../../testing/built-command.ts';

let server: RunningCommand;
let ready: ServerReady;
let folder: string;

/** Control sequences that must not reach a terminal. */
const hostile = '\u001b]0;owned\u0007';
const identity = JSON.stringify({ mac: 'one', name: hostile });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-watch-'));
  ({ running: server, ready } = await startServe());
  const none = await watch();
  expect([none.code, none.stdout]).toEqual([4, expect.stringMatching(/^No device has sent/)]);
  await fetch(`${ready.baseUrl}/api/devices/v1/authentication/auth_requests`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-SVC-Signature': 'AAAA' },
    body: JSON.stringify({ id_data: identity, pubkey: 'no key' }),
  });
});

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

function client(...args: string[]): Promise<CommandEnd> {
  return runCommand(['conform', 'client', ...args]);
}

function runOnServer(...args: string[]): Promise<CommandEnd> {
  const { controlUrl, controlToken } = ready;
  return client(...args, '--control-url', controlUrl, '--control-token', controlToken);
}

function watch(...args: string[]): Promise<CommandEnd> {
  return runOnServer('--watch', ...args, '--time', '100ms');
}

describe('fleetbed conform client --watch', () => {
  it('shows the only client with its broken MUST, the request and the remedy', async () => {
    const { code, stdout } = await watch();
    expect(code).toBe(1);
    expect(stdout).toMatch(/: 1 request\nThe client breaks a MUST\.\nOf \d+ duties: /);
    expect(stdout).toMatch(/auth\.key-supported \(must\)\n.*\n {6}entry \d+: POST .* -> 400\n/);
    expect(stdout).toContain('remedy: ');
    expect(stdout).not.toContain(hostile);
  });

  it('ends with exit code 4 and says so while no client has sent a request', async () => {
    const { code, stdout } = await watch('nobody');
    expect([code, stdout]).toEqual([4, 'nobody has sent no request yet.\n']);
  });

  it('prints the response of the control API as one line of JSON', async () => {
    const { stdout } = await watch('--json');
    expect(JSON.parse(stdout)).toMatchObject({ identity: expect.any(String), exchanges: 1 });
  });

  it('refuses a second mode on the command line with exit code 2', async () => {
    const { code, stderr } = await runOnServer('--watch', '--list');
    expect([code, stderr]).toEqual([2, expect.stringContaining('give one of --command')]);
  });
});

describe('fleetbed conform client --set-up', () => {
  it('plans the faults of a scene, and says what to do next', async () => {
    const { code, stdout } = await runOnServer('--set-up', 'abort');
    expect([code, stdout]).toEqual([
      0,
      'The faults are planned.\nNow deploy: npx fleetbed deploy FILE --device DEVICE\nTo remove them: npx fleetbed faults clear\n',
    ]);
    const headers = { Authorization: `Bearer ${ready.controlToken}` };
    const planned = await (await fetch(`${ready.controlUrl}/faults`, { headers })).text();
    expect(planned).toContain('abort-deployment');
  });

  it('refuses a scene that a running server cannot set up, and names the playable scenes', async () => {
    const { code, stderr } = await runOnServer('--set-up', 'tls-untrusted');
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot set up the scene')]);
  });

  it('refuses a device that has sent no request with exit code 1', async () => {
    const { code, stderr } = await runOnServer('--set-up', 'abort', '--device', 'nobody');
    expect([code, stderr]).toEqual([1, expect.stringContaining('nobody has sent no request yet')]);
  });
});

describe('fleetbed conform client --from', () => {
  it('judges the clients in the journal of a server, with the request as evidence', async () => {
    const { controlUrl, controlToken } = ready;
    const at = ['--control-url', controlUrl, '--control-token', controlToken];
    const { stdout: journal } = await runCommand(['journal', '--json', ...at]);
    const file = join(folder, 'journal.ndjson');
    writeFileSync(file, journal);
    const { code, stdout } = await client('--from', file);
    expect([code, stdout]).toEqual([1, expect.stringContaining('auth.key-supported (must)')]);
    expect(stdout).toMatch(/entry \d+: POST http.*\/auth_requests -> 400/);
  });

  it('says with exit code 4 that a recording has no requests of devices', async () => {
    const file = join(folder, 'empty.har');
    writeFileSync(file, JSON.stringify({ log: { entries: [] } }));
    const { code, stdout } = await client('--from', file);
    expect([code, stdout]).toEqual([4, `${file} has no requests of devices.\n`]);
  });

  it('says in a sentence that a file is not a recording, with exit code 3', async () => {
    const file = join(folder, 'text.har');
    writeFileSync(file, 'no archive');
    const { code, stderr } = await client('--from', file);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^fleetbed: .*text\.har/)]);
    expect(stderr).not.toContain('    at ');
  });
});
