import { describe, expect, it } from 'vitest';
import { dayOf, dayStartMs, daysBetween, isDay } from './day.ts';

describe('a day of the calendar', () => {
  it.each([
    '',
    'today',
    '2027-8-25',
    '25.08.2027',
    '2027-08-25T00:00:00Z',
    '2027-13-01',
    '2027-00-10',
    '2027-02-29',
    '2027-04-31',
    '+12027-08-25',
    ' 2027-08-25',
  ])('cannot be written as %j', (text) => {
    expect(isDay(text)).toBe(false);
  });

  it.each(['2027-08-25', '2028-02-29', '0001-01-01', '9999-12-31'])('may be written %s', (text) => {
    expect(isDay(text)).toBe(true);
    expect(dayOf(dayStartMs(text))).toBe(text);
  });

  it('lasts from the first to the last millisecond of the UTC day', () => {
    const startMs = Date.UTC(2027, 7, 25);
    expect(dayOf(startMs)).toBe('2027-08-25');
    expect(dayOf(startMs - 1)).toBe('2027-08-24');
    expect(dayOf(startMs + 86_399_999)).toBe('2027-08-25');
  });

  it.each([
    ['2027-08-24', '2027-08-25', 1],
    ['2027-08-25', '2027-08-25', 0],
    ['2027-08-26', '2027-08-25', -1],
    ['2024-02-28', '2024-03-01', 2],
    ['2026-08-25', '2027-08-25', 365],
  ])('has from %s to %s a distance of %d days', (from, to, days) => {
    expect(daysBetween(from, to)).toBe(days);
  });
});
