/** The audit log as CSV text, a page of entries at a time. Spec: GET /logs/export */
import { stringify } from 'csv-stringify/sync';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import type { Page } from '../../store/page.ts';

/** Every possible field of an entry, nested names by their path. */
const columns: readonly (readonly string[])[] = [
  ['action'],
  ['actor', 'id'],
  ['actor', 'type'],
  ['actor', 'email'],
  ['actor', 'identity_data'],
  ['object', 'id'],
  ['object', 'type'],
  ['object', 'tenant', 'id'],
  ['object', 'tenant', 'name'],
  ['object', 'tenant', 'parent'],
  ['object', 'user', 'email'],
  ['object', 'deployment', 'name'],
  ['object', 'deployment', 'artifact_name'],
  ['object', 'device', 'id'],
  ['object', 'device', 'identity_data'],
  ['change'],
  ['time'],
];

/** Small enough that generating a part does not block noticeably. */
const ENTRIES_A_PART = 100;

interface AuditCsvOptions {
  /** Separates the names of a nested field in the header. */
  readonly separator: string;
  /** Header fields to omit, written with the separator or with dots. */
  readonly ignored: readonly string[];
  /** Puts a quote before text that a spreadsheet would run as a formula. */
  readonly spreadsheetSafe: boolean;
  readonly most: number;
  readonly read: (page: Page) => AuditLog[];
}

/** Returns the first field that does not exist, by either of its names. */
export function unknownField(given: readonly string[], separator: string): string | undefined {
  const known = new Set(columns.flatMap((path) => [path.join('.'), path.join(separator)]));
  return given.find((name) => !known.has(name));
}

/** The fields that can be omitted. */
export const auditFields = columns.map((path) => path.join('.'));

/** Yields the document in parts, the first of which begins with the header. */
export function* auditCsv(options: AuditCsvOptions): Generator<string> {
  const { separator, ignored, most, read, spreadsheetSafe } = options;
  const csv = (rows: readonly (readonly string[])[]): string => csvText(rows, spreadsheetSafe);
  const kept = columns.filter(
    (path) => !ignored.includes(path.join(separator)) && !ignored.includes(path.join('.')),
  );
  yield csv([kept.map((path) => path.join(separator))]);
  for (let page = 1, left = most; left > 0; page += 1) {
    const entries = read({ page, perPage: ENTRIES_A_PART }).slice(0, left);
    if (entries.length === 0) return;
    yield csv(entries.map((entry) => kept.map((path) => fieldOf(entry, path))));
    left -= entries.length;
  }
}

/** Quotes according to RFC 4180. */
function csvText(rows: readonly (readonly string[])[], escape_formulas: boolean): string {
  return stringify(
    rows.map((row) => [...row]),
    // By default the library quotes only the line end that it writes.
    { escape_formulas, record_delimiter: 'windows', quoted_match: /[\r\n]/ },
  );
}

function fieldOf(entry: AuditLog, path: readonly string[]): string {
  let value: unknown = entry;
  for (const name of path) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  }
  return typeof value === 'string' ? value : '';
}
