import { describe, expect, it } from 'vitest';
import { statusRequirements } from '../../fixtures/contract/requirements/deployment-status.ts';
import { fieldsOf, tables } from '../../fixtures/contract/resource-tables.ts';
import {
  deviceDeploymentStatuses,
  finalStatuses,
  reportableStatuses,
} from '../../fixtures/contract/vocabulary.ts';
import { inputsOf } from '../suite/input-table.ts';
import { instructionFields } from '../suite/instruction-fields.ts';
import {
  abortableStates,
  deploymentStateCases,
  endedStates,
  statusColumns,
} from './deployment-states.ts';
import { goodReport, reportInputs } from './deployment-status.ts';

describe('the statuses that are refused', () => {
  it('are among others all states that only the server brings about', () => {
    const reportable: readonly string[] = reportableStatuses;
    const ofServer = deviceDeploymentStatuses.filter((state) => !reportable.includes(state));
    const row = reportInputs['other-status-is-400'];
    const refused = (row ? inputsOf(row, goodReport) : []).map(({ value }) => value);
    expect(refused).toEqual(expect.arrayContaining(ofServer));
  });
});

describe('the reports in states', () => {
  it('are of each status of the contract, each with a requirement of its own', () => {
    expect([...statusColumns].sort()).toEqual([...reportableStatuses].sort());
    expect(Object.keys(statusRequirements).sort()).toEqual([...reportableStatuses].sort());
    expect(new Set(Object.values(statusRequirements)).size).toBe(reportableStatuses.length);
  });

  it('are run in each state that a device deployment can be in while its device reports', () => {
    const notMet = ['pending', 'noartifact', 'decommissioned', 'aborted'];
    const met = deviceDeploymentStatuses.filter((state) => !notMet.includes(state));
    expect([...abortableStates, ...endedStates].sort()).toEqual(['offered', ...met].sort());
  });

  it('know which states are an end, as the vocabulary does', () => {
    const isEnd = (status: (typeof statusColumns)[number]) => finalStatuses.includes(status);
    expect(endedStates).toEqual(statusColumns.filter(isEnd));
    expect(abortableStates).toEqual(['offered', ...statusColumns.filter((each) => !isEnd(each))]);
  });

  it('are run to the last', () => {
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

describe('the fields of instructions', () => {
  const forms: Readonly<Record<string, string>> = {
    text: 'a string',
    texts: 'an array of strings',
    object: 'an object',
    time: 'a date-time',
  };

  it.each(['v1', 'v2'] as const)('are those of the table of %s', (version) => {
    const resource = tables.find(({ name }) => name === `DeploymentInstructions (${version})`);
    const reported = (resource ? fieldsOf(resource) : [])
      .map(({ path, isRequired, type }) => [path.join('.'), isRequired, forms[type]])
      .filter(([field]) => field !== 'artifact.update_control_map');
    const judged = instructionFields
      .filter(({ requirements: named }) => named[version] !== undefined)
      // The table types a link as text; following it is covered elsewhere.
      .map(({ field, isRequired, form }) => [
        field,
        isRequired,
        form === 'an absolute URL' ? 'a string' : form,
      ]);
    expect(judged.length).toBeGreaterThan(6);
    expect(judged).toEqual(reported);
  });
});
