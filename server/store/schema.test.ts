import { describe, expect, it } from 'vitest';
import { watchedTables } from './engine/table-changes.ts';
import { tenantShape } from './schema.ts';

/**
 * Returns the changes that the database makes besides the statement: bodies of triggers, and
 * cascades.
 */
function sideEffectsIn(schema: string): readonly string[] {
  const triggers = schema.match(/CREATE TRIGGER[\s\S]*?\bEND;/g) ?? [];
  const bodies = triggers.map((trigger) => trigger.replace(/^[\s\S]*?\bBEGIN\b/, ''));
  const cascades = schema.match(/^.*\bON (DELETE|UPDATE) (CASCADE|SET)\b.*$/gm) ?? [];
  return [...bodies, ...cascades];
}

const writesWatched = (text: string): boolean =>
  /CASCADE|SET NULL|SET DEFAULT/.test(text) ||
  Object.values(watchedTables).some((table) => table.test(text));

describe('the schema of a tenant', () => {
  it('has no side effect on a table whose reads are cached by the text of statements', () => {
    expect(sideEffectsIn(tenantShape.schema).filter(writesWatched)).toEqual([]);
  });

  it('is found to have side effects if a trigger or a cascade is added', () => {
    const trigger = `CREATE TRIGGER gone AFTER DELETE ON devices BEGIN
      DELETE FROM device_deployments WHERE device_id = old.id;
    END;`;
    const cascade = 'id TEXT REFERENCES devices (id) ON DELETE CASCADE,';
    expect(sideEffectsIn(`${trigger}\n${cascade}`).filter(writesWatched)).toHaveLength(2);
  });
});
