/** The audit log as CSV text, some entries at a time. Spec: GET /logs/export */
import type { AuditLog } from '../../../fixtures/contract/resources.ts';

/** Values of an entry by the path of the field. */
type Column = readonly [path: readonly string[], value: (entry: AuditLog) => string | undefined];

/** Every possible field of an entry. */
const columns: readonly Column[] = [
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
  /** Separates the names of a nested field in the header. */
  readonly separator: string;
  /** Header fields to omit, written with the separator or with dots. */
  readonly ignored: readonly string[];
  /** Puts a quote before text that a spreadsheet would run as a formula. */
  readonly spreadsheetSafe: boolean;
  readonly parts: Iterable<readonly AuditLog[]>;
}

/** Returns the first field that does not exist, by either of its names. */
export function unknownField(given: readonly string[], separator: string): string | undefined {
  const known = new Set(columns.flatMap(([path]) => [path.join('.'), path.join(separator)]));
  return given.find((name) => !known.has(name));
}

/** The fields that can be omitted. */
export const auditFields = columns.map(([path]) => path.join('.'));

/** Yields the document in parts, the first of which begins with the header. */
export function* auditCsv(options: AuditCsvOptions): Generator<string> {
  const { separator, ignored, parts, spreadsheetSafe } = options;
  const kept = columns.filter(
    ([path]) => !ignored.includes(path.join(separator)) && !ignored.includes(path.join('.')),
  );
  const quoted = spreadsheetSafe ? safeField : csvField;
  yield `${kept.map(([path]) => quoted(path.join(separator))).join(',')}${lineEnd}`;
  const fields = kept.map(([, value]) => value);
  for (const entries of parts) {
    let text = '';
    for (const entry of entries) text += csvLine(entry, fields, quoted);
    yield text;
  }
}

type Field = Column[1];
type Quoting = (text: string) => string;

/** Pieced together, as most fields of an entry are empty. */
function csvLine(entry: AuditLog, fields: readonly Field[], quoted: Quoting): string {
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
/** Wide forms too, which spreadsheets take for the signs. */
const formulaStart = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/**
 * A field according to RFC 4180. Custom code, because with the library a line costs several times as
 * much.
 */
function csvField(text: string): string {
  return quotedSigns.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function safeField(text: string): string {
  return csvField(formulaStart.test(text) ? `'${text}` : text);
}
