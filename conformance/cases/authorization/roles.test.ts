import { describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { permittedOnly } from './roles.ts';

const rows: Readonly<Record<string, Operation>> = managementOperations;
const calls = Object.entries(permittedOnly);

describe('the requests for the role without permissions', () => {
  it.each(calls)('call %s, which requires a permission other than Basic', (id) => {
    const takes = rows[id]?.permissions ?? [];
    expect(takes.length).toBeGreaterThan(0);
    expect(takes).not.toContain('Basic');
  });

  it.each(calls)('call %s with every parameter of its path', (id, { path = {} }) => {
    const parameters = [...(rows[id]?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(path).sort()).toEqual(parameters.sort());
  });

  it('call no deprecated operation', () => {
    expect(calls.filter(([id]) => rows[id]?.deprecated).map(([id]) => id)).toEqual([]);
  });

  it('cover every permission set that gives access to an operation', () => {
    const opened = new Set(calls.flatMap(([id]) => rows[id]?.permissions ?? []));
    const unneeded = ['UploadArtifacts'];
    const sets = new Set(Object.values(rows).flatMap(({ permissions = [] }) => permissions));
    for (const set of ['Basic', 'ReadAuditLogs', ...unneeded]) sets.delete(set as never);
    expect([...sets].filter((set) => !opened.has(set))).toEqual([]);
  });
});
