import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../../testing/built-command.ts';

type Line = Readonly<Record<string, unknown>>;

let server: RunningCommand;
let ready: ServerReady;
let folder: string;

beforeAll(async () => {
  ({ running: server, ready } = await startServe());
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-lines-'));
});

afterAll(() => server.end());

const args = () => ['conform', '--url', ready.baseUrl, '--password', ready.adminPassword];

function linesOf(text: string): readonly Line[] {
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('fleetbed conform --ndjson', () => {
  it('writes the start, each verdict and the end as one whole line each', async () => {
    const path = join(folder, 'run.ndjson');
    const { code } = await runCommand([...args(), '--ndjson', path, 'errors/', 'monitor/']);
    expect(code).toBe(0);
    const lines = linesOf(readFileSync(path, 'utf8'));
    const [start, end] = [lines[0], lines.at(-1)];
    expect(start).toMatchObject({ type: 'start', schema: 'fleetbed-conformance/2' });
    const verdicts = lines.slice(1, -1);
    expect(verdicts.every(({ type }) => type === 'verdict')).toBe(true);
    expect(new Set(verdicts.map(({ id }) => id))).toEqual(new Set(start?.ids as string[]));
    expect(end).toMatchObject({ type: 'end', outcome: 'pass', runId: start?.runId });
    expect(end).not.toHaveProperty('verdicts');
  });

  it('writes nothing else to standard output when the file is "-"', async () => {
    const { stdout, stderr } = await runCommand([...args(), '--ndjson', '-', 'errors/']);
    expect(linesOf(stdout).at(-1)).toMatchObject({ type: 'end' });
    expect(stderr).toMatch(/^pass: \d+ cases passed/m);
  });

  it('leaves only whole lines when the run is killed', async () => {
    const path = join(folder, 'killed.ndjson');
    const running = startCommand([...args(), '--jobs', '1', '--ndjson', path]);
    await running.waitForOutput('stderr', /suite: 50 of/);
    await running.end('SIGKILL');
    const lines = linesOf(readFileSync(path, 'utf8'));
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.some(({ type }) => type === 'end')).toBe(false);
  });

  it('ends at Ctrl-C with whole lines and reports, a clean target and exit code 130', async () => {
    const [lines, json, junit] = ['stopped.ndjson', 'stopped.json', 'stopped.xml'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    const reports = ['--report', `json=${json}`, '--report', `junit=${junit}`];
    const running = startCommand([...args(), '--json', '--ndjson', lines, ...reports]);
    await running.waitForOutput('stderr', /suite: 50 of/);
    const { code, stdout, stderr } = await running.end('SIGINT');
    expect(code, stderr).toBe(130);
    const result = JSON.parse(stdout);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toEqual(result);
    expect(stderr).toMatch(/^ {2}\d+ cases: the run was interrupted before this case/m);
    expect(stderr.split('\n').length).toBeLessThan(200);
    expect(readFileSync(junit, 'utf8')).toMatch(/<\/testsuites>\s*$/);
    const [, ...otherLines] = linesOf(readFileSync(lines, 'utf8'));
    expect(otherLines).toHaveLength(result.verdicts.length + 1);
    expect(otherLines.at(-1)).toMatchObject({ type: 'end', runId: result.runId });
    expect(result.leftBehind).toEqual([]);
    expect(stderr).not.toContain('fleetbed cleanup');
  });

  it('reports an unwritable file before the run starts', async () => {
    const path = join(folder, 'nowhere', 'run.ndjson');
    const { code, stderr } = await runCommand([...args(), '--ndjson', path]);
    expect(code).toBe(3);
    expect(stderr).toContain(`--ndjson cannot write ${path}`);
  });

  it('refuses to share standard output with --json', async () => {
    const { code, stderr } = await runCommand([...args(), '--ndjson', '-', '--json']);
    expect(code).toBe(2);
    expect(stderr).toContain('--ndjson - and --json both write to standard output');
  });
});

describe('fleetbed conform --report html=FILE', () => {
  it('writes a single page, and --schema prints the schema of the JSON report', async () => {
    const page = join(folder, 'report.html');
    const { code } = await runCommand([...args(), '--report', `html=${page}`, 'errors/']);
    expect(code).toBe(0);
    expect(readFileSync(page, 'utf8')).toMatch(/^<!doctype html>[\s\S]*errors\/[\s\S]*<\/html>\n$/);
    const { stdout } = await runCommand(['conform', '--schema']);
    expect(JSON.parse(stdout)).toMatchObject({
      $id: 'urn:fleetbed:conformance:2',
      type: 'object',
      required: expect.arrayContaining(['schema', 'verdicts', 'seed']),
    });
  });

  it('shows the changes since an earlier run with --compare', async () => {
    const [earlierFile, page] = [join(folder, 'earlier.json'), join(folder, 'compared.html')];
    const all = ['errors/', 'monitor/'];
    await runCommand([...args(), '--report', `json=${earlierFile}`, ...all]);
    const more = ['--compare', earlierFile, '--report', `html=${page}`];
    const { code, stdout } = await runCommand([...args(), ...more, 'errors/']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Removed cases\n {2}monitor\/[\s\S]* removed, \d+ unchanged\n$/);
    expect(readFileSync(page, 'utf8')).toContain('"comparison":{"before":{');
  });

  it('refuses a file for --compare that is not a report, before any request', async () => {
    const wrong = join(folder, 'wrong.json');
    writeFileSync(wrong, '{}');
    const { code, stderr } = await runCommand([...args(), '--compare', wrong, 'errors/']);
    expect(code).toBe(3);
    expect(stderr).toContain('--compare: ');
    expect(stderr).toContain('is not a conformance report');
  });

  it('lists the valid report formats when the format is unknown', async () => {
    const path = join(folder, 'report.pdf');
    const { code, stderr } = await runCommand([...args(), '--report', `pdf=${path}`]);
    expect(code).toBe(2);
    const accepted = /Accepted: json=FILE, junit=FILE, html=FILE, .*, each at most once\./;
    expect(stderr).toMatch(accepted);
    expect(existsSync(path)).toBe(false);
  });
});
