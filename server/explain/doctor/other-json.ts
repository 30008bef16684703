/**
 * Generates the texts that other JSON encoders produce for the same body, except for changes of
 * line ends alone.
 */
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import { otherLineEnds } from './line-ends.ts';

/** A string that may have been signed instead of the body. */
export interface OtherJson {
  readonly bytes: Buffer;
  /** A phrase that says how it differs from the most compact text. */
  readonly how: string;
}

/** Maximum length of an examined body. An authentication request has at most two thousand bytes. */
const BODY_MAX_BYTES = 16_384;
const TEXTS_MAX = 600;
/**
 * Maximum length of all generated texts together, including duplicates. With indentation, a hostile
 * body grows many times.
 */
const WRITTEN_MAX_CHARACTERS = 8_000_000;
const DEPTH_MAX = 32;

interface JsonStyle {
  readonly how: string;
  readonly comma: string;
  readonly colon: string;
  /** The indent of one level; absent if everything is on one line. */
  readonly indent?: string;
}

const styles: readonly JsonStyle[] = [
  { how: 'without white space', comma: ',', colon: ':' },
  { how: 'with spaces after , and :', comma: ', ', colon: ': ' },
  { how: 'with spaces after :', comma: ',', colon: ': ' },
  { how: 'with spaces after ,', comma: ', ', colon: ':' },
  { how: 'indented by 2', comma: ',', colon: ': ', indent: '  ' },
  { how: 'indented by 4', comma: ',', colon: ': ', indent: '    ' },
  { how: 'indented by tabs', comma: ',', colon: ': ', indent: '\t' },
];

type MemberOrder = (entries: [string, unknown][]) => [string, unknown][];

const orders: readonly (readonly [how: string, order: MemberOrder])[] = [
  ['members in order', (entries) => entries],
  ['members sorted by name', (entries) => entries.toSorted(([a], [b]) => (a < b ? -1 : 1))],
  ['members in the order of the contract', orderByRank(['id_data', 'pubkey', 'tenant_token'])],
  ['members in the order of a Go client', orderByRank(['id_data', 'tenant_token', 'pubkey'])],
  ['members in reverse', (entries) => entries.toReversed()],
];

const escapes: readonly (readonly [how: string, escape: (text: string) => string])[] = [
  ['', (text) => text],
  ['with \\/ for /', (text) => text.replaceAll('/', '\\/')],
  ['with \\u for all beyond ASCII', (text) => asciiOnly(text)],
  ['with \\u for < > &', (text) => text.replace(/[<>&\u2028\u2029]/g, unicodeEscape)],
  ['with \\/ for / and \\u for all beyond ASCII', (text) => asciiOnly(text.replaceAll('/', '\\/'))],
];

/**
 * Returns other texts of the body's JSON, the most likely ones first; none if the body is not a
 * JSON object.
 * @throws RangeError if the JSON is nested too deep
 */
export function otherJsonTexts(body: Buffer): Generator<OtherJson> {
  return boundedTexts(body, rewritten);
}

/**
 * Returns texts of the body's JSON without one of its members, or without its last ones.
 * @throws RangeError if the JSON is nested too deep
 */
export function textsWithoutMembers(body: Buffer): Generator<OtherJson> {
  return boundedTexts(body, withoutMembers);
}

/**
 * Returns texts of the body's JSON with an additional optional member that is empty or null.
 * @throws RangeError if the JSON is nested too deep
 */
export function textsWithEmptyMembers(body: Buffer): Generator<OtherJson> {
  return boundedTexts(body, withEmptyMembers);
}

/**
 * Returns how the JSON of a body is written, as `otherJsonTexts` names it; undefined for a style
 * of none of them.
 * @throws RangeError if the JSON is nested too deep
 */
export function styleOfJson(body: Buffer): string | undefined {
  const sentText = body.toString('utf8');
  const entries = body.length <= BODY_MAX_BYTES ? entriesOf(sentText) : undefined;
  if (!entries) return undefined;
  let characters = 0;
  for (const { how, text } of generateTexts(entries, orders)) {
    characters += text.length;
    if (text === sentText) return how;
    if (characters > WRITTEN_MAX_CHARACTERS) return undefined;
  }
  return undefined;
}

function* boundedTexts(
  body: Buffer,
  write: (entries: [string, unknown][]) => Iterable<JsonText>,
): Generator<OtherJson> {
  const entries = body.length <= BODY_MAX_BYTES ? entriesOf(body.toString('utf8')) : undefined;
  if (!entries) return;
  const knownTexts = new Set([body, ...otherLineEnds(body)].map((text) => text.toString('latin1')));
  const firstCount = knownTexts.size;
  let writtenCharacters = 0;
  for (const { how, text } of write(entries)) {
    writtenCharacters += text.length;
    if (writtenCharacters > WRITTEN_MAX_CHARACTERS) return;
    const bytes = Buffer.from(text);
    const latin1 = bytes.toString('latin1');
    if (knownTexts.has(latin1)) continue;
    knownTexts.add(latin1);
    yield { bytes, how };
    if (knownTexts.size - firstCount >= TEXTS_MAX) return;
  }
}

interface JsonText {
  readonly how: string;
  readonly text: string;
}

function* rewritten(entries: [string, unknown][]): Generator<JsonText> {
  yield* generateTexts(entries, orders);
  for (const { how, text } of generateTexts(entries, orders)) {
    yield { how: `${how}, with a line feed at the end`, text: `${text}\n` };
  }
  for (const [innerHow, changed] of otherMembers(entries)) {
    for (const { how, text } of generateTexts(changed, orders.slice(0, 1))) {
      yield { how: `${how}, ${innerHow}`, text };
    }
  }
}

/**
 * Maximum number of members. An authentication request has four; with many, the missing one cannot
 * be identified.
 */
const MEMBERS_MAX = 12;

function* withoutMembers(entries: [string, unknown][]): Generator<JsonText> {
  if (entries.length > MEMBERS_MAX) return;
  const single = entries.map((_, at) => entries.toSpliced(at, 1));
  const fewer = entries.map((_, at) => entries.slice(0, at));
  for (const remainder of [...single, ...fewer].filter(({ length }) => length > 0)) {
    const remainingNames = new Set(remainder.map(([name]) => name));
    const lostNames = entries.flatMap(([name]) => (remainingNames.has(name) ? [] : [name]));
    for (const { how, text } of generateTexts(remainder, orders.slice(0, 1))) {
      yield { how: `without ${lostNames.join(', ')}, ${how}`, text };
    }
  }
}

function* withEmptyMembers(entries: [string, unknown][]): Generator<JsonText> {
  const names = ['tenant_token', 'external_id'].filter(
    (name) => !entries.some(([is]) => is === name),
  );
  for (const name of names) {
    for (const empty of ['', null]) {
      for (const { how, text } of generateTexts([...entries, [name, empty]], orders.slice(0, 4))) {
        yield { how: `with ${name} ${JSON.stringify(empty)}, ${how}`, text };
      }
    }
  }
}

function* generateTexts(
  entries: [string, unknown][],
  inOrders: typeof orders,
): Generator<JsonText> {
  for (const [orderHow, order] of inOrders) {
    for (const style of styles) {
      const text = textOf(entries, { style, order });
      for (const [escapeHow, escaped] of escapes) {
        const parts = [orderHow, style.how, escapeHow];
        yield { how: parts.filter(Boolean).join(', '), text: escaped(text) };
      }
    }
  }
}

/** Yields the members with id_data or pubkey written in another way. */
function* otherMembers(entries: [string, unknown][]): Generator<[string, [string, unknown][]]> {
  const idData = entries.find(([name]) => name === 'id_data')?.[1];
  const inner = typeof idData === 'string' ? entriesOf(idData) : undefined;
  for (const [orderHow, order] of inner ? orders.slice(0, 2) : []) {
    for (const style of styles.slice(0, 2)) {
      const text = textOf(inner ?? [], { style, order });
      yield [`id_data ${style.how}, its ${orderHow}`, replaceEntry(entries, 'id_data', text)];
    }
  }
  const pubkey = entries.find(([name]) => name === 'pubkey')?.[1];
  if (typeof pubkey !== 'string') return;
  const trimmed = pubkey.trimEnd();
  yield ['pubkey without its last line break', replaceEntry(entries, 'pubkey', trimmed)];
  yield ['pubkey with a line break at its end', replaceEntry(entries, 'pubkey', `${trimmed}\n`)];
}

function replaceEntry(
  entries: [string, unknown][],
  name: string,
  value: string,
): [string, unknown][] {
  return entries.map((entry) => (entry[0] === name ? [name, value] : entry));
}

/** Returns the members of the JSON object in the text; undefined for anything else. */
function entriesOf(text: string): [string, unknown][] | undefined {
  const value = parsedJson(text);
  return isObject(value) ? Object.entries(value) : undefined;
}

interface JsonWriting {
  readonly style: JsonStyle;
  readonly order: MemberOrder;
}

function textOf(entries: [string, unknown][], writing: JsonWriting, depth = 0): string {
  const members = writing
    .order(entries)
    .map(
      ([name, value]) =>
        `${JSON.stringify(name)}${writing.style.colon}${valueText(value, writing, depth + 1)}`,
    );
  return wrapParts(members, ['{', '}'], { style: writing.style, depth });
}

function valueText(value: unknown, writing: JsonWriting, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth > DEPTH_MAX) throw new RangeError(`nested deeper than ${DEPTH_MAX} levels`);
  if (!Array.isArray(value)) return textOf(Object.entries(value), writing, depth);
  const items = value.map((item) => valueText(item, writing, depth + 1));
  return wrapParts(items, ['[', ']'], { style: writing.style, depth });
}

function wrapParts(
  parts: readonly string[],
  [open, close]: readonly [string, string],
  { style: { comma, indent }, depth }: { style: JsonStyle; depth: number },
): string {
  if (parts.length === 0 || indent === undefined) return `${open}${parts.join(comma)}${close}`;
  const line = `\n${indent.repeat(depth + 1)}`;
  return `${open}${line}${parts.join(`${comma}${line}`)}\n${indent.repeat(depth)}${close}`;
}

function orderByRank(names: readonly string[]): MemberOrder {
  const rank = (name: string): number =>
    (names.indexOf(name) + names.length + 1) % (names.length + 1);
  return (entries) => entries.toSorted(([a], [b]) => rank(a) - rank(b));
}

function asciiOnly(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, unicodeEscape);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
