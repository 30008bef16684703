/** Reads CSV in the form of the audit log export. RFC 4180 */

const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;

/** Returns the records of a document, field names first; an empty document has none. */
export function readCsv(document: string): readonly (readonly string[])[] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [whole, quoted, plain = '', end] of document.matchAll(field)) {
    // The end of the document matches once more, as an empty field of no record.
    if (whole === '' && record.length === 0) break;
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}
