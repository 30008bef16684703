import { describe, expect, it } from 'vitest';
import { deprecatedApis, deprecatedFields } from '../../fixtures/contract/deprecations.ts';
import { rowName, type ScheduleRow, scheduleOn } from './schedule.ts';
import { scheduleText } from './text.ts';

function rowOn(on: string, name: string): ScheduleRow {
  const row = scheduleOn(on).rows.find((each) => rowName(each) === name);
  if (!row) throw new Error(`there is no row ${name}`);
  return row;
}

describe('the schedule on a day', () => {
  it.each([
    ['2026-08-20', 'not-yet-deprecated', 370],
    ['2026-08-21', 'deprecated', 369],
    ['2027-08-24', 'deprecated', 1],
    ['2027-08-25', 'retired', 0],
    ['2031-01-01', 'retired', 0],
  ])('shows on %s a call of 2026-08-21 as %s with %d days left', (on, state, daysLeft) => {
    expect(rowOn(on, 'POST v1 /useradm/users')).toMatchObject({ state, daysLeft });
  });

  it('contains every call and every field once, in contract order', () => {
    const { rows } = scheduleOn('2026-10-18');
    expect(rows.map(({ kind }) => kind).join()).toBe(
      [...Array(15).fill('call'), ...Array(5).fill('field')].join(),
    );
    const contract = [...deprecatedApis, ...deprecatedFields];
    expect(rows.map(({ replacement }) => replacement)).toEqual(
      contract.map(({ replacement }) => replacement),
    );
    expect(new Set(rows.map(rowName)).size).toBe(20);
  });

  it('contains the field of the internal API, which this server lacks', () => {
    const name = 'propagate of POST internal v1 /useradm/tenants/{tenant_id}/users';
    expect(rowOn('2023-07-05', name).state).toBe('not-yet-deprecated');
  });
});

describe('the table of the schedule', () => {
  const lines = scheduleText(scheduleOn('2026-08-20')).split('\n');
  const text = lines.join('\n');

  it('states its day and the time to the end of life in the first line', () => {
    expect(lines[0]).toBe('Schedule on 2026-08-20: every row ends on 2027-08-25, in 370 days');
    expect(scheduleText(scheduleOn('2027-08-25'))).toContain('ends on 2027-08-25, today');
    expect(scheduleText(scheduleOn('2027-08-26'))).toContain('2027-08-25, 1 day ago');
  });

  it('has one line with both days for every row', () => {
    const days = lines.filter((line) => /│ \d{4}-\d\d-\d\d │ 2027-08-25 +│/.test(line));
    expect(days).toHaveLength(20);
  });

  it('shows the three states in words', () => {
    expect(text).toMatch(
      /│ POST v1 \/useradm\/users +│ 2026-08-21 │ 2027-08-25 +│ not yet +│ 370 /,
    );
    expect(text).toMatch(/│ GET v1 \/useradm\/roles +│ 2022-03-15 │ 2027-08-25 +│ deprecated +│/);
    expect(scheduleText(scheduleOn('2027-08-25'))).toMatch(/│ retired +│ 0 /);
  });

  it('is at most 140 columns wide and truncates nothing', () => {
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(140);
    expect(text).not.toContain('…');
    const cells = lines.map((line) => line.split('│').at(-2)?.trim() ?? '');
    const advice = cells.join('').replaceAll(' ', '');
    for (const { replacement } of scheduleOn('2026-08-20').rows) {
      expect(advice).toContain(replacement.replaceAll(' ', ''));
    }
  });
});
