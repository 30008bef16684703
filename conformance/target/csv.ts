/** Reads CSV in the form of the audit log export. RFC 4180 */

/** Length of the excerpt that an error shows from where a document becomes invalid. */
const SHOWN_CHARACTERS = 40;

const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;

/** Returns the records of a document, field names first; an empty document has none. */
export function readCsv(document: string): readonly (readonly string[])[] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [match, quoted, plain = '', end] of document.matchAll(field)) {
    // The pattern also matches the empty text at the end of the document, which is not a record.
    if (match === '' && record.length === 0) break;
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}

/** Returns a sentence that says where a document violates the grammar; undefined if it is valid. */
export function csvProblem(document: string): string | undefined {
  let end = 0;
  for (const [match] of document.matchAll(field)) end += match.length;
  if (end === document.length) return undefined;
  const excerpt = document.slice(end, end + SHOWN_CHARACTERS);
  return `no field can be read at character ${end}: ${JSON.stringify(excerpt)}`;
}
