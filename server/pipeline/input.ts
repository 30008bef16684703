/** Validates query and body against the operation's shapes; the first error becomes a 400. */
import * as v from 'valibot';
import { firstCharacters } from '../../fixtures/base/characters.ts';
import { parsedJson } from '../../fixtures/base/json.ts';
import { jsonExcess } from '../../fixtures/base/json-bounds.ts';
import { jsonBreak } from '../../fixtures/base/json-break.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { isArrayForObject, noArray, placedSentence } from '../../fixtures/base/shape-sentences.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { type ShapeFacts, shapeDetail } from '../http/problem-detail.ts';
import { Refusal, refuse } from '../http/refusal.ts';

/** Only the first error is reported, and a body may contain a hundred thousand. */
const firstProblem = { abortEarly: true } as const;

const querySchemas = new WeakMap<Operation, v.GenericSchema>();

/** Valid queries by operation and text: a device sends the same query with each poll. */
const validQueries = new WeakMap<Operation, Map<string, object>>();
const VALID_QUERIES_MAX = 1000;
const VALID_QUERY_MAX_CHARACTERS = 256;
const UNKNOWN_NAMES_MAX = 16;

/** Returns the validated query in the format that the handler receives. */
export function readQuery(operation: Operation, search: string): object | Refusal {
  if (!operation.query) return noQuery;
  let cachedQueries = validQueries.get(operation);
  const cachedQuery = cachedQueries?.get(search);
  if (cachedQuery) return cachedQuery;
  const query = checkedQuery(operation, operation.query, search);
  if (query instanceof Refusal || search.length > VALID_QUERY_MAX_CHARACTERS) return query;
  if (!cachedQueries || cachedQueries.size >= VALID_QUERIES_MAX) {
    cachedQueries = new Map();
    validQueries.set(operation, cachedQueries);
  }
  cachedQueries.set(search, Object.freeze(query));
  return query;
}

const noQuery = Object.freeze({});

function checkedQuery(
  operation: Operation,
  entries: v.ObjectEntries,
  search: string,
): object | Refusal {
  const rawQuery: Record<string, string | string[]> = Object.create(null);
  const parameters = new URLSearchParams(search);
  // Unknown parameters have no effect; a misspelt one helps to explain a missing one.
  const unknownNames = [...parameters.keys()].filter((name) => !Object.hasOwn(entries, name));
  for (const name of [...Object.keys(entries), ...unknownNames.slice(0, UNKNOWN_NAMES_MAX)]) {
    const values = parameters.getAll(name);
    if (values[0] !== undefined) rawQuery[name] = values.length === 1 ? values[0] : values;
  }
  const schema = querySchemaOf(operation, entries);
  const parseResult = v.safeParse(schema, rawQuery, firstProblem);
  if (parseResult.success) return parseResult.output as object;
  const [issue] = parseResult.issues;
  return refuse.malformed(
    `query: ${problemOf(issue, { schema })}`,
    shapeDetail('query', issue, { schema }),
  );
}

/** Returns the validated body in the format that the handler receives. */
export function readJson(
  schema: v.GenericSchema,
  raw: Buffer,
  valuesMax: number = limits.bodyValuesMax,
): { body: unknown } | Refusal {
  const excess = excessOf(raw, valuesMax);
  if (excess !== undefined) return refuse.tooManyValues(excess, valuesMax);
  let text: string | undefined;
  let value: unknown;
  try {
    text = utf8.decode(raw);
    value = JSON.parse(text);
  } catch {
    return notJson(raw, text);
  }
  // Half surrogate pairs cannot be stored. They can only come from escapes, so most bodies need no
  // search.
  if (surrogateEscape.test(text) && !isWellFormed(value)) return halfSurrogate;
  if (isArrayForObject(schema, value)) return noObject;
  if (typeof value === 'string' && /^\s*[[{]/.test(value) && parsedJson(value)) return encodedTwice;
  const parseResult = v.safeParse(schema, value, firstProblem);
  if (parseResult.success) return { body: parseResult.output };
  const [issue] = parseResult.issues;
  return refuse.malformed(
    `body: ${problemOf(issue, { schema })}`,
    shapeDetail('body', issue, { schema }),
  );
}

/** Returns why a body contains too many values to be parsed; undefined when it does not. */
export function excessOf(
  raw: Buffer,
  valuesMax: number = limits.bodyValuesMax,
): string | undefined {
  // Every value takes at least a byte and a comma, so a shorter text cannot contain too many.
  if (raw.length < valuesMax) return undefined;
  return jsonExcess(raw, { depthMax: Number.POSITIVE_INFINITY, valuesMax });
}

const encodedTwice = refuse.malformed(
  'body: is a JSON string that holds JSON text; it was encoded twice, so encode it once',
  {
    path: 'body',
    expected: 'JSON that was encoded once',
    actual: 'a string that holds the text of JSON',
    remedy: 'encode it once: the "json" option of an HTTP client takes the value, not its text',
  },
);
const noObject = refuse.malformed(`body: ${noArray}`, {
  path: 'body',
  expected: 'an object',
  actual: 'an array',
});

const uncompressed = 'send the body uncompressed: requests take no Content-Encoding';
const inUtf8 = 'encode the text as UTF-8';

/**
 * Encodings other than UTF-8, recognized by the first two bytes of the body in hexadecimal, with
 * advice.
 */
const encodings: readonly (readonly [start: RegExp, actual: string, remedy: string])[] = [
  [/^1f8b/, 'bytes compressed with gzip', uncompressed],
  [/^78(?:01|5e|9c|da)/, 'bytes compressed with zlib (deflate)', uncompressed],
  [/^(?:fffe|feff)|^00(?!00)|^(?!00)..00/, 'text in UTF-16', inUtf8],
];

/** Returns the refusal of a body that is not JSON, with the position and kind of the error. */
function notJson(raw: Buffer, text: string | undefined): Refusal {
  const expected = 'JSON text in UTF-8';
  const start = raw.toString('hex', 0, 2);
  const [, actual, remedy] = encodings.find(([pattern]) => pattern.test(start)) ?? [];
  if (actual !== undefined && remedy !== undefined) {
    const problem = `is not JSON text in UTF-8, but ${actual}; ${remedy}`;
    return refuse.malformedAt('body', { problem }, { expected, actual, remedy });
  }
  const where = text === undefined ? notUtf8(raw) : jsonBreak(text);
  const kind =
    text === undefined ? `${raw.length} bytes that are not UTF-8` : 'text that is not JSON';
  const problem = `is not JSON text in UTF-8: it ${where}`;
  return refuse.malformedAt('body', { problem }, { expected, actual: `${kind}: it ${where}` });
}

/** Describes the first bytes that are not UTF-8, as the end of a sentence. */
function notUtf8(raw: Buffer): string {
  const decodedText = raw.toString('utf8');
  let at = -1;
  let position = 0;
  do {
    at = decodedText.indexOf('\ufffd', at + 1);
    position = Buffer.byteLength(decodedText.slice(0, at));
    // The text may itself contain the replacement character.
  } while (raw.subarray(position, position + 3).equals(replacement));
  const byte = raw[position] ?? 0;
  const isCut =
    raw.length - position < 4 && byte >= 0xc2 && raw.subarray(position + 1).every(isInner);
  if (isCut) return `ends at position ${position} within a character of several bytes`;
  const letter = raw.toString('latin1', position, position + 1);
  const near = printable(raw.toString('latin1', Math.max(0, position - 10), position + 10));
  const hex = byte.toString(16).toUpperCase().padStart(2, '0');
  return `breaks at position ${position}, near ${near}: the byte 0x${hex} is not valid UTF-8, but ${printable(letter)} in ISO 8859-1 (Latin-1)`;
}

const replacement = Buffer.from('\ufffd');
const isInner = (byte: number): boolean => (byte & 0xc0) === 0x80;

const surrogateEscape = /\\u[dD][89a-fA-F]/;
const halfSurrogate = refuse.malformed(
  'body: contains half a surrogate pair, which UTF-8 cannot encode',
  { path: 'body', expected: 'surrogates in pairs, such as \\ud83d\\ude00', actual: 'half a pair' },
);

/** Returns true when all names and strings of a JSON value can be encoded in UTF-8. */
function isWellFormed(json: unknown): boolean {
  const values = [json];
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    if (typeof value === 'string' && halfPair.test(value)) return false;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value)) values.push(name, member);
  }
  return true;
}

const halfPair = /\p{Cs}/u;
/**
 * `ignoreBOM` keeps a byte order mark in the text, so that it is refused: RFC 8259, section 8.1,
 * forbids to send one.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns one sentence that names the field and the error. */
export function problemOf(
  issue: v.BaseIssue<unknown>,
  { schema, names = {} }: Partial<ShapeFacts> = {},
): string {
  const { path: keys, sentence } = placedSentence(issue, schema);
  const path = keys.join('.');
  const position = path === '' ? '' : `${names[path] ?? path}: `;
  return firstCharacters(`${position}${sentence}`, PROBLEM_MAX_CHARACTERS);
}

/** The sentence quotes the input; this bounds its length. */
const PROBLEM_MAX_CHARACTERS = 500;

function querySchemaOf(operation: Operation, entries: v.ObjectEntries): v.GenericSchema {
  const cachedSchema = querySchemas.get(operation);
  if (cachedSchema) return cachedSchema;
  const schema = v.object(entries);
  querySchemas.set(operation, schema);
  return schema;
}
