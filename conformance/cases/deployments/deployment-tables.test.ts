import { describe, expect, it } from 'vitest';
import { statusRequirements } from '../../../fixtures/contract/requirements/deployment-status.ts';
import { fieldsOf, tables } from '../../../fixtures/contract/resource-tables.ts';
import {
  deviceDeploymentStatuses,
  finalStatuses,
  reportableStatuses,
} from '../../../fixtures/contract/vocabulary.ts';
import { abortableStates, endedStates, statusColumns } from '../../context/device-statuses.ts';
import { inputsOf } from '../../suite/input-table.ts';
import { instructionFields } from '../../suite/instruction-fields.ts';
import { deploymentStateCases } from './deployment-states.ts';
import { reportInputs, validReport } from './deployment-status.ts';

describe('the inputs for status reports that must be refused', () => {
  it('include all statuses that only the server sets', () => {
    const reportable: readonly string[] = reportableStatuses;
    const ofServer = deviceDeploymentStatuses.filter((state) => !reportable.includes(state));
    const row = reportInputs['other-status-is-400'];
    const refusedValues = (row ? inputsOf(row, validReport) : []).map(({ value }) => value);
    expect(refusedValues).toEqual(expect.arrayContaining(ofServer));
  });
});

describe('the cases that report in each deployment state', () => {
  it('cover each reportable status, each with its own requirement', () => {
    expect([...statusColumns].sort()).toEqual([...reportableStatuses].sort());
    expect(Object.keys(statusRequirements).sort()).toEqual([...reportableStatuses].sort());
    expect(new Set(Object.values(statusRequirements)).size).toBe(reportableStatuses.length);
  });

  it('start in each state that a reporting device can observe', () => {
    const notMet = ['pending', 'noartifact', 'decommissioned', 'aborted'];
    const met = deviceDeploymentStatuses.filter((state) => !notMet.includes(state));
    expect([...abortableStates, ...endedStates].sort()).toEqual(['offered', ...met].sort());
  });

  it('distinguish final states from others as the contract vocabulary does', () => {
    const isEnd = (status: (typeof statusColumns)[number]) => finalStatuses.includes(status);
    expect(endedStates).toEqual(statusColumns.filter(isEnd));
    expect(abortableStates).toEqual(['offered', ...statusColumns.filter((each) => !isEnd(each))]);
  });

  it('exist for every state, every repeated status and every abort', () => {
    const ids = deploymentStateCases.map(({ id }) => id.split('/')[1]);
    const slugs = (names: readonly string[]) => names.map((name) => name.replaceAll('_', '-'));
    const played = [
      ...slugs([...abortableStates, ...endedStates]).map(
        (state) => `after-${state}-reports-are-204`,
      ),
      ...slugs(statusColumns).map((status) => `${status}-again-is-204`),
      ...slugs(abortableStates).flatMap((state) =>
        ['refuses-reports', 'stays', 'offers-nothing'].map((so) => `abort-in-${state}-${so}`),
      ),
      'of-another-device-is-404',
    ];
    expect(played.filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe('the table of instruction fields', () => {
  const forms: Readonly<Record<string, string>> = {
    text: 'a string',
    texts: 'an array of strings',
    object: 'an object',
    time: 'a date-time',
  };

  it.each(['v1', 'v2'] as const)('matches the table of %s in the contract', (version) => {
    const resource = tables.find(({ name }) => name === `DeploymentInstructions (${version})`);
    const reportedFields = (resource ? fieldsOf(resource) : [])
      .map(({ path, isRequired, type }) => [path.join('.'), isRequired, forms[type]])
      .filter(([field]) => field !== 'artifact.update_control_map');
    const judged = instructionFields
      .filter(({ requirements: named }) => named[version] !== undefined)
      // The table types a link as text; following it is covered elsewhere.
      .map(({ field, isRequired, type }) => [
        field,
        isRequired,
        type === 'an absolute URL' ? 'a string' : type,
      ]);
    expect(judged.length).toBeGreaterThan(6);
    expect(judged).toEqual(reportedFields);
  });
});
