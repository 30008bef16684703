import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningCommand, runCommand, startServe } from '../../testing/built-command.ts';

const RUN_MAX_MS = 60_000;

let server: RunningCommand;
let folder: string;
let har: string;
let lines: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-judge-'));
  const { running, ready } = await startServe(['--journal-entries', '500']);
  server = running;
  const user = ['--url', ready.baseUrl, '--password', ready.adminPassword];
  const fleet = ['--devices', '2', '--keys', 'ed25519=1', '--accept', '--ramp', '0'];
  await runCommand(['simulate', ...user, ...fleet, '--poll', '300ms', '--iterations', '3']);
  const at = ['--control-url', ready.controlUrl, '--control-token', ready.controlToken];
  har = join(folder, 'traffic.har');
  await runCommand(['journal', ...at, '--har', har]);
  lines = (await runCommand(['journal', ...at, '--limit', '500', '--json'])).stdout;
}, RUN_MAX_MS);

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const judge = (...args: readonly string[]) => runCommand(['conform', 'judge', ...args]);

describe('fleetbed conform judge', { timeout: RUN_MAX_MS }, () => {
  it("finds no violation in our server's HAR archive, and accounts for every entry", async () => {
    const { code, stdout } = await judge(har, '--json');
    const result = JSON.parse(stdout);
    expect([code, result.outcome, result.format]).toEqual([0, 'pass', 'har']);
    expect(result.entries).toBe(JSON.parse(readFileSync(har, 'utf8')).log.entries.length);
    const left = result.leftOut.reduce(
      (sum: number, row: { entries: number }) => sum + row.entries,
      0,
    );
    expect(result.judged + left).toBe(result.entries);
    expect(result.judged).toBeGreaterThan(10);
  });

  it("finds no violation in our server's journal, and identifies both devices", async () => {
    const list = `[${lines.trim().split('\n').join(',\n')}]`;
    for (const [name, content] of Object.entries({ 'a.ndjson': lines, 'a.json': list })) {
      const { code, stdout } = await judge(fileOf(name, content));
      expect(code).toBe(0);
      expect(stdout).toMatch(/^pass: \d\d requirements, \d\d not tested \(/);
      expect(stdout).toMatch(
        /\d+ entries, \d+ judged; 2 devices identified, 1 judged alone, without a known device$/m,
      );
      expect(stdout).toMatch(/^ {2}\d+ of the management API, .*: (line|entry) \d/m);
    }
  });

  it('fails on a response that violates a requirement, and shows the entry', async () => {
    const archive = JSON.parse(readFileSync(har, 'utf8'));
    const at = archive.log.entries.findIndex(({ request }: { request: { url: string } }) =>
      request.url.endsWith('/device/attributes'),
    );
    archive.log.entries[at].response.status = 204;
    const { code, stdout, stderr } = await judge(fileOf('broken.har', JSON.stringify(archive)));
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/^fail: 1 of \d\d requirements violated, /);
    expect(stdout).toMatch(/^ {2}inventory\.\w+-is-200: /m);
    expect(stdout).toMatch(new RegExp(`first: entry ${at + 1}, .*-attributes$`, 'm'));
    expect(stdout).toContain('expected the status to be 200');
  });

  it('is inconclusive when no entry can be judged', async () => {
    const { code, stdout } = await judge(har, '--url', 'https://other.example');
    expect(code).toBe(4);
    expect(stdout).toMatch(
      /^inconclusive: nothing was tested: no entry can be judged by a requirement/,
    );
    expect(stdout).toContain(' of other servers: entry 1, entry 2');
  });

  it.each<[string, () => readonly string[], number, string]>([
    ['a file that is not there', () => ['none.har'], 3, 'cannot read none.har: there is no such'],
    ['a folder', () => [folder], 3, 'it is a folder; choose another file.'],
    ['no JSON', () => [fileOf('x.har', '<html>')], 3, 'x.har: is cut off or not JSON'],
    [
      'an entry without a response',
      () => [fileOf('y.har', '{"log":{"entries":[{}]}}')],
      3,
      'missing. Record the traffic again, or remove the damaged part.',
    ],
    [
      'bytes that are not text',
      () => [fileOf('z.har', Buffer.from([0xff, 0xfe]))],
      3,
      'z.har: is not UTF-8 text.',
    ],
    ['no file', () => [], 2, "missing required argument 'file'"],
    ['two files', () => [har, har], 2, 'too many arguments'],
    ['an invalid server', () => [har, '--url', 'here'], 2, '--url'],
    ['an invalid prefix', () => [har, '--header-prefix', '-'], 2, '--header-prefix'],
  ])('refuses %s with one sentence', async (_, args, code, reason) => {
    const ended = await judge(...args());
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    expect(ended.stderr).toContain(reason);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });
});
