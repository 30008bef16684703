import { describe, expect, it } from 'vitest';
import { selectedRows, UnknownIdError } from './selection.ts';

const rows = ['errors/error-says-why', 'errors/request-id', 'monitor/alert'].map((id) => ({ id }));
const ids = (prefixes: readonly string[]) =>
  selectedRows(rows, prefixes, 'case').map(({ id }) => id);

describe('the selection of cases by prefixes of their IDs', () => {
  it('has each case once, in the order of the suite', () => {
    expect(ids(['monitor/', 'errors/r', 'errors/'])).toEqual(rows.map(({ id }) => id));
    expect(ids([])).toHaveLength(3);
  });

  it('accepts the former ID of a case that was renamed', () => {
    const renamed = [{ id: 'inventory/value-changes-its-type' }, { id: 'inventory/value' }];
    expect(selectedRows(renamed, ['inventory/value-of-another-kind'], 'case')).toEqual([
      renamed[0],
    ]);
  });

  it.each([
    [['erors/'], /^no case has an ID that starts with "erors\/" \(nearest: errors\/, /],
    [['errors/', 'monitor/alart'], /starts with "monitor\/alart" \(nearest: monitor\/alert, /],
    [['errors/*'], /"errors\/\*" \(nearest: errors\/, /],
    [['x', 'errors/', 'y'], /"x" \(nearest: .+\) or "y" \(nearest: .+\); --list shows them all$/],
    [['errors/', ''], /^the ID of a case is empty; leave it out to select every case$/],
  ])('refuses %j, and names what matches nothing with the nearest names', (given, sentence) => {
    expect(() => ids(given)).toThrow(UnknownIdError);
    expect(() => ids(given)).toThrow(sentence);
  });
});
