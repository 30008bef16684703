import { describe, expect, it } from 'vitest';
import { sampleClientTest } from '../../conformance/client-judge/testing/sample-client-test.ts';
import { applyWaivers } from './apply-waivers.ts';

const { duties } = sampleClientTest;
const about = { reason: 'known', owner: 'firmware' };

describe('a waiver of a duty', () => {
  it.each([
    ['used by a broken duty until its last day', 'auth.renews-on-401', '2026-11-28', 'used', 0],
    ['expired after its last day', 'auth.renews-on-401', '2026-11-27', 'expired', 1],
    ['obsolete when the duty is met', 'auth.key-strong', '2027-01-01', 'obsolete', 1],
    ['not decided while nothing tested the duty', 'get.gzip', '2027-01-01', 'not-decided', 0],
  ])('is %s', (_, id, expires, state, problems) => {
    const found = applyWaivers(duties, [{ id, expires, ...about }], '2026-11-28');
    expect(found.waivers).toEqual([{ duty: id, expires, ...about, state }]);
    expect(found.problems).toHaveLength(problems);
    const named = found.duties.find(({ duty }) => duty === id);
    expect(named?.waiver).toEqual(state === 'used' ? { expires, ...about } : undefined);
  });
});
