import { spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { signatureVectors } from '../../../fixtures/vectors/invalid-signatures.ts';
import type { EnvironmentCheck } from '../../../simulator/environment/check.ts';
import { runCommand, startServe } from '../../testing/built-command.ts';
import { openTlsFront } from '../../testing/tls-front.ts';

let folder: string;
let serve: Awaited<ReturnType<typeof startServe>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-doctor-'));
  serve = await startServe();
});

afterAll(async () => {
  await serve.running.end();
  rmSync(folder, { recursive: true });
});

function fileOf(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const doctor = (...args: string[]) => runCommand(['doctor', ...args]);

describe('fleetbed doctor signature', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const text = JSON.stringify({ id_data: '{"mac":"1"}', pubkey: pem });
  const right = sign('sha256', Buffer.from(text), privateKey).toString('base64');
  const files = () => ['--body', fileOf('body', text), '--key', fileOf('key.pem', pem)];

  it('exits with 0 when the signature matches', async () => {
    const { code, stdout, stderr } = await doctor('signature', ...files(), '--signature', right);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`The ecdsa signature matches the ${text.length} bytes of the body.\n`);
  });

  it('takes the key from the body when no option names one', async () => {
    const body = fileOf('body', text);
    expect((await doctor('signature', '--body', body, '--signature', right)).code).toBe(0);
  });

  it('reads a signature from a file, as text or as bytes', async () => {
    const text64 = fileOf('signature.txt', `${right}\n`);
    const bytes = fileOf('signature.bin', Buffer.from(right, 'base64'));
    for (const file of [text64, bytes]) {
      const { code, stdout } = await doctor('signature', ...files(), '--signature', file);
      expect([code, stdout]).toEqual([0, expect.stringContaining('signature matches')]);
    }
  });

  it('names the cause, its remedy and alternatives, and exits with 1', async () => {
    const body = fileOf('longer', `${text}\n`);
    const hex = Buffer.from(right, 'base64').toString('hex');
    const { code, stdout } = await doctor('signature', '--body', body, '--signature', hex);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^line-feed-not-signed: The body sent ends in a line feed/);
    expect(stdout).toMatch(/^ {2}remedy: Sign the bytes of the body/m);
    expect(stdout).toMatch(/^ {2}also: hex$/m);
  });

  it('prints the finding as one line of JSON', async () => {
    const vector = signatureVectors().find(({ cause }) => cause === 'pss');
    const body = fileOf('pss', vector?.body ?? '');
    const args = ['--body', body, '--signature', vector?.signature ?? '', '--json'];
    const { code, stdout, stderr } = await doctor('signature', ...args);
    expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({
      code: 1,
      stderr: '',
      lines: 2,
    });
    expect(JSON.parse(stdout)).toEqual({
      fits: false,
      about: 'signature',
      cause: 'pss',
      sentence: 'The signature uses PSS padding.',
      remedy: expect.stringContaining('PKCS#1 v1.5'),
      detail: 'sha256',
    });
  });

  it('recognizes the key in the body, and the keys of other devices', async () => {
    const otherKey = generateKeyPairSync('ed25519').publicKey;
    const key = fileOf('other.pem', otherKey.export({ type: 'spki', format: 'pem' }).toString());
    const signed = ['--body', fileOf('body', text), '--key', key, '--signature', right];
    expect((await doctor('signature', ...signed)).stdout).toContain('detail: pubkey of the body');
    const bare = fileOf('bare', '{}');
    const ofBare = sign('sha256', Buffer.from('{}'), privateKey).toString('base64');
    const [mine] = files().slice(-1);
    const args = ['--body', bare, '--key', key, '--signature', ofBare];
    const { stdout } = await doctor('signature', ...args, '--other-key', mine ?? '');
    expect(stdout).toContain(`key-of-another-device: `);
    expect(stdout).toContain(`detail: ${mine}`);
  });

  it('names the cause in a key, and exits with 1', async () => {
    const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const args = ['--body', fileOf('body', text), '--key', fileOf('secret.pem', secret)];
    const { code, stdout } = await doctor('signature', ...args, '--signature', right);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^private-key: /);
    expect(stdout).not.toContain(secret.slice(40, 80));
  });

  it.each([
    ['a signature that no cause explains', 'AAAA', 'cannot be a signature of this key type'],
    ['control characters', '\x1b[31m', 'The header holds no base64'],
  ])('exits with 1 for %s', async (_, signature, args) => {
    const { code, stdout } = await doctor('signature', ...files(), '--signature', signature);
    expect(code).toBe(1);
    expect(stdout).toContain(args);
  });

  it('exits with 1 for a bad key that matches no known cause', async () => {
    const key = fileOf('words.pem', 'my key');
    const args = ['--body', fileOf('body', text), '--key', key, '--signature', right];
    const { code, stdout } = await doctor('signature', ...args, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      fits: false,
      about: 'key',
      sentence: 'The key cannot be used: it is not a single PEM block.',
    });
  });

  it.each<[string, () => string[], number, RegExp]>([
    ['nothing', () => [], 2, /required option '--body <file>'/],
    ['no signature', () => files(), 2, /required option '--signature <text\|file>'/],
    ['an empty signature', () => [...files(), '--signature', ''], 2, /not empty/],
    ['a word too many', () => [...files(), '--signature', 'AA==', 'x'], 2, /too many arguments/],
    [
      'a body without a key',
      () => ['--body', fileOf('empty', '{}'), '--signature', right],
      2,
      /no string "pubkey"; give the key with --key/,
    ],
    [
      'a body that is not there',
      () => ['--body', join(folder, 'none'), '--signature', right],
      3,
      /--body cannot read .* no such file/,
    ],
    ['a folder', () => ['--body', folder, '--signature', right], 3, /--body cannot read .* folder/],
    [
      'a body that no request has',
      () => ['--body', fileOf('large', Buffer.alloc(2_000_000)), '--signature', right],
      3,
      /larger than a request body may be \(1048576 bytes\)/,
    ],
    [
      'a key that is not there',
      () => [...files(), '--key', join(folder, 'none'), '--signature', right],
      3,
      /--key cannot read/,
    ],
    [
      'another, invalid key',
      () => [...files(), '--other-key', fileOf('no.pem', 'x'), '--signature', right],
      3,
      /--other-key .* is not a usable public key/,
    ],
  ])('refuses %s', async (_, args, wanted, sentence) => {
    const { code, stdout, stderr } = await doctor('signature', ...args());
    expect({ code, stdout }).toEqual({ code: wanted, stdout: '' });
    expect(stderr).toMatch(sentence);
  });
});

interface Environment {
  readonly verdict: string;
  readonly connectedDevicesMax?: number;
  readonly checks: readonly EnvironmentCheck[];
}

/** Runs the environment check, on free ports by default. */
async function environment(args: readonly string[], variables: Record<string, string> = {}) {
  const ran = await runCommand(['doctor', 'environment', '--json', ...args], {
    NODE_EXTRA_CA_CERTS: '',
    ...variables,
  });
  const found = JSON.parse(ran.stdout) as Environment;
  const check = (name: string) => found.checks.find((each) => each.name === name);
  return { ...ran, found, check };
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('fleetbed doctor environment', () => {
  it('passes for a server on this machine, with a row for each check', async () => {
    const { code, found } = await environment(['--url', serve.ready.baseUrl, '--devices', '10']);
    const verdicts = Object.fromEntries(found.checks.map(({ name, verdict }) => [name, verdict]));
    expect(verdicts).toEqual({
      'open files': 'pass',
      'outgoing ports': 'pass',
      trust: 'pass',
      reachability: 'pass',
      TLS: 'pass',
      API: 'pass',
      clock: 'pass',
    });
    expect([code, found.verdict]).toEqual([0, 'pass']);
    expect(found.connectedDevicesMax).toBeGreaterThan(0);
  });

  it('prints each check as text, and counts the verdicts', async () => {
    const args = ['doctor', 'environment', '--url', serve.ready.baseUrl, '--devices', '10'];
    const { code, stdout } = await runCommand(args, { NODE_EXTRA_CA_CERTS: '' });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pass {2}reachability +127\.0\.0\.1:\d+ accepts connections\.$/m);
    expect(stdout).toMatch(/^0 fail, 0 warn, 7 pass$/m);
  });

  it('states the number of devices that the open-files limit allows', async () => {
    const command = fileURLToPath(new URL('../../../dist/bin/fleetbed.js', import.meta.url));
    const args = ['doctor', 'environment', '--connect', '--url', serve.ready.baseUrl];
    const shell = 'ulimit -n 1000; exec "$0" "$@"';
    const child = spawn('sh', ['-c', shell, process.execPath, command, ...args]);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(text).toMatch(
      /^fail {2}open files .* 1000 devices with --connect need 1576.* only 424 devices fit\.$/m,
    );
    expect(text).toMatch(/^ +Raise it with `ulimit -n/m);
  });

  it('fails on a busy port, and checks only the given ports', async () => {
    const taken = createServer();
    const [, port = ''] = (await listening(taken)).split(':');
    const { code, check } = await environment(['--port', port, '--control-port', '0']);
    expect(code).toBe(1);
    expect(check(`port ${port}`)).toMatchObject({ verdict: 'fail' });
    taken.close();
    await once(taken, 'close');
    expect((await environment(['--port', port, '--control-port', '0'])).code).toBe(0);
  });

  it('checks the default ports of serve when no URL is given', async () => {
    const { check } = await environment([]);
    expect([check('port 8080'), check('port 8081')]).not.toContain(undefined);
  });

  it('fails when nothing listens, and names a remedy', async () => {
    const { code, check } = await environment(['--url', 'http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(check('reachability')).toEqual({
      name: 'reachability',
      verdict: 'fail',
      found: '127.0.0.1:1: nothing listens there.',
      remedy: 'Check --url and that the server is running.',
    });
    expect(check('API')).toBeUndefined();
  });

  it('fails when the server at the URL does not speak HTTP', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined).end('hello\r\n'));
    const address = await listening(server);
    const { code, check } = await environment(['--url', `http://${address}`]);
    expect([code, check('API')?.verdict]).toEqual([1, 'fail']);
    expect(check('API')?.found).toContain('not an HTTP server');
    server.close();
  });

  it('stops waiting for a server that never answers', async () => {
    const server = createServer((socket) => socket.on('error', () => undefined));
    const address = await listening(server);
    const startMs = systemClock.monotonicMs();
    const { code, check } = await environment(['--url', `http://${address}`]);
    expect([code, check('API')?.verdict]).toEqual([1, 'fail']);
    expect(check('API')?.found).toContain('no response came in time');
    expect(systemClock.monotonicMs() - startMs).toBeLessThan(15_000);
    server.close();
  });

  it("warns about another service, and fails on a clock far from the server's", async () => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(404, { Date: 'Sat, 01 Jan 2000 00:00:00 GMT' }).end();
    });
    const address = await listening(server);
    const { code, check } = await environment(['--url', `http://${address}`]);
    expect(code).toBe(1);
    expect(check('API')).toMatchObject({ verdict: 'warn' });
    expect(check('clock')).toMatchObject({ verdict: 'fail' });
    server.close();
  });

  it('fails on an untrusted certificate until --ca names it', async () => {
    const front = await openTlsFront(serve.ready.baseUrl, systemClock.now());
    const args = ['--url', front.baseUrl];
    const refused = await environment(args);
    expect([refused.code, refused.check('TLS')?.verdict]).toEqual([1, 'fail']);
    expect(refused.check('TLS')?.found).toContain('self-signed');
    expect(refused.check('TLS')?.remedy).toContain('--ca FILE');
    const ca = fileOf('ca.pem', front.certificatePem);
    const trusted = await environment([...args, '--ca', ca]);
    expect([trusted.code, trusted.check('API')?.verdict]).toEqual([0, 'pass']);
    // The certificate was valid for one more day.
    expect(trusted.check('TLS')?.verdict).toBe('warn');
    const byNode = await environment(args, { NODE_EXTRA_CA_CERTS: ca });
    expect([byNode.code, byNode.check('trust')?.verdict]).toEqual([0, 'pass']);
    front.close();
  });

  it('fails when the URL is https:// and the server speaks plain HTTP', async () => {
    const url = serve.ready.baseUrl.replace('http:', 'https:');
    const { code, check } = await environment(['--url', url]);
    expect([code, check('TLS')?.verdict]).toEqual([1, 'fail']);
    expect(check('TLS')?.found).toContain('does not speak TLS');
  });

  it.each<[string, () => Record<string, string>, string]>([
    ['a file that is not there', () => ({ NODE_EXTRA_CA_CERTS: join(folder, 'none') }), 'fail'],
    ['a file without one', () => ({ NODE_EXTRA_CA_CERTS: fileOf('no-ca.pem', 'x') }), 'fail'],
    ['every certificate', () => ({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }), 'warn'],
  ])('reports whether it trusts %s', async (_, variables, verdict) => {
    const { check } = await environment(['--port', '0', '--control-port', '0'], variables());
    expect(check('trust')?.verdict).toBe(verdict);
  });

  it.each<[string[], number, RegExp]>([
    [['--devices', '0'], 2, /'--devices <count>' argument '0'/],
    [['--url', 'ftp://x'], 2, /'--url <url>' argument/],
    [['--port', '65536'], 2, /'--port <port>' argument/],
    [['--ca', '/nonexistent/ca.pem'], 3, /--ca cannot read/],
    [['more'], 2, /too many arguments/],
  ])('refuses %j', async (args, wanted, sentence) => {
    const { code, stdout, stderr } = await doctor('environment', ...args);
    expect({ code, stdout }).toEqual({ code: wanted, stdout: '' });
    expect(stderr).toMatch(sentence);
  });
});

describe('fleetbed doctor', () => {
  it('lists its two subcommands when none is given, and exits with 2', async () => {
    const { code, stderr } = await doctor();
    expect(code).toBe(2);
    expect(stderr).toMatch(/signature[\s\S]*environment/);
  });
});
