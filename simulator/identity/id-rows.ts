/** Parses `id_data` from CSV. The first row names the members; device 0 uses the row after it. */
import { countText } from '../../fixtures/base/count-text.ts';
import { CsvError, type CsvField, csvRecords } from './csv.ts';
import { type IdDataOf, identityKey } from './identity.ts';
import { IdentityError } from './identity-error.ts';

/** The file name and the number of devices for parsing a CSV file. */
interface CsvSource {
  /** File name, which precedes every error message. */
  readonly file: string;
  readonly devices: number;
}

const MEMBERS_MAX = 100;

/**
 * Parses one row for each device and ignores further rows.
 * @throws IdentityError with file, line and column
 */
export function readIdRows(text: string, { file, devices }: CsvSource): IdDataOf {
  try {
    const rows = rowsOf(text, devices);
    return ({ index }) => rows[index] ?? {};
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { line, column, message } = error;
    throw new IdentityError(`${file}, line ${line}, column ${column}: ${message}.`);
  }
}

function rowsOf(text: string, devices: number): Readonly<Record<string, string>>[] {
  const records = csvRecords(text);
  const header = records.next().value;
  if (header === undefined) {
    throw new CsvError('the file is empty; its first row must name the members', start);
  }
  const names = namesIn(header);
  const rows: Readonly<Record<string, string>>[] = [];
  const lines = new Map<string, number>();
  for (const record of records) {
    const row = rowOf(record, names);
    const key = identityKey(row);
    const [first = { ...start, text: '' }] = record;
    const earlierLine = lines.get(key);
    if (earlierLine !== undefined) {
      throw new CsvError(`this is the same device as in line ${earlierLine}`, first);
    }
    lines.set(key, first.line);
    if (rows.push(row) === devices) return rows;
  }
  const last = { line: text.split('\n').length, column: 1 };
  throw new CsvError(
    `the file has ${countText(rows.length, 'row')} for ${countText(devices, 'device')}`,
    last,
  );
}

const start = { line: 1, column: 1 };

function namesIn(header: readonly CsvField[]): readonly string[] {
  if (header.length > MEMBERS_MAX) {
    throw new CsvError(
      `there are ${header.length} columns; at most ${MEMBERS_MAX} are allowed`,
      start,
    );
  }
  const names = new Set<string>();
  for (const field of header) {
    if (field.text.trim() === '') throw new CsvError('a column has no name', field);
    if (/[;\t]/.test(field.text)) throw new CsvError('columns must be separated by commas', field);
    if (names.has(field.text)) throw new CsvError(`two columns are named ${field.text}`, field);
    names.add(field.text);
  }
  return [...names];
}

function rowOf(record: readonly CsvField[], names: readonly string[]) {
  const extraField = record[names.length];
  if (extraField !== undefined) {
    throw new CsvError(
      `this row has more columns than the header, which names ${names.length}`,
      extraField,
    );
  }
  const entries = names.map((name, position) => {
    const field = record[position];
    const place = field ?? record.at(-1) ?? start;
    if (field === undefined) throw new CsvError(`the column ${name} is missing`, place);
    if (field.text === '') throw new CsvError(`the column ${name} is empty`, place);
    return [name, field.text] as const;
  });
  return Object.fromEntries(entries);
}
