import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import {
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../testing/built-command.ts';

const free = ['--port', '0', '--control-port', '0'];

let folder: string;
let running: RunningCommand | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-serve-tls-'));
});

afterEach(async () => {
  await running?.end();
  running = undefined;
  rmSync(folder, { recursive: true });
});

const filePath = (name: string): string => join(folder, name);

/** Starts a server with TLS and returns its ready message. */
async function serve(...args: readonly string[]) {
  const started = await startServe(args);
  running = started.running;
  const { tls } = started.ready;
  if (!tls) throw new Error('the server does not speak TLS');
  return { ...started.ready, tls };
}

/** Returns the status of a request by a client that trusts only `ca` and names `servername`. */
async function statusAt(url: string, ca?: string, servername?: string): Promise<number> {
  const trust = ca === undefined ? {} : { ca };
  const agent = new Agent({
    connect: { ...trust, ...(servername !== undefined && { servername }) },
  });
  try {
    const { path } = operations['get-configuration'];
    const response = await request(url + path, { dispatcher: agent });
    await response.body.dump();
    return response.statusCode;
  } finally {
    await agent.close();
  }
}

describe('serve --tls', () => {
  it('prints the test CA, which a client must trust', async () => {
    const { baseUrl, controlUrl, tls } = await serve('--tls');
    expect(baseUrl).toMatch(/^https:/);
    expect(controlUrl).toMatch(/^http:/);
    expect(tls).toEqual({ caPem: expect.stringContaining('BEGIN CERTIFICATE'), brokenTls: {} });
    expect(await statusAt(baseUrl, tls.caPem)).toBe(401);
    await expect(statusAt(baseUrl)).rejects.toThrow('unable to verify');
  });

  it('is trusted by a fleet with --ca, and by no fleet without it', async () => {
    const { baseUrl, tls } = await serve('--auto-accept', '--tls-ca-out', filePath('ca'));
    const fleet = ['simulate', '--url', baseUrl, '--devices', '1', '--keys', 'ed25519=1'];
    const args = [...fleet, '--duration', '2s', '--poll', '1s'];
    expect((await runCommand([...args, '--ca', `${tls.caFile}`])).code).toBe(0);
    const { code, stderr } = await runCommand(args);
    expect(code).toBe(3);
    expect(stderr).toContain("the authority of the server's certificate is unknown");
  });

  it('makes a certificate for every given name', async () => {
    const { baseUrl, tls } = await serve('--tls-name', 'a.test', '--tls-name', 'b.test');
    expect(await statusAt(baseUrl, tls.caPem, 'a.test')).toBe(401);
    expect(await statusAt(baseUrl, tls.caPem, 'b.test')).toBe(401);
    const asked = statusAt(baseUrl, tls.caPem, 'c.test');
    await expect(asked).rejects.toThrow("Host: c.test. is not in the cert's altnames");
  });

  it('writes the CA in three formats, without its key, into a new folder', async () => {
    const { tls } = await serve('--tls-ca-out', filePath('new/ca'));
    expect(tls.caFile).toBe(filePath('new/ca/ca.pem'));
    expect(readdirSync(filePath('new/ca')).sort()).toEqual(['ca.der', 'ca.h', 'ca.pem']);
    expect(readFileSync(`${tls.caFile}`, 'utf8')).toBe(tls.caPem);
    for (const name of readdirSync(filePath('new/ca'))) {
      expect(readFileSync(filePath(`new/ca/${name}`), 'latin1')).not.toContain('PRIVATE');
    }
  });

  it('keeps the CA with its key in the given folder', async () => {
    const first = await serve('--tls-ca-keep', filePath('kept.pem'));
    await running?.end();
    const second = await serve('--tls-ca-keep', filePath('kept.pem'));
    expect(second.tls.caPem).toBe(first.tls.caPem);
    expect(readFileSync(filePath('kept.pem'), 'utf8')).toContain('PRIVATE KEY');
    expect(statSync(filePath('kept.pem')).mode & 0o777).toBe(0o600);
  });

  it('serves ports with broken TLS', async () => {
    const { tls } = await serve('--tls-broken');
    expect(Object.keys(tls.brokenTls)).toContain('expired');
    const asked = statusAt(`${tls.brokenTls.expired}`, tls.caPem);
    await expect(asked).rejects.toThrow('certificate has expired');
  });

  it('prints the file of the CA, and the defect of each URL', async () => {
    running = startCommand(['serve', ...free, '--tls-broken', '--tls-ca-out', filePath('ca')]);
    const text = await running.waitForOutput('stdout', /oldProtocol\n/);
    expect(text).toMatch(/^ready at https:\S+, /);
    expect(text).toContain(`\ntest CA in ${filePath('ca/ca.pem')}\n`);
    expect(text.match(/\nbroken TLS at https:\/\/127\.0\.0\.1:\d+: \w+/g)).toHaveLength(6);
  });
});

describe('serve with wrong TLS options', () => {
  it.each<[string, string[], string]>([
    ['a certificate without its key', ['--tls-cert', 'c.pem'], 'no key file'],
    ['a key without its certificate', ['--tls-key', 'k.pem'], 'no certificate file'],
    ['files that are not there', ['--tls-cert', 'no.pem', '--tls-key', 'no.pem'], 'no such file'],
    ['a client CA that is not there', ['--tls-client-ca', 'no.pem'], 'no such file'],
    ['an invalid name', ['--tls-name', 'a.test', '--tls-name', 'b c'], 'TLS name "b c"'],
    ['an empty name', ['--tls-name', ''], 'text that is not empty'],
    [
      'a CA to write beside a certificate of ones own',
      ['--tls-cert', 'c.pem', '--tls-key', 'k.pem', '--tls-ca-out', 'ca'],
      'which replaces the test CA',
    ],
    [
      'broken TLS beside a certificate of ones own',
      ['--tls-cert', 'c.pem', '--tls-key', 'k.pem', '--tls-broken'],
      'no test CA, which broken TLS requires; leave out broken TLS',
    ],
    [
      'a kept CA file that is not a CA',
      ['--tls-ca-keep', new URL(import.meta.url).pathname],
      'holds no cert',
    ],
  ])('ends with exit code 2 and one sentence: %s', async (_, args, sentence) => {
    const { code, stdout, stderr } = await runCommand(['serve', ...free, ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('serve --tls-ca-out', () => {
  it('ends with exit code 3 before the start when the folder is unwritable', async () => {
    writeFileSync(filePath('file'), '');
    const { code, stderr } = await runCommand(['serve', ...free, '--tls-ca-out', filePath('file')]);
    expect(code).toBe(3);
    expect(stderr).toContain('--tls-ca-out cannot create');
    mkdirSync(filePath('ca/ca.pem'), { recursive: true });
    const otherRun = await runCommand(['serve', ...free, '--tls-ca-out', filePath('ca')]);
    expect(otherRun.code).toBe(3);
    expect(otherRun.stderr).toContain('it is a folder');
  });
});
