import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/random.ts';
import { mutated, strictJson } from './mutations.ts';

const body = Buffer.from('{"id_data":"{}","pubkey":"PEM ü"}');

function many(seed: string) {
  const random = seededRandom(seed);
  return Array.from({ length: 300 }, () => mutated(body, random));
}

describe('mutations of a body', () => {
  it('are the same for the same seed, and others for another', () => {
    expect(many('one')).toEqual(many('one'));
    expect(many('one')).not.toEqual(many('two'));
  });

  it('change the body each time, in each way', () => {
    const all = many('one');
    expect(all.filter(({ bytes }) => bytes.equals(body))).toEqual([]);
    expect(new Set(all.map(({ words }) => words)).size).toBe(13);
  });

  it('break most bodies, and leave some that are JSON with other members', () => {
    const values = many('one').map(({ bytes }) => strictJson(bytes));
    const broken = values.filter((value) => value === undefined).length;
    expect(broken).toBeGreaterThan(100);
    expect(values.length - broken).toBeGreaterThan(20);
  });
});

describe('strict JSON', () => {
  it.each([
    ['cut', Buffer.from('{"a":')],
    ['with bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['empty', Buffer.alloc(0)],
  ])('is nothing that is %s', (_, bytes) => {
    expect(strictJson(bytes)).toBeUndefined();
  });

  it('may stand after a byte order mark, which parsers may ignore', () => {
    expect(strictJson(Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))).toEqual({});
  });

  it('is what any parser reads', () => {
    expect(strictJson(Buffer.from('{"a":"ü"}'))).toEqual({ a: 'ü' });
  });
});
