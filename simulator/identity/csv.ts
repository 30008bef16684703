/**
 * Parses comma-separated values as RFC 4180 defines them: fields that contain commas, quotes or
 * line breaks are quoted, and quotes within them are doubled. Every field and every error has a
 * line and a column.
 * This parser exists because no library reports the position of a field. csv-parse (7.0) reports
 * the last line of a record and the number of a field but no column, and for an unclosed quote only
 * the last line of the file. papaparse (5.7) counts records and accepts a stray quote.
 */

/** A field with the position of its first character; line and column count from 1. */
export interface CsvField {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** Thrown for malformed text, with the position. */
export class CsvError extends Error {
  override readonly name = 'CsvError';
  readonly line: number;
  readonly column: number;

  constructor(
    problem: string,
    { line, column }: { readonly line: number; readonly column: number },
  ) {
    super(problem);
    this.line = line;
    this.column = column;
  }
}

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Yields the records of CSV text, without empty lines.
 * @throws CsvError
 */
export function* csvRecords(text: string): Generator<readonly CsvField[]> {
  const reader = new CsvReader(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  while (!reader.atEnd) {
    const record = reader.record();
    if (record.length > 1 || record[0]?.text !== '') yield record;
  }
}

class CsvReader {
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  record(): CsvField[] {
    const fields: CsvField[] = [];
    for (;;) {
      fields.push(this.#field());
      const next = this.#text[this.#at];
      if (next !== ',') {
        this.#endLine();
        return fields;
      }
      this.#at++;
    }
  }

  #field(): CsvField {
    const position = this.#position();
    if (this.#text[this.#at] === '"') return { ...position, text: this.#quoted() };
    const start = this.#at;
    while (!this.atEnd && !',\r\n'.includes(this.#text[this.#at] ?? '')) {
      if (this.#text[this.#at] === '"') {
        throw new CsvError(
          'a field contains a quote but does not begin with one',
          this.#position(),
        );
      }
      this.#at++;
    }
    return { ...position, text: this.#text.slice(start, this.#at) };
  }

  #quoted(): string {
    const quotePosition = this.#position();
    let text = '';
    for (this.#at++; ; this.#at++) {
      const character = this.#text[this.#at];
      if (character === undefined) throw new CsvError('this quote is never closed', quotePosition);
      if (character === '\n') this.#newLine(this.#at + 1);
      if (character !== '"') text += character;
      else if (this.#text[this.#at + 1] === '"') text += this.#text[this.#at++];
      else break;
    }
    this.#at++;
    if (!this.atEnd && !',\r\n'.includes(this.#text[this.#at] ?? '')) {
      throw new CsvError('a comma is missing after the closing quote', this.#position());
    }
    return text;
  }

  #endLine(): void {
    if (this.#text[this.#at] === '\r') this.#at++;
    if (this.#text[this.#at] === '\n') this.#at++;
    this.#newLine(this.#at);
  }

  #newLine(start: number): void {
    this.#line++;
    this.#lineStart = start;
  }

  #position() {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }
}
