import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CaseListing, ConformanceResult } from '../conformance/conformance.ts';
import type { ServerReady } from './ready.ts';
import { type RunningCommand, runCommand, startServe } from './testing/built-command.ts';

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

const conform = (...words: string[]) =>
  runCommand(['conform', '--base-url', ready.baseUrl, ...words]);

describe('fleetbed conform --list', () => {
  it('lists the cases without any server', async () => {
    const { code, stdout } = await runCommand([
      'conform',
      '--list',
      '--base-url',
      'http://127.0.0.1:1',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('authentication/');
    expect(stdout).toMatch(/\d{3} cases\n$/);
  });

  it('lists those whose ids begin with one of the words, as JSON too', async () => {
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
    ['replay', '<report>'],
    ['compare', '<a>'],
    ['self-test', '[defect...]'],
  ])('%s has options and words of its own', async (name, word) => {
    const { code, stdout } = await runCommand(['conform', name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: fleetbed conform ${name} `);
    expect(stdout).toContain(word);
  });

  it.each([
    [['conform', 'cleanup'], "missing required argument 'ledger'"],
    [['conform', 'compare', 'a'], "missing required argument 'b'"],
    [['conform', '--disruptive', '--read-only'], "cannot be used with option '--disruptive'"],
    [['conform', '--jobs', '0'], 'from 1 to 32'],
    [['conform', '--rate', '0/s'], 'above zero'],
    [['conform', '--case-time-limit', '0'], 'above zero'],
  ])('%j is refused in one line', async (words, sentence) => {
    const { code, stderr } = await runCommand(words);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('fleetbed conform', () => {
  it('plays the selected cases, writes both reports and says pass', async () => {
    const [json, junit] = [join(folder, 'report.json'), join(folder, 'report.xml')];
    const reports = ['--report', `json=${json}`, '--report', `junit=${junit}`];
    const words = ['--password', ready.adminPassword, 'deployment-status/'];
    const { code, stdout, stderr } = await conform('--json', ...reports, ...words);
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
    const words = ['--token', ready.adminToken, '--header-prefix', 'X-MEN', 'errors/request-id'];
    const { code, stdout, stderr } = await conform(...words);
    expect(code).toBe(1);
    expect(stderr).toMatch(/suite: fail +errors\/request-id/);
    expect(stdout).toMatch(/Failed[\s\S]*expected[\s\S]*saw[\s\S]*> POST http/);
  });

  it('names a beginning that no case has', async () => {
    const { code, stderr } = await conform('--list', 'errors/', 'erors/');
    expect(code).toBe(0);
    expect(stderr).toContain('no case id begins with "erors/"');
    expect(stderr).not.toContain('"errors/"');
  });

  it('keeps the password and the tokens out of everything it writes', async () => {
    const json = join(folder, 'masked.json');
    const words = ['--password', ready.adminPassword, '--report', `json=${json}`, 'audit-log/'];
    const { stdout, stderr } = await conform('--json', ...words);
    for (const text of [stdout, stderr, readFileSync(json, 'utf8')]) {
      expect(text).not.toContain(ready.adminPassword);
      expect(text).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
    }
  });

  it('plays what needs no user without credentials, and says that the rest is skipped', async () => {
    const { code, stdout, stderr } = await conform('--json', 'authentication/', 'monitor/');
    expect(stderr).toContain('neither --password nor --token');
    const { totals } = JSON.parse(stdout) as ConformanceResult;
    expect(totals).toMatchObject({ fail: 0, error: 0 });
    expect(totals.skip).toBeGreaterThan(0);
    expect(code).toBe(totals.inconclusive > 0 || totals.pass === 0 ? 4 : 0);
  });
});

describe('fleetbed conform --dry-run', () => {
  const nowhere = ['conform', '--dry-run', '--json', '--base-url', 'http://127.0.0.1:1'];

  it('tells what would be played, skipped and made, and asks the target nothing', async () => {
    const words = ['--password', 'correct horse', 'deployment-log/', 'time/'];
    const { code, stdout, stderr } = await runCommand([...nowhere, ...words]);
    expect(code, stderr).toBe(0);
    const plan = JSON.parse(stdout);
    expect(plan.played.length).toBeGreaterThan(3);
    expect(plan.skipped[0].because).toContain('does not offer');
    expect(plan.madeAtMost.device).toBeGreaterThanOrEqual(plan.madeAtMost.deployment);
    expect(plan.madeAtMost.artifact).toBe(1);
  });

  it('makes nothing of what is only read, and says when nothing would be played', async () => {
    const words = ['--password', 'correct horse', '--read-only', 'deployment-log/'];
    const { code, stdout } = await runCommand([...nowhere, ...words]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ played: [], madeAtMost: {} });
  });
});

describe('fleetbed conform with demands', () => {
  it('that decides nothing is not green', async () => {
    const { code } = await conform('no-such-case');
    expect(code).toBe(4);
  });

  it('fails with --require-all-must on each must that was not decided', async () => {
    const words = ['--password', ready.adminPassword, '--require-all-must', 'deployment-log/'];
    const { code, stdout } = await conform(...words);
    expect(code).toBe(1);
    expect(stdout).toMatch(/the must \S+ was not decided: no case of it was selected/);
  });

  it('fails on a waiver that is needless, and refuses one that cannot be read', async () => {
    const file = join(folder, 'waivers.yaml');
    const row = {
      check: 'errors/error-says-why',
      reason: 'r',
      owner: 'Ada',
      expires: '2999-01-01',
    };
    writeFileSync(file, JSON.stringify({ waivers: [row] }));
    const words = ['--password', ready.adminPassword, '--waivers', file, 'errors/error-says-why'];
    const needless = await conform(...words);
    expect([needless.code, needless.stdout]).toEqual([1, expect.stringContaining('is needless')]);
    writeFileSync(file, 'waivers:\n  - check: 7\n');
    const wrong = await conform(...words);
    expect(wrong.code).toBe(3);
    expect(wrong.stderr).toMatch(/waivers\.yaml:2:5 waivers\.0\.reason: is required/);
  });
});
