import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CaseListing, ConformanceResult } from '../../../conformance/conformance.ts';
import { runBlock } from '../../../conformance/testing/bash.ts';
import { serve } from '../../../conformance/testing/stub-server.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import { type RunningCommand, runCommand, startServe } from '../../testing/built-command.ts';

let server: RunningCommand;
let ready: ServerReady;
let folder: string;

beforeAll(async () => {
  ({ running: server, ready } = await startServe());
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-conform-'));
});

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

const conform = (...args: string[]) => runCommand(['conform', '--url', ready.baseUrl, ...args]);

describe('fleetbed conform --list', () => {
  it('lists the cases without access to a server', async () => {
    const { code, stdout } = await runCommand(['conform', '--list', '--url', 'http://127.0.0.1:1']);
    expect(code).toBe(0);
    expect(stdout).toContain('authentication/');
    expect(stdout).toMatch(/\d{3} cases\n$/);
  });

  it('lists the cases whose IDs begin with a given word, optionally as JSON', async () => {
    const { code, stdout } = await runCommand([
      'conform',
      '--list',
      '--json',
      'errors/',
      'monitor/',
    ]);
    expect(code).toBe(0);
    const areas = (JSON.parse(stdout) as CaseListing[]).map(({ id }) => id.split('/')[0]);
    expect(new Set(areas)).toEqual(new Set(['errors', 'monitor']));
  });
});

describe('the subcommands of fleetbed conform', () => {
  it.each([
    ['cleanup', '<ledger>'],
    ['rerun', '<report>'],
    ['compare', '<earlier>'],
    ['self-test', '[defect...]'],
  ])('show in %s --help only their own options and arguments', async (name, word) => {
    const { code, stdout } = await runCommand(['conform', name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: fleetbed conform ${name} `);
    expect(stdout).toContain(word);
  });

  it('show their options in groups, with examples', async () => {
    const { stdout } = await runCommand(['conform', '--help']);
    const headings = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(expect.arrayContaining(['Target', 'Load', 'Reports', 'Examples']));
  });

  it.each([
    [['conform', 'rerun', 'report.json', '--dry-run'], "unknown option '--dry-run'"],
    [['conform', 'cleanup'], "missing required argument 'ledger'"],
    [['conform', 'compare', 'a'], "missing required argument 'later'"],
    [['conform', '--disruptive', '--read-only'], "cannot be used with option '--disruptive'"],
    [['conform', '--jobs', '0'], 'from 1 to 32'],
    [['conform', '--rate', '0/s'], 'above zero'],
    [['conform', '--case-time-limit', '0'], 'above zero'],
  ])('refuse the arguments %j with one line', async (args, sentence) => {
    const { code, stderr } = await runCommand(args);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('fleetbed conform', () => {
  it('runs the selected cases, writes both reports and prints "pass"', async () => {
    const [json, junit] = [join(folder, 'report.json'), join(folder, 'report.xml')];
    const reports = ['--report', `json=${json}`, '--report', `junit=${junit}`];
    const args = ['--password', ready.adminPassword, 'deployment-status/'];
    const { code, stdout, stderr } = await conform('--json', ...reports, ...args);
    expect(code, stderr).toBe(0);
    const result = JSON.parse(stdout) as ConformanceResult;
    expect(result.outcome).toBe('pass');
    expect(result.verdicts.every(({ id }) => id.startsWith('deployment-status/'))).toBe(true);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toEqual(result);
    const cases = readFileSync(junit, 'utf8').match(/<testcase /g);
    expect(cases).toHaveLength(result.verdicts.length);
    expect(stderr).toContain(`suite: ${result.verdicts.length} of ${result.verdicts.length} cases`);
  });

  it('ends with exit code 1 and shows the evidence when a case fails', async () => {
    const args = ['--token', ready.adminToken, '--header-prefix', 'X-MEN', 'errors/request-id'];
    const { code, stdout, stderr } = await conform(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/suite: fail +errors\/request-id/);
    expect(stdout).toMatch(/Failed[\s\S]*expected[\s\S]*actual[\s\S]*> POST http/);
  });

  it.each([
    [['--list', 'errors/', 'erors/'], /no case has an ID .*"erors\/" \(nearest: errors\/, /],
    [['--anonymous', 'errors/', 'erors/'], /no case has an ID .*"erors\/" \(nearest: errors\/, /],
    [['--dry-run', '--anonymous', 'no-such-case'], /"no-such-case" \(nearest: /],
    [['--anonymous', ''], /the ID of a case is empty; leave it out to select every case/],
    [['self-test', '--cases', 'erors/'], /"erors\/" \(nearest: errors\/, /],
    [['self-test', 'report-is-201'], /no defect has an ID .*\(nearest: report-is-200, /],
  ])('refuses the unknown ID in %j before any request', async (args, sentence) => {
    const { code, stderr } = await runCommand(['conform', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(sentence)]);
  });

  it('keeps the password and the tokens out of all output and files', async () => {
    const json = join(folder, 'masked.json');
    const args = ['--password', ready.adminPassword, '--report', `json=${json}`, 'audit-log/'];
    const { stdout, stderr } = await conform('--json', ...args);
    for (const text of [stdout, stderr, readFileSync(json, 'utf8')]) {
      expect(text).not.toContain(ready.adminPassword);
      expect(text).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
    }
  });

  it('runs cases without a user with --anonymous, and lists the remaining resources', async () => {
    const args = ['--json', '--anonymous', 'authentication/', 'monitor/'];
    const { code, stdout, stderr } = await conform(...args);
    expect(stderr).toContain('devices stay pending on the target');
    expect(stderr).toMatch(/left behind: \d/);
    const { totals } = JSON.parse(stdout) as ConformanceResult;
    expect(totals).toMatchObject({ fail: 0, error: 0 });
    expect(totals.skip).toBeGreaterThan(0);
    expect(code).toBe(totals.inconclusive > 0 || totals.pass === 0 ? 4 : 0);
  });
});

describe('fleetbed conform in a pipeline', () => {
  const two = ['authentication/first-contact-is-401', 'errors/error-says-why'];
  const run = (args: readonly string[], environment: Readonly<Record<string, string>>) =>
    runCommand(['conform', ...args], {
      ...elsewhere,
      FLEETBED_URL: ready.baseUrl,
      ...environment,
    });
  /** The environment of a user who has not started the server, and so has no run file of it. */
  let elsewhere: Readonly<Record<string, string>>;
  beforeAll(() => {
    elsewhere = { XDG_RUNTIME_DIR: folder, XDG_STATE_HOME: folder };
  });

  it.each([
    ['--url', () => ready.baseUrl],
    ['--control-url', () => ready.controlUrl],
  ])(
    'needs only %s to find the user and the control listener of a server on this machine',
    async (name, url) => {
      const args = [name, url(), 'time/expired-token-is-refused'];
      const { code, stdout, stderr } = await runCommand(['conform', ...args]);
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('pass: 1 case passed');
    },
  );

  it('is refused without a user, even with a control token in the environment', async () => {
    const { code, stdout, stderr } = await run(two, { FLEETBED_CONTROL_TOKEN: 'of another' });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^fleetbed: conform needs a user: give --password .+ --anonymous .+\n$/);
  });

  it('reads the user from the environment, and prints ten lines for two cases', async () => {
    const environment = {
      FLEETBED_EMAIL: ready.adminEmail,
      FLEETBED_PASSWORD: ready.adminPassword,
    };
    const { code, stdout, stderr } = await run(two, environment);
    expect(code, stderr).toBe(0);
    const lines = `${stderr}${stdout}`.split('\n').filter((line) => line !== '');
    expect(lines).toHaveLength(10);
    expect(stdout).toMatch(/\d+ requests, \d+\/s; created and removed: 1 device\n/);
    expect(lines.at(-1)).toBe('pass: 2 cases passed');
  });

  it.each([
    ['--token', { FLEETBED_PASSWORD: 'wrong' }],
    ['FLEETBED_TOKEN', { FLEETBED_PASSWORD: 'wrong' }],
    ['--password', { FLEETBED_TOKEN: 'wrong' }],
  ])('uses %s instead of %j', async (name, otherVariables) => {
    const { adminToken, adminPassword } = ready;
    const value = name === '--password' ? adminPassword : adminToken;
    const given = name.startsWith('--') ? [name, value] : [];
    const environment = name.startsWith('--')
      ? otherVariables
      : { ...otherVariables, [name]: value };
    const { code, stderr } = await run([...given, 'errors/error-says-why'], environment as never);
    expect(code, stderr).toBe(0);
  });

  it('states in the last line what --require-all-must still needs', async () => {
    const args = ['--password', ready.adminPassword, '--require-all-must'];
    const { code, stdout } = await run([...args, 'time/expired-token-is-refused'], {});
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      /^fail: \d+ MUSTs not tested \(.*1 needs --control-url.*\); first: \S+ \(MUST\)/,
    );
    expect(lines.at(-1)).toBe(lines[0]);
  });

  it('ends with exit code 3 and one sentence at a server without this API', async () => {
    const nowhere = ['--url', `${ready.baseUrl}/nowhere`];
    const { code, stdout, stderr } = await run([...nowhere, '--token', 'any'], {});
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^fleetbed: http:\S+ answers 404 .*this is not the device API[^\n]*\n$/);
  });
});

describe('fleetbed conform --dry-run', () => {
  const nowhere = ['conform', '--dry-run', '--json', '--url', 'http://127.0.0.1:1'];

  it('lists the cases to run and to skip and the resources, and sends no request', async () => {
    const args = ['--password', 'correct horse', '--rate', '20/s', 'deployment-log/', 'time/'];
    const { code, stdout, stderr } = await runCommand([...nowhere, ...args]);
    expect(code, stderr).toBe(0);
    const plan = JSON.parse(stdout);
    expect(plan.selected.length).toBeGreaterThan(3);
    expect(plan.skipped[0].reason).toContain('does not offer');
    expect(plan.madeAtMost.device).toBeGreaterThanOrEqual(plan.madeAtMost.deployment);
    expect(plan.madeAtMost.artifact).toBe(1);
    expect(plan.footprint.requests).toBeGreaterThan(100);
    expect(plan.footprint.userChanges).toBeGreaterThan(plan.madeAtMost.deployment);
    expect(stderr).toMatch(/requests, at --rate at least \d+ s\n/);
    expect(stderr).toMatch(
      /left on the server \(the API has no delete\): \d+ deployments \(ended\), \d/,
    );
  });

  it('lists no resources with --read-only, and exits with 4 when no case is left', async () => {
    const args = ['--password', 'correct horse', '--read-only', 'deployment-log/'];
    const { code, stdout } = await runCommand([...nowhere, ...args]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ selected: [], madeAtMost: {} });
  });
});

describe('fleetbed conform with stricter conditions', () => {
  it('fails with --require-all-must and lists each undecided MUST', async () => {
    const args = ['--password', ready.adminPassword, '--require-all-must', 'deployment-log/'];
    const { code, stdout } = await conform(...args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\S+ \(MUST\) was not tested: no case that tests it was selected/);
  });

  it('passes when a waiver covers the only case that fails, in every format of report', async () => {
    const id = 'errors/request-id-of-the-caller';
    const row = { id, reason: 'ticket 7', owner: 'Ada', expires: '2999-01-01' };
    const file = join(folder, 'known.yaml');
    writeFileSync(file, JSON.stringify({ waivers: [row] }));
    const [junit, html] = [join(folder, 'known.xml'), join(folder, 'known.html')];
    const reports = ['--report', `junit=${junit}`, '--report', `html=${html}`];
    const args = ['--token', ready.adminToken, '--header-prefix', 'X-MEN', ...reports, id];
    expect((await conform(...args)).code).toBe(1);
    const { code, stdout, stderr } = await conform('--json', '--waivers', file, ...args);
    expect(code, stderr).toBe(0);
    const result = JSON.parse(stdout) as ConformanceResult;
    expect(result).toMatchObject({ outcome: 'pass', waived: 1, totals: { fail: 1 } });
    expect(result.headline).toBe('pass: 0 cases passed, 1 waived');
    expect(stderr).toContain('1 of these waived');
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuites tests="1" failures="0" errors="0"/);
    expect(readFileSync(html, 'utf8')).toContain('"waived":1');
  });

  it('fails on an unnecessary waiver, and refuses an unreadable waiver file', async () => {
    const file = join(folder, 'waivers.yaml');
    const row = {
      id: 'errors/error-says-why',
      reason: 'r',
      owner: 'Ada',
      expires: '2999-01-01',
    };
    writeFileSync(file, JSON.stringify({ waivers: [row] }));
    const args = ['--password', ready.adminPassword, '--waivers', file, 'errors/error-says-why'];
    const needless = await conform(...args);
    expect([needless.code, needless.stdout]).toEqual([
      1,
      expect.stringContaining('is no longer needed'),
    ]);
    writeFileSync(file, JSON.stringify({ waivers: [{ ...row, id: 'errors/error-say-why' }] }));
    const unknown = await conform(...args);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(
      /1:\d+ "errors\/error-say-why" \(nearest: errors\/error-says-why, /,
    );
    writeFileSync(file, 'waivers:\n  - id: 7\n');
    const wrong = await conform(...args);
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toMatch(/waivers\.yaml:2:5 waivers\.0\.reason: is required/);
  });
});

describe('fleetbed conform against a server that accepts devices automatically', () => {
  it('ends with exit code 3 and one sentence, and leaves nothing', async () => {
    const { running, ready: own } = await startServe(['--auto-accept']);
    const ledger = join(folder, 'auto-accept.ledger');
    const user = ['--email', own.adminEmail, '--password', own.adminPassword, '--ledger', ledger];
    const args = ['authentication/', 'monitor/', '--url', own.baseUrl, ...user];
    const { code, stdout, stderr } = await runCommand(['conform', ...args]);
    const headers = { Authorization: `Bearer ${own.adminToken}` };
    const devices = await fetch(`${own.baseUrl}/api/management/v2/devauth/devices`, { headers });
    expect(await devices.json()).toEqual([]);
    await running.end();
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('accepts new devices automatically');
    expect(stderr).toMatch(/start it without --auto-accept\)\.?\n$/);
    expect(stderr).not.toContain('inconclusive');
    expect(existsSync(ledger)).toBe(false);
  });
});

describe('a report that names repro scripts', () => {
  it('has a command for each failure, which ends with exit code 1 and leaves no file', async () => {
    const scripts = join(folder, 'scripts');
    const url = await serve((_, response) => {
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"no"}');
    });
    const args = ['authentication/first-contact-is-401', '--scripts', scripts, '--anonymous'];
    const ran = await runCommand(['conform', '--url', url, ...args]);
    expect(ran.code, ran.stdout + ran.stderr).toBe(1);
    const [, command = ''] = /repro {5}(bash .*)/.exec(ran.stdout) ?? [];
    expect(command).toBe(`bash ${join(scripts, 'authentication.first-contact-is-401.sh')}`);
    const again = await runBlock(command, folder, { TMPDIR: scripts });
    expect(again.code, again.stdout + again.stderr).toBe(1);
    expect(again.stdout).toMatch(/expected status 401, actual status 400\n\nreproduced\n$/);
    expect(readdirSync(scripts)).toHaveLength(1);
  });

  it('needs a folder that can be written', async () => {
    const file = join(folder, 'a-file');
    writeFileSync(file, '');
    const { code, stderr } = await conform('--anonymous', '--scripts', file);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^fleetbed: --scripts cannot use .*; choose another file\.$/m);
  });
});
