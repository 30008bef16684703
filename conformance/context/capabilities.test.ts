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

describe('the capabilities', () => {
  it('name an operation in one part at most', () => {
    const named = capabilityNames.flatMap(operationsOf);
    expect(named.filter((id, index) => named.indexOf(id) !== index)).toEqual([]);
  });

  it('leave what every target has out of the parts', () => {
    expect(everyOperation.filter((id) => partOf(id) === undefined)).toEqual([
      'get-next-deployment',
      'post-next-deployment',
      'put-deployment-status',
      'put-deployment-log',
      'post-auth-request',
    ]);
  });

  it('give operations only to parts of the API', () => {
    const parts = capabilitiesOf('part');
    expect(capabilityNames.filter((name) => operationsOf(name).length > 0)).toEqual(parts);
  });
});

describe('a case', () => {
  it('needs the part whose status it covers', () => {
    expect(partsNeededBy(['tokens.missing-is-401'], ['post-alerts 401'])).toEqual(['monitor']);
  });

  it('needs the part of which its requirement speaks and of nothing else', () => {
    expect(partsNeededBy(['audit.list'], [])).toEqual(['audit-log']);
  });

  it('needs no part when its requirement speaks of several, or of none', () => {
    expect(partsNeededBy(['tokens.missing-is-401', 'tokens.renewal'], [])).toEqual([]);
  });
});

describe('a target', () => {
  it('has the operations of the parts that it offers, and those that every target has', () => {
    const without = operationsWith(new Set(['operator', 'monitor', 'deployments-v2']));
    expect(without.has('post-alerts')).toBe(true);
    expect(without.has('post-auth-request')).toBe(true);
    expect(without.has('list-audit-logs')).toBe(false);
    expect(without.has('connect')).toBe(false);
  });

  it('has every operation when it offers everything', () => {
    expect(operationsWith(new Set(capabilityNames))).toEqual(new Set(everyOperation));
  });
});
