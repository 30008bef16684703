/**
 * Corrects a wrong value if it shows what was meant: the same value in another type, or a
 * misspelled word. For any other value the reader must supply one, because an invented value would
 * have effects.
 */
import * as v from 'valibot';
import { isObject } from '../../fixtures/base/json.ts';
import { editDistance, isLikeName, nearestOf } from '../../fixtures/base/nearest.ts';
import { arrayForObject } from '../../fixtures/base/shape-sentences.ts';
import {
  describeMembers,
  isShape,
  type Key,
  memberNames,
  type Shape,
  shapeAt,
} from '../../fixtures/base/shapes.ts';
import { shapeDetail } from '../http/problem-detail.ts';
import { jsonOf } from './received-request.ts';
import { bareMarkFor, markFor, type VariableMeanings, variableNamed } from './text.ts';

/** A corrected value, with marks for the values that the reader must supply. */
export interface CorrectedValue {
  readonly value: unknown;
  /** Descriptions of the variables, if more is known than the name. */
  readonly needs: VariableMeanings;
}

interface CorrectionOptions {
  /**
   * True for a query: all its values are text, and the nearest allowed number is a safe correction.
   */
  readonly isQuery?: boolean;
}

/**
 * Maximum number of problems that are corrected. With more, the reader must supply the whole value.
 */
const PROBLEMS_MAX = 100;
/** Maximum number of rounds. A corrected value may still be wrong on a deeper level. */
const ROUNDS_MAX = 10;

/**
 * Returns the value with its wrong places corrected or marked; undefined if the reader must supply
 * the whole value.
 */
export function correctedValue(
  schema: v.GenericSchema,
  sent: unknown,
  options: CorrectionOptions = {},
): CorrectedValue | undefined {
  const needs: Record<string, string> = {};
  const marked = new Set<string>();
  let value = sent;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const issues = v.safeParse(schema, value).issues ?? [];
    const open = issues.filter((one) => !marked.has(locationOf(one)));
    if (open.length === 0) return { value, needs };
    if (open.length > PROBLEMS_MAX) return undefined;
    for (const issue of open) {
      const problem = { schema, value, issue, keys: reachable(value, keysOf(issue)) };
      const better = convertValue(problem, options);
      // A problem of the whole value is only a consequence of the marks inside it.
      const concernsMarkedValues = problem.keys.length === 0 && marked.size > 0;
      if (better) value = better.value;
      else if (concernsMarkedValues) return { value, needs };
      else if (!canBeMarked(problem)) return undefined;
      else {
        const replaceAt = markedAt(schema, value, problem.keys, options);
        const meaning = meaningOf(problem, replaceAt.isText);
        if (meaning !== undefined) needs[replaceAt.variable] = meaning;
        marked.add(locationOf(issue));
        value = replaceAt.value;
      }
      // The whole value has been replaced, so the places of the remaining problems are out of date.
      if (problem.keys.length === 0) break;
    }
  }
  return undefined;
}

/**
 * Returns true if the reader can be asked for the value at this place. An invalid name, or a member
 * that is not accepted, cannot be marked without losing what the caller meant.
 */
function canBeMarked(problem: ValueProblem): boolean {
  const { schema, issue, keys } = problem;
  const isLocation = keys.length > 0 && shapeAt(schema, keys) !== undefined;
  return isLocation && !isNameProblem(problem) && issue.expected !== 'never';
}

/**
 * Returns a description of the expected value; undefined if it says less than the member's name.
 */
function meaningOf({ schema, issue, keys }: ValueProblem, isText: boolean): string | undefined {
  const { expected = 'a string' } = shapeDetail('body', issue, { schema });
  const shape = shapeAt(schema, keys);
  if (!isText) return `${(shape && describeMembers(shape)) ?? expected}, as JSON`;
  // The rules for text were not checked if the value was missing or not a string, so a placeholder
  // is checked.
  const ofText = shape && v.safeParse(shape, '?').issues?.[0];
  const meaning =
    expected === 'a string' && ofText
      ? (shapeDetail('body', ofText, { schema }).expected ?? expected)
      : expected;
  const each = meaning.replace(/^an array or /, '').replace(/^"(.*)"$/, '$1');
  return /^(a string|an array|a value|filled)\b/.test(each) ? undefined : each;
}

interface ValueProblem {
  readonly schema: v.GenericSchema;
  readonly value: unknown;
  readonly issue: v.BaseIssue<unknown>;
  readonly keys: readonly Key[];
}

/** Returns the value with one problem corrected, if the sent value shows what was meant. */
function convertValue(
  problem: ValueProblem,
  options: CorrectionOptions,
): { readonly value: unknown } | undefined {
  const { schema, value, issue, keys } = problem;
  if (isNameProblem(problem)) {
    // An unknown member may be what the caller wants, so it is not removed. Only a member that the
    // shape explicitly refuses is removed.
    const isNeedless = issue.expected === 'never' && !issue.message.startsWith('Invalid ');
    return isNeedless ? { value: replaced(value, keys, undefined) } : undefined;
  }
  const nested = valueAt(value, keys);
  const isWrapped = isObject(value) && Object.keys(value).length === 1 && keys.length === 1;
  if (isWrapped && wrapperNames.test(String(keys[0])) && v.is(schema, nested))
    return { value: nested };
  const similarPlace = nested === undefined ? nearlyNamed(schema, value, keys) : undefined;
  if (similarPlace) {
    return {
      value: replaced(replaced(value, keys, valueAt(value, similarPlace)), similarPlace, undefined),
    };
  }
  const shape = shapeAt(schema, keys);
  const better = shape && conversionOf(nested, shape, { name: keys.at(-1), ...options });
  return better === undefined ? undefined : { value: replaced(value, keys, better) };
}

/**
 * Member names under which clients often wrap a body. Any other name may be the name of a group.
 */
const wrapperNames = /^(?:attributes|body|config|configuration|data|settings|values)$/i;

/**
 * Returns true if the name of a member is wrong. The problem of a missing member has the same form.
 */
function isNameProblem({ issue, value, keys }: ValueProblem): boolean {
  const last = issue.path?.[keys.length - 1];
  const isName = last?.origin === 'key' && !Array.isArray(last.input);
  return isName && valueAt(value, keys) !== undefined;
}

/** Returns the value with a mark at a place, and the variable of that mark. */
export function markedAt(
  schema: v.GenericSchema,
  value: unknown,
  keys: readonly Key[],
  { isQuery = false }: CorrectionOptions = {},
) {
  const shape = shapeAt(schema, keys);
  const isText = isQuery || shape === undefined || takesText(shape);
  const name = nameOf(schema, keys);
  const mark = isText ? markFor(name) : bareMarkFor(name);
  return { value: replaced(value, keys, mark), variable: variableNamed(name), isText };
}

/**
 * Returns the name of the variable: the member's name, with its indexes if it is in lists. A name
 * chosen by the sender gets a prefix, because a variable of that name may already be set.
 */
function nameOf(schema: v.GenericSchema, keys: readonly Key[]): string {
  const isIndex = (key: Key): boolean => /^\d+$/.test(String(key));
  const at = keys.findLastIndex((key) => !isIndex(key));
  const word = String(keys[at] ?? 'value');
  const outer = shapeAt(schema, keys.slice(0, Math.max(at, 0)));
  const isContractMember = outer !== undefined && memberNames(outer).includes(word);
  return [...(isContractMember ? [] : ['value']), word, ...keys.filter(isIndex)].join('_');
}

/** Returns the keys up to the first value that cannot have members, such as a string. */
function reachable(value: unknown, keys: readonly Key[]): readonly Key[] {
  const end = keys.findIndex((_, at) => {
    const outer = valueAt(value, keys.slice(0, at));
    return outer !== undefined && (typeof outer !== 'object' || outer === null);
  });
  return end < 0 ? keys : keys.slice(0, end);
}

function locationOf(issue: v.BaseIssue<unknown>): string {
  return JSON.stringify(keysOf(issue));
}

function keysOf(issue: v.BaseIssue<unknown>): readonly Key[] {
  const keys = issue.path?.slice(0, arrayForObject(issue)).map(({ key }) => key) ?? [];
  const namedKeys = keys.filter((key) => typeof key === 'string' || typeof key === 'number');
  return namedKeys.length === keys.length ? namedKeys : [];
}

/** Returns the place of an unknown member whose name resembles that of a missing member. */
function nearlyNamed(
  schema: v.GenericSchema,
  value: unknown,
  keys: readonly Key[],
): readonly Key[] | undefined {
  const missingName = keys.at(-1);
  const outer = keys.slice(0, -1);
  const members = valueAt(value, outer);
  const shape = shapeAt(schema, outer);
  if (typeof missingName !== 'string' || !shape || typeof members !== 'object' || !members)
    return undefined;
  const knownNames = new Set(memberNames(shape));
  const name = Object.keys(members).find(
    (one) => !knownNames.has(one) && isLikeName(one, missingName),
  );
  return name === undefined ? undefined : [...outer, name];
}

interface ConversionFacts extends CorrectionOptions {
  readonly name: Key | undefined;
}

/** Returns the sent value in a format that the shape accepts; undefined if there is none. */
function conversionOf(value: unknown, shape: Shape, facts: ConversionFacts): unknown {
  // For a missing object with required members, an empty object makes the next round ask for each
  // member.
  if (value === undefined)
    return memberNames(shape).length > 0 && !v.is(shape, {}) ? {} : undefined;
  return [[value], ...formsOf(value, shape, facts)].find((form) => v.is(shape, form));
}

function formsOf(sent: unknown, shape: Shape, facts: ConversionFacts): readonly unknown[] {
  if (Array.isArray(sent)) {
    const [one] = sent;
    // In a map with arbitrary names, the members of a name-value pair would become keys.
    const isOne = sent.length === 1 && (!isObject(one) || memberNames(shape).length > 0);
    const map = mapIn(sent);
    const alone = isOne ? [one, ...formsOf(one, shape, facts)] : [];
    return [...(map ? [map] : []), ...alone, ...wrapValue(sent, shape)];
  }
  if (typeof sent === 'number' || typeof sent === 'boolean') {
    const numerals = [String(sent), ...(facts.isQuery ? boundsNear(Number(sent), shape) : [])];
    return typeof sent === 'number' ? [...numerals, ...dateTimesOf(sent)] : numerals;
  }
  if (typeof sent === 'string') {
    return [...formsOfText(sent, shape, facts), ...wrapValue(sent, shape)];
  }
  if (!isObject(sent)) return [];
  // The identity was sent as an object instead of as JSON text.
  if (facts.name === 'id_data') return [JSON.stringify(sent)];
  const members = Object.entries(sent);
  const pairs = members.map(([name, value]) => ({ name, value }));
  const only = members.length === 1 ? members[0]?.[1] : undefined;
  // A map may replace a list of pairs; an object with one member may wrap the list.
  return shape.type === 'array' ? [pairs, only] : [];
}

/** Returns the map that a list of name-value pairs represents. */
function mapIn(list: readonly unknown[]): object | undefined {
  const pairs = list.map((one) => (isObject(one) ? [one.name ?? one.key, one.value] : []));
  const isNamed = pairs.length > 0 && pairs.every(([name]) => typeof name === 'string');
  return isNamed ? Object.fromEntries(pairs) : undefined;
}

/** Returns the sent value wrapped in an object, once for each member that the shape has. */
function wrapValue(given: unknown, shape: Shape): unknown[] {
  return memberNames(shape).map((name) => ({ [name]: given }));
}

const dateTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/;

function formsOfText(text: string, shape: Shape, { isQuery }: ConversionFacts): unknown[] {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const time = dateTime.test(text) ? timeIn(text, isQuery) : Number.NaN;
  return [
    ...nearestOf(
      text,
      valuesIn(shape).filter((word) => isNearly(text, word)),
    ),
    text.trim(),
    ...(Number.isFinite(number) ? [number] : []),
    ...(Number.isNaN(time) ? [] : [new Date(time).toISOString(), time / 1000, String(time / 1000)]),
    ...(/^(true|yes|on)$/i.test(text) ? [true, 'true'] : []),
    ...(/^(false|no|off)$/i.test(text) ? [false, 'false'] : []),
    ...(/^\s*[[{]/.test(text) ? [jsonOf(text)?.value] : []),
    ...(isQuery && Number.isFinite(number) ? boundsNear(number, shape) : []),
  ];
}

/**
 * Returns the ISO 8601 time for a recent number of seconds or milliseconds since the Unix epoch.
 */
function dateTimesOf(number: number): string[] {
  const ms = number > MILLISECONDS_MIN ? number : number * 1000;
  return ms > MILLISECONDS_MIN && ms < 4 * MILLISECONDS_MIN ? [new Date(ms).toISOString()] : [];
}

/**
 * Returns milliseconds since the Unix epoch; NaN if the day does not exist or the time zone is
 * unknown.
 */
function timeIn(text: string, takesUtc = false): number {
  const hasZone = /(Z|:\d\d[+-]\d\d:\d\d)$/.test(text);
  if (!hasZone && !takesUtc) return Number.NaN;
  const [day = ''] = text.split(/[T ]/);
  const isDay = new Date(day).toJSON()?.startsWith(day) ?? false;
  return isDay
    ? Date.parse(hasZone || day === text ? text.replace(' ', 'T') : `${text.replace(' ', 'T')}Z`)
    : Number.NaN;
}

/**
 * Returns true if the text resembles the word. A word that is only a part of the text is refused,
 * because the text may mean the opposite.
 */
function isNearly(text: string, word: string): boolean {
  const [given, wanted] = [text.toLowerCase(), word.toLowerCase()];
  if (given !== wanted && given.includes(wanted)) return false;
  return 4 * editDistance(given, wanted) <= given.length;
}

/**
 * Returns numbers close to the sent one: rounded, converted from milliseconds to seconds, and the
 * allowed minimum and maximum, the nearer one first.
 */
function boundsNear(number: number, shape: Shape): readonly unknown[] {
  const distance = (bound: number): number => Math.abs(bound - number);
  const bounds = boundsOf(shape).toSorted((one, other) => distance(one) - distance(other));
  const seconds = number > MILLISECONDS_MIN ? [Math.floor(number / 1000)] : [];
  const numbers = [Math.round(number), ...seconds, ...bounds];
  return [...numbers, ...numbers.map(String)];
}

/**
 * Numbers from here on are taken for milliseconds since the Unix epoch (2001); as seconds they
 * would be far in the future.
 */
const MILLISECONDS_MIN = 1e12;

function boundsOf({ wrapped, pipe = [] }: Shape): number[] {
  const directBounds = pipe.flatMap((step) => {
    const isBound = 'type' in step && (step.type === 'min_value' || step.type === 'max_value');
    return isBound && 'requirement' in step ? Number(step.requirement) : [];
  });
  return [
    ...directBounds,
    ...[...(wrapped ? [wrapped] : []), ...pipe.filter(isShape)].flatMap(boundsOf),
  ];
}

/** Returns the values that a shape accepts, also inside optional shapes. */
function valuesIn(shape: Shape): string[] {
  const { options = [], literal } = shape;
  const ownValues = [...options, literal].filter((option) => typeof option === 'string');
  return [...ownValues, ...partsOf(shape).flatMap(valuesIn)];
}

/** Returns true if every value of the shape is a string. */
function takesText(shape: Shape): boolean {
  const parts = partsOf(shape);
  if (parts.length > 0) return parts.every(takesText);
  return shape.type === 'string' || valuesIn(shape).length > 0;
}

/** Returns the shapes that apply to the value itself, without those of its members and items. */
function partsOf({ wrapped, pipe = [], options = [] }: Shape): Shape[] {
  return [...(wrapped ? [wrapped] : []), ...[...pipe, ...options].filter(isShape)];
}

function valueAt(value: unknown, keys: readonly Key[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  );
}

function replaced(value: unknown, [key, ...rest]: readonly Key[], by: unknown): unknown {
  if (key === undefined) return by;
  const replaceIn = (member: unknown): unknown => replaced(member, rest, by);
  if (Array.isArray(value))
    return value.map((one, index) => (index === Number(key) ? replaceIn(one) : one));
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const formerMember = members.find(([name]) => name === key)?.[1];
  const otherMembers = members.map(([name, one]): [string, unknown] => [
    name,
    name === key ? replaceIn(one) : one,
  ]);
  const all = members.some(([name]) => name === key)
    ? otherMembers
    : [...otherMembers, [String(key), replaceIn(formerMember)] as const];
  return Object.fromEntries(all.filter(([, one]) => one !== undefined));
}
