import { describe, expect, it } from 'vitest';
import { entriesOf, isMap, membersOf } from './json-members.ts';

describe('JSON of which nothing is known', () => {
  it.each([[null], ['text'], [7], [undefined], [[{ a: 1 }]]])('%j has no members', (value) => {
    expect([isMap(value), membersOf(value)]).toEqual([false, {}]);
  });

  it.each([[null], ['text'], [{ length: 1 }], [undefined]])('%j has no entries', (value) => {
    expect(entriesOf(value)).toEqual([]);
  });

  it('has the members and entries that are there', () => {
    expect([membersOf({ a: 1 }), entriesOf(['a'])]).toEqual([{ a: 1 }, ['a']]);
  });
});
