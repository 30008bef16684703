/** Writes the audit log as CSV text, a group of entries at a time. Spec: GET /logs/export */
import type { AuditLog } from '../../../fixtures/contract/resources.ts';

/** A column of the CSV: the path of the field in an entry, and a function that reads its value. */
type CsvColumn = readonly [path: readonly string[], value: (entry: AuditLog) => string | undefined];

/** All columns, one for each possible field of an entry. */
const columns: readonly CsvColumn[] = [
  [['action'], ({ action }) => action],
  [['actor', 'id'], ({ actor }) => actor.id],
  [['actor', 'type'], ({ actor }) => actor.type],
  [['actor', 'email'], ({ actor }) => actor.email],
  [['actor', 'identity_data'], ({ actor }) => actor.identity_data],
  [['object', 'id'], ({ object }) => object.id],
  [['object', 'type'], ({ object }) => object.type],
  [['object', 'tenant', 'id'], ({ object }) => object.tenant?.id],
  [['object', 'tenant', 'name'], ({ object }) => object.tenant?.name],
  [['object', 'tenant', 'parent'], ({ object }) => object.tenant?.parent],
  [['object', 'user', 'email'], ({ object }) => object.user?.email],
  [['object', 'deployment', 'name'], ({ object }) => object.deployment?.name],
  [['object', 'deployment', 'artifact_name'], ({ object }) => object.deployment?.artifact_name],
  [['object', 'device', 'id'], ({ object }) => object.device?.id],
  [['object', 'device', 'identity_data'], ({ object }) => object.device?.identity_data],
  [['change'], ({ change }) => change],
  [['time'], ({ time }) => time],
];

interface AuditCsvOptions {
  /** Separator between the names of a nested field in the header. */
  readonly separator: string;
  /** Names of the fields to omit, written with the separator or with dots. */
  readonly ignored: readonly string[];
  /** True if text that a spreadsheet would run as a formula is prefixed with a single quote. */
  readonly spreadsheetSafe: boolean;
  readonly batches: Iterable<readonly AuditLog[]>;
}

/**
 * Returns the first given name that is not the name of a field, written with dots or with the
 * separator.
 */
export function unknownField(names: readonly string[], separator: string): string | undefined {
  const columnNames = new Set(columns.flatMap(([path]) => [path.join('.'), path.join(separator)]));
  return names.find((name) => !columnNames.has(name));
}

/** The names of all fields that can be omitted, written with dots. */
export const auditFields = columns.map(([path]) => path.join('.'));

/** Yields the CSV document in parts. The first part is the header line. */
export function* auditCsv(options: AuditCsvOptions): Generator<string> {
  const { separator, ignored, batches, spreadsheetSafe } = options;
  const exportedColumns = columns.filter(
    ([path]) => !ignored.includes(path.join(separator)) && !ignored.includes(path.join('.')),
  );
  const quoted = spreadsheetSafe ? safeField : csvField;
  yield `${exportedColumns.map(([path]) => quoted(path.join(separator))).join(',')}${lineEnd}`;
  const fields = exportedColumns.map(([, value]) => value);
  for (const entries of batches) {
    let text = '';
    for (const entry of entries) text += csvLine(entry, fields, quoted);
    yield text;
  }
}

type CsvFieldReader = CsvColumn[1];
type CsvQuoting = (text: string) => string;

/** Builds the line by concatenation, because most fields of an entry are empty. */
function csvLine(entry: AuditLog, fields: readonly CsvFieldReader[], quoted: CsvQuoting): string {
  let [line, comma] = ['', ''];
  for (const field of fields) {
    const value = field(entry);
    line += value ? comma + quoted(value) : comma;
    comma = ',';
  }
  return line + lineEnd;
}

const lineEnd = '\r\n';
const quotedSigns = /[",\r\n]/;
/**
 * Matches the characters that start a formula, and their full-width forms, which spreadsheets also
 * accept.
 */
const formulaStart = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/**
 * Returns a field quoted according to RFC 4180. Custom code, because the CSV library takes several
 * times as long per line.
 */
function csvField(text: string): string {
  return quotedSigns.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function safeField(text: string): string {
  return csvField(formulaStart.test(text) ? `'${text}` : text);
}
