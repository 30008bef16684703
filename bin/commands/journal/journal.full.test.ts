import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRecording } from '../../../conformance/recordings/open-recording.ts';
import type { RecordedExchange } from '../../../conformance/recordings/recording.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  type CommandEnd,
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../../testing/built-command.ts';

const RUN_MAX_MS = 60_000;
const loginPath = '/api/management/v1/useradm/auth/login';
const listPath = '/api/management/v1/inventory/groups';
/** Control sequences for colours, a title and reversed text, which must not reach a terminal. */
const hostile = '\u001b]0;owned\u0007\u202e';

let server: RunningCommand;
let ready: ServerReady;
let folder: string;
let at: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-journal-'));
  ({ running: server, ready } = await startServe(['--journal-entries', '500']));
  at = ['--control-url', ready.controlUrl, '--control-token', ready.controlToken];
  const headers = { Authorization: `Bearer ${ready.adminToken}` };
  await fetch(`${ready.baseUrl}${listPath}?status=1`, { headers });
  await fetch(`${ready.baseUrl}/nothing?password=hidden`, { headers });
  const basic = Buffer.from(`${ready.adminEmail}:${ready.adminPassword}`).toString('base64');
  const login = { Authorization: `Basic ${basic}` };
  await fetch(ready.baseUrl + loginPath, { method: 'POST', headers: login });
  const json = { 'Content-Type': 'application/json' };
  const authRequests = `${ready.baseUrl}/api/devices/v1/authentication/auth_requests`;
  const body = JSON.stringify({ id_data: JSON.stringify({ mac: hostile }), pubkey: 'none' });
  await fetch(authRequests, { method: 'POST', headers: json, body });
}, RUN_MAX_MS);

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

function run(...args: string[]): Promise<CommandEnd> {
  return runCommand(args);
}

async function exchangesIn(file: string): Promise<RecordedExchange[]> {
  const exchanges: RecordedExchange[] = [];
  for await (const exchange of (await openRecording(file)).exchanges) exchanges.push(exchange);
  return exchanges;
}

describe('fleetbed journal', () => {
  it('prints one escaped line for each entry, without secrets', async () => {
    const { code, stdout } = await run('journal', ...at);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(4);
    expect(stdout).toMatch(/GET 404 {2}\/nothing\?password=\[masked\]/);
    expect(stdout).toMatch(/POST 200 {2}login/);
    expect(stdout).toContain('owned\\u0007\\u{202e}');
    expect(stdout).not.toContain('hidden');
    expect([...stdout].filter((character) => character < ' ' && character !== '\n')).toEqual([]);
  });

  it('applies filters, and reads its address from the environment', async () => {
    const environment = {
      FLEETBED_CONTROL_URL: ready.controlUrl,
      FLEETBED_CONTROL_TOKEN: ready.controlToken,
    };
    const { code, stdout } = await runCommand(
      ['journal', '--status', '404', '--json'],
      environment,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 404, path: '/nothing?password=[masked]' });
  });

  it('writes lines that fleetbed calendar can read', async () => {
    const { stdout } = await run('journal', ...at, '--json');
    const file = join(folder, 'journal.ndjson');
    const frame = '{"kind":"frame","at":"2026-01-31T12:00:00Z"}';
    writeFileSync(file, `${stdout}${frame}\n`);
    const exchanges = await exchangesIn(file);
    expect(exchanges.map(({ method, pathname, status }) => [method, pathname, status])).toEqual([
      ['GET', listPath, 200],
      ['GET', '/nothing', 404],
      ['POST', loginPath, 200],
      ['POST', '/api/devices/v1/authentication/auth_requests', 400],
    ]);
    expect(exchanges[3]?.requestBody()).toMatchObject({ pubkey: 'none' });
    expect((await run('calendar', '--json', file)).code).not.toBe(3);
  });

  it('saves an archive that fleetbed calendar can read', async () => {
    const file = join(folder, 'journal.har');
    const { code, stdout, stderr } = await run('journal', ...at, '--har', file);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^Wrote .*journal\.har\.$/m);
    const exchanges = await exchangesIn(file);
    expect(exchanges.map(({ status }) => status)).toEqual([200, 404, 200, 400]);
    expect(String(exchanges[3]?.requestBody())).toContain('"pubkey":"none"');
    expectHar(JSON.parse(readFileSync(file, 'utf8')));
  });

  it('exits with 0 when Ctrl-C arrives together with the first line', async () => {
    await (await fetch(`${ready.baseUrl}/seen-at-once`)).text();
    const following = startCommand(['journal', ...at, '--follow', '--text', 'seen-at-once']);
    await following.waitForOutput('stdout', /seen-at-once/);
    const { code, stderr } = await following.end('SIGINT');
    expect([code, stderr]).toEqual([0, '']);
  });

  it(
    'prints new entries until Ctrl-C',
    async () => {
      const read = async (path: string) => (await fetch(`${ready.baseUrl}${path}`)).text();
      await read('/followed/before');
      const args = ['--follow', '--after', '0', '--text', 'followed'];
      const following = startCommand(['journal', ...at, ...args]);
      expect(await following.waitForOutput('stdout', /before/)).toMatch(
        /GET 404 {2}\/followed\/before/,
      );
      await read('/followed/live');
      expect(await following.waitForOutput('stdout', /live/)).toMatch(
        /GET 404 {2}\/followed\/live/,
      );
      const { code, stderr } = await following.end('SIGINT');
      expect([code, stderr]).toEqual([0, '']);
    },
    RUN_MAX_MS,
  );
});

/** The members that HAR 1.2 requires of each object. */
function expectHar({ log }: { log: Record<string, unknown> & { entries: unknown[] } }): void {
  expect(log).toMatchObject({ version: '1.2', creator: { name: 'fleetbed', version: '1' } });
  expect(log.entries).toHaveLength(4);
  const pairs = expect.any(Array);
  for (const entry of log.entries) {
    expect(entry).toMatchObject({
      startedDateTime: expect.stringMatching(/^\d{4}-.*Z$/),
      time: expect.any(Number),
      cache: {},
      timings: { send: 0, wait: expect.any(Number), receive: expect.any(Number) },
      request: {
        method: expect.any(String),
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:/),
        httpVersion: 'HTTP/1.1',
        cookies: pairs,
        headers: pairs,
        queryString: pairs,
        headersSize: -1,
        bodySize: expect.any(Number),
      },
      response: {
        status: expect.any(Number),
        statusText: '',
        httpVersion: 'HTTP/1.1',
        cookies: pairs,
        headers: pairs,
        redirectURL: '',
        headersSize: -1,
        bodySize: expect.any(Number),
        content: { size: expect.any(Number), mimeType: expect.any(String) },
      },
    });
  }
}

describe('fleetbed journal --lint', () => {
  const next = '/api/devices/v1/deployments/device/deployments/next?artifact_name=a&device_type=b';

  it('exits with 0 and counts the requests of devices when it finds nothing', async () => {
    const { code, stdout } = await run(
      'journal',
      ...at,
      '--lint',
      '--until',
      '2020-01-01T00:00:00Z',
    );
    expect([code, stdout]).toEqual([0, 'The journal has no requests of devices.\n']);
    const last = await run('journal', ...at, '--limit', '1', '--json');
    const { sequence } = JSON.parse(last.stdout) as { sequence: number };
    await (
      await fetch(`${ready.baseUrl}${next}`, { headers: { authorization: 'Bearer x' } })
    ).text();
    const laterRun = await run('journal', ...at, '--lint', '--after', String(sequence));
    expect([laterRun.code, laterRun.stdout]).toEqual([0, 'No finding in 1 request of devices.\n']);
  });

  it('exits with 1, and prints five findings of a duty and the number of all', async () => {
    const last = await run('journal', ...at, '--limit', '1', '--json');
    const { sequence } = JSON.parse(last.stdout) as { sequence: number };
    for (let sent = 0; sent < 7; sent += 1) {
      await (await fetch(`${ready.baseUrl}${next}&access_token=hidden`)).text();
    }
    const { code, stdout } = await run('journal', ...at, '--lint', '--after', String(sequence));
    const lines = stdout.trimEnd().split('\n');
    expect(code).toBe(1);
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe(
      `${sequence + 1}  get-next-deployment  http.bearer (must): the token must be in a header, not in the parameter access_token`,
    );
    expect(lines[1]).toMatch(/^ {4}remedy: send "Authorization: Bearer TOKEN"/);
    expect(lines.at(-1)).toBe('7 findings in 7 requests of devices: http.bearer 7.');
    const asJson = await run('journal', ...at, '--lint', '--json', '--after', String(sequence));
    expect(asJson.stdout.trimEnd().split('\n')).toHaveLength(7);
  });

  it.each([['--status', '4xx'], ['--request-id', 'x'], ['--follow'], ['--har', 'x.har']])(
    'refuses %s, which hides requests of a device',
    async (...args) => {
      const { code, stderr } = await run('journal', ...at, '--lint', ...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`so ${args[0]} cannot be used`)]);
    },
  );
});

describe('fleetbed await', () => {
  it('exits with 0 and prints the awaited entries', async () => {
    const { code, stdout } = await run('await', ...at, '--after', '0', '--operation', 'login');
    expect(code).toBe(0);
    expect(stdout).toMatch(/POST 200 {2}login/);
  });

  it('exits with 1 at the timeout, and prints the entries that arrived', async () => {
    const args = ['--after', '0', '--operation', 'logout', '--timeout', '0'];
    const { code, stdout, stderr } = await run('await', ...at, ...args);
    expect(code).toBe(1);
    expect(stderr).toContain('no entry matched within 0 s');
    expect(stdout).toMatch(/GET 404 {2}\/followed/);
  });

  it('exits with 130 at Ctrl-C', async () => {
    const waiting = startCommand(['await', ...at, '--text', 'never', '--timeout', '10m']);
    const watch = ['journal', ...at, '--status', '418'];
    expect((await runCommand(watch)).code).toBe(0);
    expect([130, null]).toContain((await waiting.end('SIGINT')).code);
  });
});

describe('fleetbed assert', () => {
  it('exits with 0 and prints the verdict as a sentence', async () => {
    const { code, stdout } = await run('assert', ...at, 'operation=login,status=200');
    expect(code).toBe(0);
    expect(stdout).toBe('the tenant did: operation login and status 200.\n');
  });

  it('exits with 1 and prints the actual entries', async () => {
    const { code, stdout } = await run('assert', ...at, '--times', '1', 'rebooting', 'success');
    expect(code).toBe(1);
    expect(stdout).toContain('report success after report rebooting, once; ');
    expect(stdout).toContain('no operation 404 (');
  });

  it.each([
    [['done'], 2, 'must be one of'],
    [['a=b'], 2, 'happened.0.a'],
    [['='], 2, 'Accepted: a status such as success'],
    [['--times', '-1', 'success'], 2, '--times'],
    [[], 2, 'step'],
  ])('refuses %j with exit code %d', async (args, code, reason) => {
    const ended = await run('assert', ...at, ...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(reason);
  });
});

describe('the commands of the journal', () => {
  it.each([
    [['journal', '--status', '99'], 2, 'status: must be a status such as 404'],
    [['journal', '--limit', '501'], 2, '--limit'],
    [['journal', '--kind', 'none'], 2, '--kind'],
    [['journal', '--since', 'yesterday'], 2, '--since'],
    [['journal', '--after', 'x'], 2, '--after'],
    [['journal', '--follow', '--har', 'x.har'], 2, "cannot be used with option '--follow'"],
    [['journal', '--tenant', 'none'], 3, 'no tenant has this ID or name'],
    [['journal', '--har', '/nowhere/x.har'], 3, 'cannot write'],
    [['await', '--count', '0'], 2, '--count'],
    [['await', '--timeout', '11m'], 2, 'timeoutSeconds: must be at most 600'],
    [['assert', '--tenant', 'none', 'success'], 3, 'no tenant has this ID or name'],
  ])('refuse the arguments %j', async (args, code, reason) => {
    const ended = await run(...args, ...at);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(reason);
    expect(ended.stdout).toBe('');
  });

  it.each(['journal', 'await'])('need a token and a running server: %s', async (command) => {
    const without = await run(command, '--control-url', 'http://127.0.0.1:1');
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('-token (env')]);
    const wrong = await run(command, '--control-url', ready.controlUrl, '--control-token', 'wrong');
    expect([wrong.code, wrong.stderr]).toEqual([
      3,
      expect.stringContaining('check --control-token'),
    ]);
    const nobody = await run(
      command,
      '--control-url',
      'http://127.0.0.1:1',
      '--control-token',
      'any',
    );
    expect([nobody.code, nobody.stderr]).toEqual([
      3,
      expect.stringContaining('check --control-url'),
    ]);
  });

  it('report an address that is not a control listener', async () => {
    const { code, stderr } = await run(
      'journal',
      '--control-url',
      ready.baseUrl,
      '--control-token',
      'any',
    );
    expect(code).toBe(3);
    expect(stderr).toContain('404');
  });
});

describe('fleetbed serve with options for the journal', () => {
  it.each([
    [['--journal-entries', '-1'], '--journal-entries'],
    [['--journal-entries', '1000001'], 'from 0 to 1000000'],
    [['--journal-bytes', '1'], 'from 65536'],
  ])('refuses %j with exit code 2', async (args, reason) => {
    const { code, stderr } = await run('serve', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
  });
});
