import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { hostileBody, strictJson } from './hostile-bodies.ts';

const body = Buffer.from('{"id_data":"{}","pubkey":"PEM ü"}');

function many(seed: string) {
  const random = seededRandom(seed);
  return Array.from({ length: 300 }, () => hostileBody(body, random));
}

describe('the changes of a body', () => {
  it('are the same for the same seed, and differ for another seed', () => {
    expect(many('one')).toEqual(many('one'));
    expect(many('one')).not.toEqual(many('two'));
  });

  it('always change the body, and include every kind of change', () => {
    const all = many('one');
    expect(all.filter(({ bytes }) => bytes.equals(body))).toEqual([]);
    expect(new Set(all.map(({ change }) => change)).size).toBe(13);
  });

  it('break the JSON of many bodies, and leave others valid', () => {
    const values = many('one').map(({ bytes }) => strictJson(bytes));
    const broken = values.filter((value) => value === undefined).length;
    expect(broken).toBeGreaterThan(100);
    expect(values.length - broken).toBeGreaterThan(20);
  });
});

describe('the strict JSON parser', () => {
  it.each([
    ['cut', Buffer.from('{"a":')],
    ['with bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['empty', Buffer.alloc(0)],
  ])('refuses a body that is %s', (_, bytes) => {
    expect(strictJson(bytes)).toBeUndefined();
  });

  it('accepts a byte order mark, which parsers may ignore', () => {
    expect(strictJson(Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))).toEqual({});
  });

  it('returns the value of a valid body', () => {
    expect(strictJson(Buffer.from('{"a":"ü"}'))).toEqual({ a: 'ü' });
  });
});
