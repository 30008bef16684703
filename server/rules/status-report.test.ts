import { describe, expect, it } from 'vitest';
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import { refusedReports } from './status-report.ts';

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
    expect(refusedReports[status] === undefined ? 'take' : 'refuse').toBe(decision);
  });

  it('is decided for every state, once', () => {
    expect(cells.map(([status]) => status).toSorted()).toEqual(deviceDeploymentStatuses.toSorted());
  });

  it('is told why it is refused, for each of the two reasons', () => {
    expect(refusedReports.aborted).toContain('aborted');
    expect(refusedReports.decommissioned).toContain('decommissioned');
  });
});
