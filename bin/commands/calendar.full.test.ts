import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayOf } from '../../conformance/recordings/day.ts';
import type { DeprecatedTraffic } from '../../conformance/recordings/findings.ts';
import type { Schedule } from '../../conformance/recordings/schedule.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { runCommand } from '../testing/built-command.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-calendar-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const calendar = (...args: string[]) => runCommand(['calendar', ...args]);

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const v1 = 'https://gateway.example/fleet/api/management/v1';
const v2 = 'https://gateway.example/fleet/api/management/v2';

function harOf(
  name: string,
  ...calls: readonly [method: string, url: string, response?: unknown][]
) {
  const entries = calls.map(([method, url, response], index) => ({
    startedDateTime: `2026-10-0${index + 1}T10:00:00.000Z`,
    request: { method, url },
    response: { status: 200, content: { text: JSON.stringify(response ?? {}) } },
  }));
  return fileOf(name, JSON.stringify({ log: { version: '1.2', entries } }));
}

function journalOf(name: string, ...lines: readonly object[]) {
  const at = '2026-10-05T10:00:00Z';
  return fileOf(name, lines.map((line) => JSON.stringify({ at, status: 200, ...line })).join('\n'));
}

describe('fleetbed calendar', () => {
  it('shows the schedule of the current day', async () => {
    const dayBefore = dayOf(systemClock.now());
    const { code, stdout, stderr } = await calendar();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [, day = ''] = /^Schedule on (\S+):/.exec(stdout) ?? [];
    expect([dayBefore, dayOf(systemClock.now())]).toContain(day);
    expect(stdout).toMatch(/│ GET v1 \/deployments\/artifacts +│ 2021-10-18 │ 2027-08-25/);
    expect(stdout).toContain('propagate of POST internal v1');
  });

  it.each([['--json'], ['--format', 'json']])(
    'prints the schedule as one line of JSON with %s',
    async (...args) => {
      const { code, stdout } = await calendar('--on', '2027-08-24', ...args);
      expect(code).toBe(0);
      expect(stdout.trimEnd().split('\n')).toHaveLength(1);
      const { on, endOfLife, rows } = JSON.parse(stdout) as Schedule;
      expect({ on, endOfLife, rows: rows.length }).toEqual({
        on: '2027-08-24',
        endOfLife: '2027-08-25',
        rows: 20,
      });
      expect(rows[0]).toEqual({
        kind: 'call',
        method: 'GET',
        path: '/deployments/artifacts',
        versions: ['management v1'],
        deprecatedSince: '2021-10-18',
        endOfLife: '2027-08-25',
        state: 'deprecated',
        daysLeft: 1,
        replacement: 'GET v2 /deployments/artifacts',
        successor: { method: 'GET', version: 'v2', path: '/deployments/artifacts' },
      });
      expect(rows.at(-1)).toEqual({
        kind: 'field',
        method: 'POST',
        path: '/useradm/tenants/{tenant_id}/users',
        field: 'propagate',
        location: 'body',
        versions: ['internal v1'],
        deprecatedSince: '2023-07-06',
        endOfLife: '2027-08-25',
        state: 'deprecated',
        daysLeft: 1,
        replacement: 'none required: users are no longer propagated',
      });
    },
  );

  it('writes iCalendar to a file, identical for the same day', async () => {
    const file = join(folder, 'calendar.ics');
    const args = ['--format', 'ical', '--on', '2026-10-18'];
    const { code, stdout, stderr } = await calendar(...args, '--out', file);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(/^BEGIN:VCALENDAR\r\nVERSION:2\.0\r\n[\s\S]*\r\nEND:VCALENDAR\r\n$/);
    expect(text).toContain('\r\nDTSTAMP:20261018T000000Z\r\n');
    expect((await calendar(...args)).stdout).toBe(text);
  });

  it('explains the journal format, the JSON output and the exit codes in its help', async () => {
    const { code, stdout } = await calendar('--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/"at": "2026-[\s\S]*\{on, endOfLife, outcome[\s\S]*Exit codes/);
  });

  it.each<[string, RegExp]>([
    ['--on tomorrow', /'--on <date>' argument 'tomorrow' is invalid.*YYYY-MM-DD/],
    ['--on 2027-02-30', /argument '2027-02-30' is invalid/],
    ['--format xml', /'--format <format>' argument 'xml' is invalid.*table, json, ical/],
    ['--json --format ical', /'--json' cannot be used with option '--format <format>'/],
    ['--format ical traffic.har', /'--format ical' shows only the schedule/],
    ['--since 2026-01-01', /unknown option '--since'/],
  ])('refuses `%s` with exit code 2 and one line', async (args, sentence) => {
    const { code, stdout, stderr } = await calendar(...args.split(' '));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('refuses an unwritable output file before it reads a recording', async () => {
    const { code, stderr } = await calendar('missing.har', '--out', join(folder, 'no', 'x.json'));
    expect(code).toBe(3);
    expect(stderr).toMatch(/^fleetbed: --out cannot write .*no such file or folder/);
  });
});

describe('fleetbed calendar with recorded traffic', () => {
  it('fails on deprecated calls, and shows end of life and replacement', async () => {
    const har = harOf(
      'uses.har',
      ['GET', `${v1}/useradm/roles?page=1`],
      ['GET', `${v2}/useradm/roles`],
    );
    const journal = journalOf('uses.ndjson', {
      method: 'GET',
      path: '/api/management/v1/useradm/roles',
      status: 410,
    });
    const { code, stdout, stderr } = await calendar('--on', '2027-08-20', har, journal);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(
      /│ GET v1 \/useradm\/roles +│ 2 +│ 2026-10-01T10:00:00Z │ 2027-08-25, +│/,
    );
    expect(stdout).toMatch(/2026-10-05T10:00:00Z │ in 5 days; +│/);
    expect(stdout).toMatch(/410 already: [\s\S]*1 of 2 [\s\S]*GET v2|GET v2[\s\S]*410 already:/);
    expect(stdout).toContain('\n1 row of the schedule used in 3 calls.\n');
  });

  it('prints its findings as JSON, and one summary line on standard error', async () => {
    const form = { method: 'POST', url: `${v1}/deployments/artifacts`, status: 201 };
    const journal = journalOf('size.ndjson', { ...form, requestBody: { size: '12' } });
    const { code, stdout, stderr } = await calendar('--json', '--on', '2027-08-25', journal);
    expect(code).toBe(1);
    expect(stderr).toBe('1 row of the schedule used in 1 call.\n');
    const { findings, ...rest } = JSON.parse(stdout) as DeprecatedTraffic;
    expect(rest).toEqual({
      on: '2027-08-25',
      endOfLife: '2027-08-25',
      outcome: 'uses',
      recordings: [{ file: journal, format: 'journal', exchanges: 1, calls: 1 }],
      unseen: 0,
    });
    expect(findings).toMatchObject([
      {
        kind: 'field',
        field: 'size',
        location: 'form',
        state: 'retired',
        daysLeft: 0,
        exchanges: 1,
        refused: 0,
        firstSeen: '2026-10-05T10:00:00.000Z',
        lastSeen: '2026-10-05T10:00:00.000Z',
      },
    ]);
  });

  it('passes when the traffic uses nothing deprecated', async () => {
    const har = harOf(
      'clear.har',
      ['GET', `${v2}/devauth/limits/devices`],
      ['POST', `${v1}/deployments/artifacts/generate`],
      ['GET', 'https://other.example/v1/useradm/roles'],
      ['GET', `${v1}/deployments/artifacts/x`, { updates: [{ metadata: {} }] }],
    );
    const { code, stdout } = await calendar(har);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'nothing deprecated is used in 3 calls.\n',
    });
  });

  it('stays inconclusive when deprecated fields occur only in responses', async () => {
    const response = [{ updates: [{ meta_data: {}, metadata: {} }] }];
    const { code, stdout } = await calendar(
      harOf('reads.har', ['GET', `${v2}/deployments/artifacts`, response]),
    );
    expect(code).toBe(4);
    expect(stdout).toContain('updates[].meta_data');
    expect(stdout).toContain('clients that read them must change');
  });

  it('stays inconclusive when the traffic has no call of this API', async () => {
    const har = harOf('other.har', ['GET', 'https://other.example/useradm/roles']);
    const { code, stdout } = await calendar(har, fileOf('empty.ndjson', ''));
    expect(code).toBe(4);
    expect(stdout).toBe('nothing was checked: the traffic has no calls of this API.\n');
  });

  it('writes its findings to a file, and prints one summary line', async () => {
    const [har, out] = [
      harOf('out.har', ['PUT', `${v1}/useradm/users/me`]),
      join(folder, 'out.txt'),
    ];
    const { code, stdout, stderr } = await calendar(har, '--out', out);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: '1 row of the schedule used in 1 call.\n',
    });
    expect(readFileSync(out, 'utf8')).toMatch(/PUT v1 \/useradm\/users\/me[\s\S]*email-change/);
  });

  it.each<[string, () => string, RegExp]>([
    [
      'no file',
      () => join(folder, 'missing.har'),
      /cannot read .*missing\.har: there is no such file/,
    ],
    ['a folder', () => folder, /cannot read .*: it is a folder/],
    [
      'a broken archive',
      () => fileOf('b.har', '{"log":{"entries":[{]}}'),
      /b\.har: is cut off or not JSON/,
    ],
    [
      'a broken entry',
      () => fileOf('e.har', '{"log":{"entries":[{}]}}'),
      /e\.har, entry 1: startedDateTime must be .* missing\.$/m,
    ],
    [
      'a broken line',
      () => fileOf('l.ndjson', '\n\u001b[2J{}'),
      /l\.ndjson, line 2: is not a JSON object/,
    ],
    [
      'a wrong line',
      () => journalOf('w.ndjson', { method: 'GET', url: '\u001b[2J' }),
      /w\.ndjson, line 1: needs "url"/,
    ],
  ])('refuses %s with exit code 3, one sentence and no stack', async (_, file, sentence) => {
    const { code, stdout, stderr } = await calendar(file());
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('\u001b');
    expect(stderr).not.toMatch(/\s+at .*:\d+:\d+/);
  });

  it('prints no findings when the second recording is malformed', async () => {
    const har = harOf('good.har', ['GET', `${v1}/useradm/roles`]);
    const { code, stdout } = await calendar('--json', har, fileOf('bad.ndjson', 'x'));
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  });
});
