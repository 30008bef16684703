import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ageOfRecord, type NightlyRecord } from './record.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-nightly-'));
const file = join(folder, 'record.json');
const record: NightlyRecord = {
  date: '2026-01-01T12:00:00.000Z',
  commit: 'a'.repeat(40),
  steps: [{ name: 'self-test', seconds: 3, figures: ['9 cases, 3 defects'] }],
};

afterAll(() => rmSync(folder, { recursive: true }));

/** The judgement of this text on a day of January 2026. */
function judgedOn(day: string, text: string) {
  writeFileSync(file, text);
  return ageOfRecord(file, Date.parse(`2026-01-${day}`));
}

describe('the age of the nightly record', () => {
  it.each(['02T00:00:00Z', '15T11:59:59Z'])('is fine on 2026-01-%s, and is shown', (day) => {
    const { isYoung, lines } = judgedOn(day, JSON.stringify(record));
    expect(isYoung).toBe(true);
    expect(lines[0]).toMatch(
      /^nightly run: \d+ days old \(2026-01-01T.*, commit a{12}\), valid for 14$/,
    );
    expect(lines[1]).toBe('  self-test: 9 cases, 3 defects');
  });

  it('fails beyond 14 days, and says what to run', () => {
    const { isYoung, lines } = judgedOn('15T12:00:00Z', JSON.stringify(record));
    expect(isYoung).toBe(false);
    expect(lines.at(-1)).toContain('npm run test:nightly');
  });

  it.each(['{}', 'no JSON', JSON.stringify({ ...record, commit: 'main' })])(
    'fails where the record is %s',
    (text) => {
      expect(judgedOn('02T00:00:00Z', text)).toMatchObject({
        isYoung: false,
        lines: [expect.stringContaining('is not a nightly record')],
      });
    },
  );

  it('fails where there is no record at all', () => {
    expect(ageOfRecord(join(folder, 'none.json'), 0)).toMatchObject({ isYoung: false });
  });
});
