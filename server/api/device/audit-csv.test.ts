import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import { auditCsv, auditFields } from './audit-csv.ts';

const hostile = fc.string({ unit: fc.constantFrom(...`",\r\n';\t=+-@ aü😀\0\u2028`) });

const entries = fc.record(
  {
    action: fc.constantFrom('create', 'update'),
    actor: fc.record({ id: hostile, type: fc.constant('user'), email: hostile }),
    object: fc.record(
      {
        id: hostile,
        type: fc.constant('device'),
        tenant: fc.record({ id: hostile, name: hostile, parent: hostile }),
        user: fc.record({ email: hostile }),
        deployment: fc.record({ name: hostile, artifact_name: hostile }),
        device: fc.record({ id: hostile, identity_data: hostile }),
      },
      { requiredKeys: ['id', 'type'] },
    ),
    change: hostile,
    time: fc.constant('2026-11-21T12:00:00.000Z'),
  },
  { requiredKeys: ['action', 'actor', 'object', 'time'] },
) as fc.Arbitrary<AuditLog>;

function written(entry: AuditLog, spreadsheetSafe: boolean): string[][] {
  const parts = auditCsv({ separator: '.', ignored: [], spreadsheetSafe, batches: [[entry]] });
  return linesOf([...parts].join(''));
}

/** Reads CSV character by character. */
function linesOf(csv: string): string[][] {
  const lines: string[][] = [];
  let [line, field, isQuoted]: [string[], string, boolean] = [[], '', false];
  for (let at = 0; at < csv.length; at++) {
    const sign = csv[at] ?? '';
    if (isQuoted && csv.startsWith('""', at)) field += csv[at++];
    else if (sign === '"') isQuoted = !isQuoted;
    else if (isQuoted || !/[,\r\n]/.test(sign)) field += sign;
    else if (sign === ',' || csv.startsWith('\r\n', at)) {
      line.push(field);
      field = '';
      if (sign === ',') continue;
      lines.push(line);
      line = [];
      at += 1;
    } else throw new Error(`a bare line end at ${at}`);
  }
  return lines;
}

function valueAt(entry: object, field: string): string {
  let value: unknown = entry;
  for (const name of field.split('.')) value = Object(value)[name];
  return String(value ?? '');
}

describe('the CSV document of the audit log', () => {
  it('preserves any value unchanged', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const values = auditFields.map((field) => valueAt(entry, field));
        expect(written(entry, false)).toEqual([auditFields, values]);
      }),
    );
  });

  it('prefixes a quote to each value that a spreadsheet would evaluate', () => {
    fc.assert(
      fc.property(entries, (entry) => {
        const values = auditFields.map((field) => valueAt(entry, field));
        const safe = values.map((value) => value.replace(/^(?=[=+\-@\t\r＝＋－＠])/, "'"));
        expect(written(entry, true)).toEqual([auditFields, safe]);
      }),
    );
  });
});
