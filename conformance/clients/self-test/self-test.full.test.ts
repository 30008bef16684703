import { describe, expect, it } from 'vitest';
import { alteredClients, selfTestOfClients } from './self-test.ts';

const NOTICED_MIN = 0.9;

describe('the self-test of the judge of clients', { timeout: 300_000 }, () => {
  it('catches every badly written client for its duty alone, and blames no good one', () => {
    const { falseOnGood, rows } = selfTestOfClients();
    expect(falseOnGood).toEqual([]);
    const wrong = rows.filter(({ isCaught, falseCatches }) => !isCaught || falseCatches.length > 0);
    expect(wrong).toEqual([]);
  });

  it('notices nine of ten random alterations of a good client, and blames no legal one', () => {
    const { altered, noticed, unnoticed, blamed } = alteredClients(300, 'alterations');
    expect(noticed / altered, JSON.stringify(unnoticed)).toBeGreaterThan(NOTICED_MIN);
    expect(blamed).toEqual([]);
  });
});
