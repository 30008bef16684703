import { describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { permittedOnly } from './roles.ts';

const rows: Readonly<Record<string, Operation>> = managementOperations;
const asked = Object.entries(permittedOnly);

describe('the operations that a role without power must not reach', () => {
  it.each(asked)('%s takes a permission that not everybody has', (id) => {
    const takes = rows[id]?.permissions ?? [];
    expect(takes.length).toBeGreaterThan(0);
    expect(takes).not.toContain('Basic');
  });

  it.each(asked)('%s is asked for with all that its path needs', (id, { path = {} }) => {
    const parameters = [...(rows[id]?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(path).sort()).toEqual(parameters.sort());
  });

  it('are none that will be retired', () => {
    expect(asked.filter(([id]) => rows[id]?.deprecated).map(([id]) => id)).toEqual([]);
  });

  it('are of every permission set that opens anything', () => {
    const opened = new Set(asked.flatMap(([id]) => rows[id]?.permissions ?? []));
    const unneeded = ['UploadArtifacts'];
    const sets = new Set(Object.values(rows).flatMap(({ permissions = [] }) => permissions));
    for (const set of ['Basic', 'ReadAuditLogs', ...unneeded]) sets.delete(set as never);
    expect([...sets].filter((set) => !opened.has(set))).toEqual([]);
  });
});
