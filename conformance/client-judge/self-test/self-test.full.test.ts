import { describe, expect, it } from 'vitest';
import { alteredClients, selfTestOfClients } from './self-test.ts';

const KILLED_MIN = 0.9;

describe('the self-test of the client judge', { timeout: 300_000 }, () => {
  it('kills every defective client for its duty alone, and reports no violation of a good one', () => {
    const { falseOnGood, rows } = selfTestOfClients();
    expect(falseOnGood).toEqual([]);
    const wrong = rows.filter(
      ({ isKilled, falseViolations }) => !isKilled || falseViolations.length > 0,
    );
    expect(wrong).toEqual([]);
  });

  it('kills nine of ten random alterations of a good client, and reports no violation for a conforming one', () => {
    const { altered, killed, survived, falseFailures } = alteredClients(300, 'alterations');
    expect(killed / altered, JSON.stringify(survived)).toBeGreaterThan(KILLED_MIN);
    expect(falseFailures).toEqual([]);
  });
});
