import { describe, expect, it } from 'vitest';
import { operations } from '../../../fixtures/contract/operations.ts';
import { auditActions, auditObjectTypes } from '../../../fixtures/contract/vocabulary.ts';
import { auditFilters } from './audit-filters.ts';
import { actions, actionsOf, at, exportedTypes, objectTypes } from './audit-reading.ts';
import { isWithinASecond } from './audit-shown-values.ts';

describe('the tables of the audit log', () => {
  it('name exactly the actions and object types of the contract', () => {
    expect([...actions].sort()).toEqual([...auditActions].sort());
    expect([...objectTypes].sort()).toEqual([...auditObjectTypes].sort());
  });

  it('name the object types of the export, which lack only the tenant', () => {
    expect(objectTypes.filter((type) => !exportedTypes.includes(type))).toEqual(['tenant']);
  });

  it('have a filter for each filtering parameter of the list and the export', () => {
    const otherParameters = [
      'page',
      'per_page',
      'sort',
      'limit',
      'format_separator',
      'ignore',
      'object_id',
    ];
    for (const id of ['list-audit-logs', 'export-audit-logs'] as const) {
      const parameters = Object.keys(operations[id].query ?? {});
      const filters = parameters.filter((name) => !otherParameters.includes(name));
      expect(filters.map((name) => name.replaceAll('_', '-')).sort()).toEqual(
        Object.keys(auditFilters).sort(),
      );
    }
  });
});

describe('the reader of audit entries', () => {
  it.each([
    ['2026-11-29T15:33:20.001Z', true],
    ['2026-11-29T15:33:20.000Z', false],
    ['2026-11-29T15:33:20Z', false],
  ])('learns from an entry of %s how a server compares seconds: %j', (time, isProbe) => {
    expect(isWithinASecond({ time })).toBe(isProbe);
  });

  it('finds no member below a value that is not an object', () => {
    expect(at({ actor: 'someone' }, 'actor.id')).toBeUndefined();
    expect(at({ actor: { id: 7 } }, 'actor.id')).toBe(7);
  });

  it.each([[[]], [[{ action: 'create' }]], [[{ action: 'abort' }, { action: 'abort' }]]])(
    'reports a missed start state when entries cannot be told apart: %j',
    (found) => {
      expect(() => actionsOf(found)).toThrow('the start state needs an entry `create`');
    },
  );
});
