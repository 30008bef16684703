import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { duties } from '../client-judge/duties/duties.ts';
import { isControl } from '../context/capabilities.ts';
import { generalRequirements } from '../passive/catalogue.ts';
import { presentId, renamedIds } from '../suite/former-ids.ts';
import { allCases } from './all-cases.ts';

/** Statuses that the contract defines for every operation. */
const commonStatuses = [401, 403, 429, 500];

const records: readonly Requirement[] = Object.values(requirements);
const operationIds = Object.keys(operations) as OperationId[];

function contractStatuses(id: OperationId): readonly number[] {
  const { success, refusals } = operations[id];
  return [...new Set([...Object.keys(success).map(Number), ...refusals, ...commonStatuses])];
}

const covered = new Set<string>(allCases.flatMap(({ covers }) => covers));

describe('the conformance cases', () => {
  it('have unique IDs', () => {
    const ids = allCases.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('have IDs of lower-case letters, digits and hyphens', () => {
    const pattern = /^[a-z-]+\/[a-z0-9]+(-[a-z0-9]+)*$/;
    expect(allCases.map(({ id }) => id).filter((id) => !pattern.test(id))).toEqual([]);
  });

  it('have, like the duties, no former ID of a renamed one, and include every renamed one', () => {
    const ids = new Set<string>([...allCases, ...duties].map(({ id }) => id));
    expect(renamedIds.filter((id) => ids.has(id) || !ids.has(presentId(id)))).toEqual([]);
  });

  it('have titles that are whole sentences', () => {
    const titles = allCases.map(({ title }) => title);
    expect(titles.filter((title) => !/^[A-Z].{15,}\.$/.test(title))).toEqual([]);
  });

  it('are grouped by area, scenario and start state', () => {
    const scenarios = allCases.map(({ id, scenario, start }) =>
      [id.split('/')[0], scenario, start].join(),
    );
    const runs = scenarios.filter((each, index) => each !== scenarios[index - 1]);
    expect(runs.filter((each, index) => runs.indexOf(each) !== index)).toEqual([]);
  });

  it.each(operationIds)('cover every status that the contract defines for %s', (id) => {
    const missingStatuses = contractStatuses(id).filter(
      (status) => !covered.has(`${id} ${status}`),
    );
    expect(missingStatuses).toEqual([]);
  });

  it('cover no status that the contract does not define', () => {
    const namedRequirements = new Set(
      operationIds.flatMap((id) => contractStatuses(id).map((status) => `${id} ${status}`)),
    );
    expect([...covered].filter((each) => !namedRequirements.has(each))).toEqual([]);
  });

  it('test every requirement that is neither excluded nor judged on every exchange', () => {
    const namedRequirements = new Set<string>([
      ...allCases.flatMap((each) => each.requirements),
      ...generalRequirements,
    ]);
    const missingRequirements = records.filter(
      ({ id, excluded }) => excluded === undefined && !namedRequirements.has(id),
    );
    expect(missingRequirements.map(({ id }) => id)).toEqual([]);
  });

  it('test no requirement that is excluded', () => {
    const excluded = allCases.flatMap((each) =>
      each.requirements.filter((id) => (requirements[id] as Requirement).excluded !== undefined),
    );
    expect(excluded).toEqual([]);
  });

  it('require control of the target only in six areas', () => {
    const controlled = allCases.filter(({ needs }) => needs.some(isControl));
    const areas = new Set(controlled.map(({ id }) => id.split('/')[0]));
    expect([...areas].sort()).toEqual([
      'audit-log',
      'faults',
      'roles',
      'tenants',
      'time',
      'versioning',
    ]);
  });

  it('are disruptive only if they affect resources that others use', () => {
    const disruptive = allCases.filter(({ effect }) => effect === 'disruptive').map(({ id }) => id);
    expect(disruptive.toSorted()).toEqual([
      'artifacts/list-is-bounded',
      'authentication/many-keys',
      'next-deployment/all-devices-reaches-each',
    ]);
  });
});
