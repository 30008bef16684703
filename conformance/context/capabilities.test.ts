import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import {
  capabilitiesOf,
  capabilityNames,
  operationsOf,
  operationsWith,
  partOf,
  partsNeededBy,
} from './capabilities.ts';

const everyOperation = Object.keys(operations) as OperationId[];

describe('the capabilities of the suite', () => {
  it('assign an operation to at most one part of the API', () => {
    const named = capabilityNames.flatMap(operationsOf);
    expect(named.filter((id, index) => named.indexOf(id) !== index)).toEqual([]);
  });

  it('leave out the operations that every target has', () => {
    expect(everyOperation.filter((id) => partOf(id) === undefined)).toEqual([
      'get-next-deployment',
      'post-next-deployment',
      'put-deployment-status',
      'put-deployment-log',
      'post-auth-request',
    ]);
  });

  it('assign operations only to capabilities of the kind "part"', () => {
    const parts = capabilitiesOf('part');
    expect(capabilityNames.filter((name) => operationsOf(name).length > 0)).toEqual(parts);
  });
});

describe('the parts that a case needs', () => {
  it('include the part of each operation whose statuses the case covers', () => {
    expect(partsNeededBy(['tokens.missing-is-401'], ['post-alerts 401'])).toEqual(['monitor']);
  });

  it('consist of the part that the requirement of the case belongs to', () => {
    expect(partsNeededBy(['audit.list'], [])).toEqual(['audit-log']);
  });

  it('are none when the requirement applies to several parts or to none', () => {
    expect(partsNeededBy(['tokens.missing-is-401', 'tokens.renewal'], [])).toEqual([]);
  });
});

describe('the operations of a target', () => {
  it('consist of those of the offered parts and those that every target has', () => {
    const without = operationsWith(new Set(['user', 'monitor', 'deployments-v2']));
    expect(without.has('post-alerts')).toBe(true);
    expect(without.has('post-auth-request')).toBe(true);
    expect(without.has('list-audit-logs')).toBe(false);
    expect(without.has('connect')).toBe(false);
  });

  it('are all operations when the target offers every part', () => {
    expect(operationsWith(new Set(capabilityNames))).toEqual(new Set(everyOperation));
  });
});
