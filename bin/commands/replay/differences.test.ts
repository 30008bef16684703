import { describe, expect, it } from 'vitest';
import { compareBodies } from './differences.ts';

const [one, other] = [
  '11111111-1111-4111-8111-111111111111',
  '22222222-2222-4222-8222-222222222222',
];

describe('the comparison of recorded and actual bodies', () => {
  it.each<[string, unknown, unknown]>([
    ['ids', { id: one }, { id: other }],
    ['times', ['2026-01-31T12:00:00Z'], ['2027-02-01T00:00:00.5+01:00']],
    ['links', { uri: 'http://a/x?y=[masked]' }, { uri: 'https://b/z' }],
    ['texts of errors', { error: 'no', request_id: 'a' }, { error: 'never', request_id: 'b' }],
    ['the order of members', { a: 1, b: [{}, null] }, { b: [{}, null], a: 1 }],
  ])('ignores other %s', (_, recorded, actual) => {
    expect(compareBodies(recorded, actual).differences).toEqual([]);
  });

  it.each<[string, unknown, unknown]>([
    ['a.b is 2, recorded 1', { a: { b: 1 } }, { a: { b: 2 } }],
    ['a is missing', { a: undefined }, {}],
    ['a was not recorded', {}, { a: 1 }],
    ['the body has 2 elements, recorded 1', [1], [1, 2]],
    ['the body[0] is "1", recorded 1', [1], ['1']],
    [`id is "x", recorded "${one}"`, { id: one }, { id: 'x' }],
    ['the body is {}, recorded []', [], {}],
    ['a is null, recorded {}', { a: {} }, { a: null }],
  ])('says that %s', (sentence, recorded, actual) => {
    expect(compareBodies(recorded, actual).differences).toEqual([sentence]);
  });

  it('returns the pairs of IDs and links for later requests', () => {
    const { pairs } = compareBodies(
      { id: one, at: ['http://a/1'] },
      { id: other, at: ['http://b/2'] },
    );
    expect(pairs).toEqual([
      { recorded: one, actual: other },
      { recorded: 'http://a/1', actual: 'http://b/2' },
    ]);
  });

  it('lists at most 20 differences of long bodies', () => {
    const body = (value: number) => Array<number>(100).fill(value);
    expect(compareBodies(body(1), body(2)).differences).toHaveLength(20);
  });
});
