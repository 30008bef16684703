import { describe, expect, it } from 'vitest';
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import { reportDecisions } from './status-report.ts';

/** Every state of a part by hand; a report of any of the nine statuses meets one of them. */
const cells = [
  ['pending', 'take'],
  ['installing', 'take'],
  ['pause_before_installing', 'take'],
  ['downloading', 'take'],
  ['pause_before_rebooting', 'take'],
  ['rebooting', 'take'],
  ['pause_before_committing', 'take'],
  ['success', 'take'],
  ['failure', 'take'],
  ['already-installed', 'take'],
  ['noartifact', 'take'],
  ['aborted', 'refuse'],
  ['decommissioned', 'refuse'],
] as const;

describe('a status report', () => {
  it.each(cells)('to a part that is %s: %s', (status, decision) => {
    expect(reportDecisions[status].decision).toBe(decision);
  });

  it('is decided for every state, once', () => {
    const walked = cells.map(([status]) => status);
    expect(walked.toSorted()).toEqual(deviceDeploymentStatuses.toSorted());
    expect(Object.keys(reportDecisions).toSorted()).toEqual(walked.toSorted());
  });

  it('is told why it is refused, for each of the two reasons', () => {
    expect(reportDecisions.aborted.because).toContain('aborted');
    expect(reportDecisions.decommissioned.because).toContain('decommissioned');
  });
});
