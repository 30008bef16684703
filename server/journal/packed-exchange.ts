/**
 * Stores an exchange of the journal in reusable memory outside the JavaScript heap. As objects,
 * thousands of records a second survived the young generation, and collecting them made the slowest
 * polls wait several times as long.
 */
import { ExchangeRecord, type FlatHeaders } from '../http/exchange-record.ts';
import type { Slab, Slabs } from './slabs.ts';

/** Maximum number of UTF-8 bytes for a UTF-16 unit. */
const UTF8_BYTES_MAX = 3;
/** Approximate size of the object without its bytes. */
const SLOT_BYTES = 256;
/** A character that occurs in no method, target, request ID or header. */
const SEPARATOR = '\n';

/** The fields of a record that are stored unchanged. */
type UnchangedFields = Pick<
  ExchangeRecord,
  | 'sequence'
  | 'atMs'
  | 'tookMs'
  | 'streamedMs'
  | 'operation'
  | 'deviceId'
  | 'userId'
  | 'bodyBytes'
  | 'status'
  | 'responseBytes'
  | 'isStreamed'
  | 'isIncomplete'
  | 'refusal'
  | 'noUpdate'
>;

/** A place of the journal's ring, which holds one exchange at a time. */
export class PackedExchange implements UnchangedFields {
  readonly kind = 'packed';
  countedBytes = 0;
  sequence = 0;
  atMs = 0;
  tookMs = 0;
  streamedMs = 0;
  operation: string | undefined;
  deviceId: string | undefined;
  userId: string | undefined;
  bodyBytes = 0;
  status = 0;
  responseBytes = 0;
  isStreamed = false;
  isIncomplete = false;
  refusal: ExchangeRecord['refusal'];
  noUpdate: ExchangeRecord['noUpdate'];
  #slab: Slab | undefined;
  /** Offsets in the slab: the start of the text, and the ends of the text and of the two bodies. */
  #start = 0;
  #textEnd = 0;
  #bodyEnd = 0;
  #responseEnd = 0;
  #hasBody = false;
  #hasResponse = false;
  #requestIdLength = 0;
  /** Number of header names and values of the request. Those of the response follow in the text. */
  #requestHeaders = 0;

  /** Stores a complete record whose response was neither varied nor changed by a fault. */
  pack(record: ExchangeRecord, slabs: Slabs): void {
    copyFacts(record, this);
    const { requestId, headers, body, responseBody } = record;
    const text = textOf(record);
    const slab = slabs.slabFor(mostBytesOf(text) + mostBytesOf(body) + mostBytesOf(responseBody));
    this.#slab = slab;
    this.#requestIdLength = requestId.length;
    this.#requestHeaders = headers.length;
    this.#hasBody = body !== undefined;
    this.#hasResponse = responseBody !== undefined;
    this.#start = slab.used;
    this.#textEnd = writeContent(slab, text);
    this.#bodyEnd = writeContent(slab, body);
    this.#responseEnd = writeContent(slab, responseBody);
    this.countedBytes = SLOT_BYTES + this.#responseEnd - this.#start;
  }

  /** Returns a copy of the exchange, which later exchanges do not overwrite. */
  unpacked(): ExchangeRecord {
    const bytes = this.#slab?.bytes ?? Buffer.alloc(0);
    const text = bytes.toString('utf8', this.#start, this.#textEnd);
    const [requestId = '', method = '', url = '', ...headers] = text.split(SEPARATOR);
    const rawHeaders = headers.slice(0, this.#requestHeaders);
    const record = new ExchangeRecord({ method, url, rawHeaders }, requestId);
    copyFacts(this, record);
    record.isComplete = true;
    record.responseHeaders = headers.slice(this.#requestHeaders);
    if (this.#hasBody) record.body = Buffer.from(bytes.subarray(this.#textEnd, this.#bodyEnd));
    if (this.#hasResponse)
      record.responseBody = Buffer.from(bytes.subarray(this.#bodyEnd, this.#responseEnd));
    return record;
  }

  /** Returns true if the exchange has this request ID. */
  isOf(requestId: string): boolean {
    const end = this.#start + this.#requestIdLength;
    return (
      requestId.length === this.#requestIdLength &&
      this.#slab?.bytes.toString('latin1', this.#start, end) === requestId
    );
  }

  /** Releases the bytes. Must be called before the place is reused. */
  release(slabs: Slabs): void {
    if (this.#slab) slabs.giveBack(this.#slab);
    this.#slab = undefined;
    this.refusal = undefined;
  }
}

function copyFacts(
  from: UnchangedFields,
  to: { -readonly [Name in keyof UnchangedFields]: UnchangedFields[Name] },
): void {
  to.sequence = from.sequence;
  to.atMs = from.atMs;
  to.tookMs = from.tookMs;
  to.streamedMs = from.streamedMs;
  to.operation = from.operation;
  to.deviceId = from.deviceId;
  to.userId = from.userId;
  to.bodyBytes = from.bodyBytes;
  to.status = from.status;
  to.responseBytes = from.responseBytes;
  to.isStreamed = from.isStreamed;
  to.isIncomplete = from.isIncomplete;
  to.refusal = from.refusal;
  to.noUpdate = from.noUpdate;
}

/** Joins the texts by concatenation, which is faster than `join`. */
function textOf({ requestId, method, url, headers, responseHeaders }: ExchangeRecord): string {
  let text = requestId + SEPARATOR + method + SEPARATOR + url;
  for (const part of headers) text += SEPARATOR + part;
  for (const part of singleValues(responseHeaders)) text += SEPARATOR + part;
  return text;
}

/** Returns alternating names and values, repeating the name for each of several values. */
function singleValues(flat: FlatHeaders): readonly string[] {
  if (flat.every((part) => typeof part === 'string')) return flat;
  const names = flat.filter((_, at) => at % 2 === 0).map(String);
  return names.flatMap((name, at) =>
    [flat[2 * at + 1] ?? ''].flat().flatMap((value) => [name, value]),
  );
}

function mostBytesOf(content: string | Buffer | undefined): number {
  if (content === undefined) return 0;
  return typeof content === 'string' ? content.length * UTF8_BYTES_MAX : content.length;
}

/**
 * Appends to the slab.
 * @returns the end of the slab's used part
 */
function writeContent(slab: Slab, content: string | Buffer | undefined): number {
  if (typeof content === 'string') slab.used += slab.bytes.write(content, slab.used);
  else if (content) slab.used += content.copy(slab.bytes, slab.used);
  return slab.used;
}
