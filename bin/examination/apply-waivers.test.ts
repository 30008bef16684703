import { describe, expect, it } from 'vitest';
import { sampleExamination } from '../../conformance/clients/testing/sample-examination.ts';
import { applyWaivers } from './apply-waivers.ts';

const { duties } = sampleExamination;
const about = { reason: 'known', owner: 'firmware' };

describe('a waiver of a duty', () => {
  it.each([
    ['is used until its last day by a broken duty', 'auth.renews-on-401', '2026-11-28', 'used', 0],
    ['fails the examination after its day', 'auth.renews-on-401', '2026-11-27', 'expired', 1],
    ['fails the examination when the duty is kept', 'auth.key-strong', '2027-01-01', 'obsolete', 1],
    ['is not decided while nothing exercised the duty', 'get.gzip', '2027-01-01', 'not-decided', 0],
  ])('%s', (_, id, expires, state, problems) => {
    const found = applyWaivers(duties, [{ id, expires, ...about }], '2026-11-28');
    expect(found.waivers).toEqual([{ duty: id, expires, ...about, state }]);
    expect(found.problems).toHaveLength(problems);
    const named = found.duties.find(({ duty }) => duty === id);
    expect(named?.waiver).toEqual(state === 'used' ? { expires, ...about } : undefined);
  });
});
