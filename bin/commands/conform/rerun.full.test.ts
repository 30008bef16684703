import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConformanceResult } from '../../../conformance/conformance.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../../testing/built-command.ts';

const failing = 'errors/request-id';

let servers: RunningCommand[];
let ready: ServerReady;
let otherReady: ServerReady;
/** A report that fails, because it states the wrong header prefix, and a report that passes. */
let failedReport: string;
let passedReport: string;

beforeAll(async () => {
  const [first, second] = [await startServe(), await startServe(['--header-prefix', 'X-MEN'])];
  servers = [first.running, second.running];
  ready = first.ready;
  otherReady = second.ready;
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-rerun-'));
  failedReport = join(folder, 'bad.json');
  passedReport = join(folder, 'good.json');
  const run = (report: string, ...args: string[]) =>
    runCommand(['conform', ...who(ready), '--report', `json=${report}`, ...args, failing]);
  expect((await run(failedReport, '--header-prefix', 'X-MEN')).code).toBe(1);
  expect((await run(passedReport)).code).toBe(0);
});

afterAll(async () => {
  for (const server of servers ?? []) await server.end();
});

function who({ baseUrl, adminPassword }: ServerReady): readonly string[] {
  return ['--url', baseUrl, '--password', adminPassword];
}

function resultIn(path: string): ConformanceResult {
  return JSON.parse(readFileSync(path, 'utf8'));
}

const failuresOf = ({ verdicts }: ConformanceResult) =>
  verdicts.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);

describe('fleetbed conform rerun', () => {
  const rerun = (...args: string[]) => runCommand(['conform', 'rerun', ...args]);

  it('repeats only the failed cases, on the same target and with the same seed', async () => {
    const again = join(tmpdir(), `fleetbed-again-${process.pid}.json`);
    const password = ['--password', ready.adminPassword];
    const { code, stdout } = await rerun(failedReport, ...password, '--report', `json=${again}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/still failing {2}errors\/request-id[\s\S]*0 fixed\n$/);
    const [before, after] = [resultIn(failedReport), resultIn(again)];
    expect(after.verdicts.map(({ id }) => id)).toEqual(failuresOf(before));
    expect(after.seed).toBe(before.seed);
    expect(after.target).toEqual(before.target);
  });

  it('reports the failures as fixed once the header prefix is right', async () => {
    const args = ['--header-prefix', 'X-SVC', '--password', ready.adminPassword, '--json'];
    const { code, stdout } = await rerun(failedReport, ...args);
    expect(code).toBe(0);
    const rows = JSON.parse(stdout) as { id: string; end: string }[];
    expect(rows.map(({ id }) => id)).toEqual(failuresOf(resultIn(failedReport)));
    expect(new Set(rows.map(({ end }) => end))).toEqual(new Set(['fixed']));
  });

  it('can repeat the failed cases against another target', async () => {
    const { code, stdout } = await rerun(failedReport, ...who(otherReady));
    expect(code).toBe(0);
    expect(stdout).toMatch(/0 still failing, 0 waived, 0 other, \d+ fixed/);
  });

  it('tolerates waived failures, and fails on an unnecessary waiver', async () => {
    const file = join(tmpdir(), `fleetbed-waivers-${process.pid}.json`);
    const facts = { reason: 'the prefix is another one', owner: 'Ada', expires: '2999-01-01' };
    const waive = (checks: readonly string[]) => {
      const waivers = checks.map((check) => ({ id: check, ...facts }));
      writeFileSync(file, JSON.stringify({ waivers }));
      return ['--waivers', file, '--password', ready.adminPassword];
    };
    const failures = failuresOf(resultIn(failedReport));
    const waived = await rerun(failedReport, ...waive(failures));
    expect(waived.code, waived.stderr).toBe(0);
    expect(waived.stdout).toContain(`0 still failing, ${failures.length} waived, 0 other, 0 fixed`);
    const part = await rerun(failedReport, ...waive(failures.slice(1)));
    expect(part.code).toBe(1);
    expect(part.stdout).toContain(`1 still failing, ${failures.length - 1} waived`);
    const corrected = await rerun(failedReport, ...waive(failures), '--header-prefix', 'X-SVC');
    expect([corrected.code, corrected.stdout]).toEqual([
      1,
      expect.stringContaining('is no longer needed'),
    ]);
  });

  it('is inconclusive when the suite no longer has a case', async () => {
    const path = join(tmpdir(), `fleetbed-gone-${process.pid}.json`);
    const report = resultIn(failedReport);
    const [first, ...rest] = report.verdicts.filter(({ verdict }) => verdict === 'fail');
    const gone = { ...first, id: 'errors/no-such-case' };
    writeFileSync(path, JSON.stringify({ ...report, verdicts: [gone, ...rest] }));
    const args = ['--header-prefix', 'X-SVC', '--password', ready.adminPassword];
    const { code, stdout } = await rerun(path, ...args);
    expect(code).toBe(4);
    expect(stdout).toContain('the suite no longer has this case');
  });

  it.each([
    [
      'before its first case',
      0,
      /^fleetbed: interrupted before the first case; nothing was created/m,
    ],
    ['within a case', 2, /.*/],
  ])('ends with exit code 130 at Ctrl-C %s', async (_, answered, said) => {
    // The target refuses the first request as the API does, then lists no devices, then hangs.
    const responses = [
      [401, '{"error":"no signature","request_id":"1"}'],
      [200, '[]'],
    ] as const;
    let requests = 0;
    const target = createServer((_request, response) => {
      const planned = requests < answered ? responses[requests] : undefined;
      requests += 1;
      if (!planned) return void target.emit('held');
      response.writeHead(planned[0], { 'content-type': 'application/json' }).end(planned[1]);
    });
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    const { port } = target.address() as AddressInfo;
    const args = ['--url', `http://127.0.0.1:${port}`, '--token', 'any', '--no-probe'];
    const running = startCommand(['conform', 'rerun', failedReport, ...args]);
    try {
      await once(target, 'held');
      const { code, stdout, stderr } = await running.end('SIGINT');
      expect([code, stderr]).toEqual([130, expect.stringMatching(said)]);
      expect(/interrupted/.test(stdout)).toBe(answered > 0);
    } finally {
      target.closeAllConnections();
      target.close();
    }
  });

  it('has nothing to repeat after a run without failures', async () => {
    const { code, stdout } = await rerun(passedReport);
    expect(code).toBe(0);
    expect(stdout).toContain('nothing to rerun');
  });

  it.each([
    ['no JSON at all', 'is not JSON'],
    ['{"testsuites":[]}', 'is not a conformance report'],
    ['{"schema":"fleetbed-conformance/1"}', 'is a report of schema fleetbed-conformance/1'],
    ['{"schema":"fleetbed-conformance/2"}', 'is a damaged report: suite is not'],
  ])('refuses %s in one sentence', async (text, sentence) => {
    const path = join(tmpdir(), `fleetbed-foreign-${process.pid}.json`);
    writeFileSync(path, text);
    const { code, stdout, stderr } = await rerun(path);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(`REPORT: ${path} ${sentence}`);
  });
});

describe('fleetbed conform compare', () => {
  const compare = (...args: string[]) => runCommand(['conform', 'compare', ...args]);

  it('fails on a regression and names the case', async () => {
    const { code, stdout } = await compare(passedReport, failedReport);
    expect(code).toBe(1);
    expect(stdout).toMatch(/Regressions\n {2}errors\/request-id[\s\S]*before {2}pass/);
  });

  it('passes on a repaired case, also as JSON', async () => {
    expect((await compare(failedReport, passedReport)).code).toBe(0);
    const { code, stdout } = await compare(failedReport, passedReport, '--json');
    expect(code).toBe(0);
    const { changes } = JSON.parse(stdout) as { changes: { kind: string }[] };
    const kinds = changes.map(({ kind }) => kind);
    expect(kinds).toContain('repair');
    expect(kinds).not.toContain('regression');
  });

  it('passes on two identical reports', async () => {
    const { code, stdout } = await compare(failedReport, failedReport);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^0 regressions, 0 no longer tested.* 0 new, 0 removed/m);
  });

  it('names the file that is not a report', async () => {
    const { code, stderr } = await compare(passedReport, '/dev/null');
    expect(code).toBe(3);
    expect(stderr).toContain('LATER cannot read /dev/null: it is a device');
  });
});
