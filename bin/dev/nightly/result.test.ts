import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { ageOfResult, type NightlyStep, readNightlyResult, withStep } from './result.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-nightly-'));
const file = join(folder, 'result.json');
const step: NightlyStep = {
  name: 'self-test',
  date: '2026-01-01T12:00:00.000Z',
  commit: 'a'.repeat(40),
  seconds: 3,
  figures: ['9 cases, 3 defects'],
};

afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the age of a result with this text at a time in January 2026. */
function judgedOn(time: string, text: string, names: readonly string[] = ['self-test']) {
  writeFileSync(file, text);
  return ageOfResult(file, names, Date.parse(`2026-01-${time}`));
}

describe('the age of the nightly result', () => {
  it.each(['02T00:00:00Z', '15T11:59:59Z'])('is accepted and shown on 2026-01-%s', (time) => {
    const { isYoung, lines } = judgedOn(time, JSON.stringify([step]));
    expect(isYoung).toBe(true);
    expect(lines[0]).toMatch(
      /^nightly self-test: \d+ days old \(2026-01-01T.*, commit a{12}\), valid for 14$/,
    );
    expect(lines[1]).toBe('  9 cases, 3 defects');
  });

  it('is refused beyond 14 days, with the command to run', () => {
    const { isYoung, lines } = judgedOn('15T12:00:00Z', JSON.stringify([step]));
    expect(isYoung).toBe(false);
    expect(lines.at(-1)).toContain('npm run test:nightly');
  });

  it.each([
    ['2026-12-09T23:59:59Z', true],
    ['2026-12-10T00:00:00Z', false],
  ])(
    'is counted from the introduction of the nightly run when nothing was stored: %s',
    (at, isYoung) => {
      writeFileSync(file, '[]');
      const judged = ageOfResult(file, ['soak'], Date.parse(at));
      expect(judged.isYoung).toBe(isYoung);
      expect(judged.lines[0]).toMatch(
        /^nightly soak: never stored, \d+ days after the nightly run was introduced/,
      );
    },
  );

  it.each(['{}', 'no JSON', JSON.stringify([{ ...step, commit: 'main' }])])(
    'is refused if the result is %s',
    (text) => {
      expect(judgedOn('02T00:00:00Z', text)).toMatchObject({
        isYoung: false,
        lines: [expect.stringContaining('is not a nightly result')],
      });
    },
  );
});

describe('a step that passed again', () => {
  it('replaces its former result and keeps the other steps', () => {
    const otherStep = { ...step, name: 'soak' };
    writeFileSync(file, JSON.stringify(withStep([step, otherStep], { ...step, seconds: 7 })));
    expect(readNightlyResult(file)).toEqual([otherStep, { ...step, seconds: 7 }]);
  });
});

describe('the nightly run', () => {
  const program = fileURLToPath(
    new URL('../../../build/bin/dev/nightly/nightly.js', import.meta.url),
  );

  it.each([[['--help']], [['--step', 'none']], [['slow tests']]])(
    'runs nothing for unknown arguments, and lists the valid ones: %j',
    (args) => {
      const { status, stdout } = spawnSync(process.execPath, [program, ...args], {
        encoding: 'utf8',
        timeout: 15_000,
      });
      expect([status, stdout]).toEqual([2, expect.stringMatching(/^use --age, or --step with/)]);
    },
  );
});
