/** Reads the export of the audit log as a table; nothing about it is checked. Spec: Audit logs */
import { requireResponse } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { readCsv } from '../../target/csv.ts';
import { describeValue, ExpectationFailure } from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import type { AuditQuery } from './audit-reading.ts';

/** The lines of an export: the names of the fields, and the values of each record. */
export interface ExportTable {
  readonly names: readonly string[];
  readonly records: readonly (readonly string[])[];
}

/** Requests the export (`GET /logs/export`) and returns whatever is answered. */
export function requestExport(context: TestContext, query: AuditQuery): Promise<HttpResponse> {
  const headers = { accept: 'text/csv' };
  return context.admin.caller.call('export-audit-logs', { query, headers });
}

/** Returns the lines of an export, whatever their widths; needs the status 200. */
export async function exportedTable(context: TestContext, query: AuditQuery): Promise<ExportTable> {
  const response = await requestExport(context, query);
  requireResponse('export-audit-logs', response, 200);
  const [names = [], ...records] = readCsv(response.text);
  return { names, records };
}

/** Returns the first record that does not have a value for each name. */
export function findIrregularRecord({
  names,
  records,
}: ExportTable): readonly string[] | undefined {
  return records.find(({ length }) => length !== names.length);
}

/** Asserts that the first line has the names of the fields, even if no entry follows. */
export function expectNames({ names }: ExportTable): void {
  if (names.includes('action') || names.includes('time')) return;
  throw new ExpectationFailure(
    'an export that begins with the names of its fields',
    describeValue(names),
    ['audit.export-is-csv'],
  );
}
