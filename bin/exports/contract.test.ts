import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as contract from './contract.ts';

describe('the contract as data', () => {
  it('names each operation of a requirement among the operations', () => {
    const known = Object.keys(contract.operations);
    expect(known).toHaveLength(20);
    for (const { operations } of Object.values(contract.requirements)) {
      expect(known).toEqual(expect.arrayContaining([...operations]));
    }
  });

  it('has a JSON Schema of every shape', () => {
    for (const shape of Object.values(contract.shapes)) {
      expect(contract.jsonSchema(shape)).toHaveProperty('$schema');
    }
    expect(contract.jsonSchema(contract.shapes.deploymentStatus)).toMatchObject({
      type: 'object',
      required: ['status'],
    });
  });

  it('distinguishes valid values of a shape from invalid ones', () => {
    const { deploymentStatus } = contract.shapes;
    expect(v.is(deploymentStatus, { status: 'success' })).toBe(true);
    expect(v.is(deploymentStatus, { status: 'done' })).toBe(false);
    expect(contract.reportableStatuses).toContain('success');
  });
});
