import { describe, expect, it } from 'vitest';
import { entriesOf, isMap, membersOf } from './json-members.ts';

describe('the access to unknown JSON', () => {
  it.each([[null], ['text'], [7], [undefined], [[{ a: 1 }]]])('finds no members in %j', (value) => {
    expect([isMap(value), membersOf(value)]).toEqual([false, {}]);
  });

  it.each([[null], ['text'], [{ length: 1 }], [undefined]])('finds no entries in %j', (value) => {
    expect(entriesOf(value)).toEqual([]);
  });

  it('returns the members of an object and the entries of a list', () => {
    expect([membersOf({ a: 1 }), entriesOf(['a'])]).toEqual([{ a: 1 }, ['a']]);
  });
});
