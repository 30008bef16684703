/**
 * Checks parameters, query and body against the operation's shapes; the first fault becomes a 400.
 */

import * as v from 'valibot';
import { firstCharacters } from '../../fixtures/characters.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { jsonExcess } from '../../fixtures/json-bounds.ts';
import { arrayForObject, sentenceOf } from '../../fixtures/shape-sentences.ts';
import { shapeDetail } from '../http/problem-detail.ts';
import { Refusal, type RefusalDetail, refuse } from '../http/refusal.ts';

/** Only one is reported, and a body may have a hundred thousand. */
const firstProblem = { abortEarly: true } as const;

const querySchemas = new WeakMap<Operation, v.GenericSchema>();

/** Queries that were right, by operation and text: a device sends the same one with each poll. */
const rightQueries = new WeakMap<Operation, Map<string, object>>();
const RIGHT_QUERIES_MAX = 1000;
const RIGHT_QUERY_MAX_CHARACTERS = 256;

/** Returns the checked query as the handler receives it. */
export function readQuery(operation: Operation, search: string): object | Refusal {
  if (!operation.query) return noQuery;
  let known = rightQueries.get(operation);
  const before = known?.get(search);
  if (before) return before;
  const read = checkedQuery(operation, operation.query, search);
  if (read instanceof Refusal || search.length > RIGHT_QUERY_MAX_CHARACTERS) return read;
  if (!known || known.size >= RIGHT_QUERIES_MAX) {
    known = new Map();
    rightQueries.set(operation, known);
  }
  known.set(search, Object.freeze(read));
  return read;
}

const noQuery = Object.freeze({});

function checkedQuery(
  operation: Operation,
  entries: v.ObjectEntries,
  search: string,
): object | Refusal {
  const given: Record<string, string | string[]> = Object.create(null);
  const parameters = new URLSearchParams(search);
  for (const name of Object.keys(entries)) {
    const values = parameters.getAll(name);
    if (values[0] !== undefined) given[name] = values.length === 1 ? values[0] : values;
  }
  const schema = querySchemaOf(operation, entries);
  const checked = v.safeParse(schema, given, firstProblem);
  if (checked.success) return checked.output as object;
  const [issue] = checked.issues;
  return refuse.malformed(`query: ${problemOf(issue)}`, shapeDetail('query', issue, { schema }));
}

/** Returns the checked body as the handler receives it. */
export function readJson(
  schema: v.GenericSchema,
  raw: Buffer,
  valuesMax: number = limits.bodyValuesMax,
): { body: unknown } | Refusal {
  const excess = excessOf(raw, valuesMax);
  if (excess !== undefined) return refuse.tooManyValues(excess, valuesMax);
  let text: string;
  let given: unknown;
  try {
    text = utf8.decode(raw);
    given = JSON.parse(text);
  } catch (error) {
    return refuse.malformed('body: is not JSON in UTF-8', notJson(raw, error));
  }
  // Unstorable texts can only come from escapes, so few bodies need to be searched.
  if (surrogateEscape.test(text) && !isWellFormed(given)) return halfSurrogate;
  if (Array.isArray(given) && objectTypes.has(schema.type)) return noObject;
  const checked = v.safeParse(schema, given, firstProblem);
  if (checked.success) return { body: checked.output };
  const [issue] = checked.issues;
  return refuse.malformed(`body: ${problemOf(issue)}`, shapeDetail('body', issue, { schema }));
}

/** Why a body holds too many values to be parsed; nothing where it does not. */
export function excessOf(
  raw: Buffer,
  valuesMax: number = limits.bodyValuesMax,
): string | undefined {
  // A value takes a byte and a comma; a shorter text cannot hold too many.
  if (raw.length < valuesMax) return undefined;
  return jsonExcess(raw, { depthMax: Number.POSITIVE_INFINITY, valuesMax });
}

/** Shapes that would accept an array as an object. */
const objectTypes = new Set(['object', 'loose_object', 'strict_object', 'object_with_rest']);
const noObject = refuse.malformed('body: must be an object, not an array', {
  path: 'body',
  expected: 'an object',
  actual: 'an array',
});

/** What every gzip stream begins with. */
const GZIP = [0x1f, 0x8b] as const;

function notJson(raw: Buffer, error: unknown): RefusalDetail {
  const isText = error instanceof SyntaxError;
  const expected = 'JSON text in UTF-8';
  if (raw[0] === GZIP[0] && raw[1] === GZIP[1]) {
    const remedy = 'send the body uncompressed: Content-Encoding is not supported';
    return { path: 'body', expected, actual: 'bytes compressed with gzip', remedy };
  }
  return {
    path: 'body',
    expected,
    actual: isText
      ? `text that is not JSON: it ${breakOf(utf8.decode(raw))}`
      : `${raw.length} bytes that are not UTF-8`,
  };
}

/** Longer texts would be parsed for too long to find the place. */
const PLACED_MAX_CHARACTERS = 65_536;

/** Where a text stops being the beginning of JSON: the engine does not say so for each fault. */
function breakOf(text: string): string {
  if (text.length > PLACED_MAX_CHARACTERS) return `breaks: ${jsonError(text)?.message}`;
  let [whole, broken] = [0, text.length + 1];
  while (broken - whole > 1) {
    const length = (whole + broken) >> 1;
    const error = jsonError(text.slice(0, length));
    const isOpen = error === undefined || isOfEnd(error.message, length);
    if (isOpen) whole = length;
    else broken = length;
  }
  return whole === text.length ? 'ends too early' : `breaks at position ${whole}`;
}

function jsonError(text: string): Error | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return error;
    throw error;
  }
}

/** Whether more text could mend it. */
function isOfEnd(message: string, length: number): boolean {
  const place = / at position (\d+)/.exec(message)?.[1];
  return place === undefined ? message.includes('end of JSON input') : Number(place) >= length;
}

const surrogateEscape = /\\u[dD][89a-fA-F]/;
const halfSurrogate = refuse.malformed(
  'body: contains half a surrogate pair, which UTF-8 cannot encode',
  { path: 'body', expected: 'surrogates in pairs, such as \\ud83d\\ude00', actual: 'half a pair' },
);

/** Returns true when all names and strings of a JSON value can be encoded in UTF-8. */
function isWellFormed(json: unknown): boolean {
  const left = [json];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'string' && halfPair.test(value)) return false;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value)) left.push(name, member);
  }
  return true;
}

const halfPair = /\p{Cs}/u;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns one sentence that names the field and the fault. `names` replaces fields by their wire
 * names.
 */
export function problemOf(
  issue: v.BaseIssue<unknown>,
  names: Readonly<Record<string, string>> = {},
): string {
  const keys = issue.path?.map(({ key }) => String(key)) ?? [];
  const object = arrayForObject(issue);
  const path = keys.slice(0, object).join('.');
  const place = path === '' ? '' : `${names[path] ?? path}: `;
  const sentence = object === undefined ? sentenceOf(issue) : 'must be an object, not an array';
  return firstCharacters(`${place}${sentence}`, PROBLEM_MAX_CHARACTERS);
}

/** A fault quotes the input; the quotation must not grow with it. */
const PROBLEM_MAX_CHARACTERS = 500;

function querySchemaOf(operation: Operation, entries: v.ObjectEntries): v.GenericSchema {
  const known = querySchemas.get(operation);
  if (known) return known;
  const schema = v.object(entries);
  querySchemas.set(operation, schema);
  return schema;
}
