/** Examples of shapes, and values that are corrected until they fit their shape. */
import * as v from 'valibot';
import { lettersApart, nearestOf } from '../../../fixtures/nearest.ts';
import { innerShapes, isShape, type Key, type Shape, shapeAt } from '../../../fixtures/shapes.ts';
import { markFor } from './text.ts';

/**
 * Typical values by name of field, where the shape is just a string. What must be there, or be true
 * of a device, is the reader's to say: an invented name would change what he looks into.
 */
const texts: Readonly<Record<string, string>> = {
  artifact_name: markFor('artifact_name'),
  device_type: markFor('device_type'),
  release_name: markFor('release_name'),
  email: 'user@example.com',
  id_data: '{"mac":"00:00:00:00:00:01"}',
  level: 'info',
  message: 'something happened',
  path: '/etc/hostname',
  name: 'some-name',
  password: 'a long password of a user',
};

const anyTexts = [
  'some',
  '1',
  '20',
  '2026-01-31T12:00:00Z',
  '00000000-0000-4000-8000-000000000001',
  '/etc/hostname',
  'user@example.com',
  'true',
];
const anyNumbers = [1, 0, 20, 100];
const anyValues: readonly unknown[] = [
  ...anyTexts,
  ...anyNumbers,
  true,
  null,
  { name: 'value' },
  { name: 1 },
  {},
  [],
  ['some'],
];

/** Shapes nest no deeper than this. */
const LEVELS_MAX = 20;

/** A value that fits the shape; the name of the field selects a typical text. */
export function exampleOf(schema: v.GenericSchema, name = ''): unknown {
  return example(schema, name, LEVELS_MAX);
}

function example(schema: Shape, name: string, levels: number): unknown {
  const fits = (value: unknown): boolean => v.is(schema, value);
  const known = Object.hasOwn(texts, name) ? [texts[name]] : [];
  const candidates = levels === 0 ? [] : candidatesOf(schema, name, levels - 1);
  const isText = schema.type === 'string';
  return [...(isText ? known : []), ...candidates, ...known, ...anyValues].find(fits);
}

function candidatesOf(schema: Shape, name: string, levels: number): readonly unknown[] {
  const inner = innerShapes(schema);
  if (inner.length > 0) return inner.map((shape) => example(shape, name, levels));
  const { entries, item, options, wrapped } = schema;
  if (wrapped) return [example(wrapped, name, levels)];
  if (entries) return [requiredOf(entries, levels)];
  if (item) return [[example(item, name, levels)], []];
  if ('literal' in schema) return [schema.literal];
  if (!options) return [];
  return options.map((option) => (isShape(option) ? example(option, name, levels) : option));
}

function requiredOf(entries: Readonly<Record<string, Shape>>, levels: number): object {
  const required = Object.entries(entries).filter(([, shape]) => !v.is(shape, undefined));
  return Object.fromEntries(required.map(([name, shape]) => [name, example(shape, name, levels)]));
}

/** Number of faults to correct before the whole value is replaced by an example. */
const FAULTS_MAX = 100;

/** The value with faulty places replaced by examples of their shape, and missing ones added. */
export function mended(schema: v.GenericSchema, sent: unknown): unknown {
  let value = sent;
  for (let round = 0; round < FAULTS_MAX; round += 1) {
    const checked = v.safeParse(schema, value, { abortEarly: true });
    if (checked.success) return value;
    const [issue] = checked.issues;
    const keys = keysOf(issue);
    // One item in the place of a list of them.
    if (keys.length === 0 && v.is(schema, [value])) return [value];
    if (keys.length === 0) break;
    const given = valueAt(value, keys);
    // A name that may not be there; of a missing one the fault is told in the same way.
    const isName = issue.path?.at(-1)?.origin === 'key' && given !== undefined;
    const better = isName ? undefined : mendingOf(schema, keys, given);
    value = replaced(value, keys, better);
  }
  return exampleOf(schema);
}

function keysOf({ path }: v.BaseIssue<unknown>): readonly Key[] {
  const keys = path?.map(({ key }) => key) ?? [];
  const known = keys.filter((key) => typeof key === 'string' || typeof key === 'number');
  return known.length === keys.length ? known : [];
}

/** The nearest valid value; undefined where there is none, so that the place is left out. */
function mendingOf(schema: v.GenericSchema, keys: readonly Key[], given: unknown): unknown {
  const shape = shapeAt(schema, keys);
  if (!shape) return ['number', 'boolean'].includes(typeof given) ? String(given) : 'some';
  const name = String(keys.at(-1));
  // A field with such a name follows rules that its shape does not express.
  const near = Object.hasOwn(texts, name)
    ? asText(name, given)
    : [[given], ...nearTo(given, shape)];
  return near.find((value) => v.is(shape, value)) ?? exampleOf(shape, name);
}

/** An identity that was sent as an object in place of its JSON text, as that text. */
function asText(name: string, given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given.slice(0, 1);
  const isIdentity = name === 'id_data' && typeof given === 'object' && given !== null;
  return isIdentity ? [JSON.stringify(given)] : [];
}

/** The same in another kind, the word most like it, the whole number beside it. */
function nearTo(given: unknown, shape: Shape): readonly unknown[] {
  // Of a value that was given several times, the first one.
  if (Array.isArray(given) && typeof given[0] === 'string') return nearTo(given[0], shape);
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean')
    return [];
  const text = String(given);
  // A word that has little in common with what was sent may mean the opposite of it.
  const words = wordsIn(shape).filter((word) => 3 * lettersApart(text, word) <= text.length);
  const number = given === '' ? Number.NaN : Number(given);
  const numbers = Number.isFinite(number) ? [number, Math.round(number)] : [];
  const bounds = boundsOf(shape).toSorted((one, other) => distance(one) - distance(other));
  function distance(bound: number): number {
    return Math.abs(bound - number);
  }
  return [
    ...nearestOf(text, words),
    text,
    ...numbers,
    ...bounds,
    ...bounds.map(String),
    given === 'true',
  ];
}

/** The least and the greatest number that a shape takes, where it says so. */
function boundsOf({ wrapped, pipe = [] }: Shape): number[] {
  const own = pipe.flatMap((step) => {
    const isBound = 'type' in step && (step.type === 'min_value' || step.type === 'max_value');
    return isBound && 'requirement' in step ? Number(step.requirement) : [];
  });
  return [...own, ...[...(wrapped ? [wrapped] : []), ...pipe.filter(isShape)].flatMap(boundsOf)];
}

/** The words that a shape takes, also where it may be left out. */
function wordsIn({ wrapped, options = [], pipe = [] }: Shape): string[] {
  const inner = [...(wrapped ? [wrapped] : []), ...pipe.filter(isShape)].flatMap(wordsIn);
  return [...options.filter((option) => typeof option === 'string'), ...inner];
}

function valueAt(value: unknown, keys: readonly Key[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  );
}

function replaced(value: unknown, [key = '', ...rest]: readonly Key[], by: unknown): unknown {
  const into = (old: unknown): unknown => (rest.length === 0 ? by : replaced(old, rest, by));
  if (Array.isArray(value)) return value.map((one, index) => (index === key ? into(one) : one));
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const old = members.find(([name]) => name === key)?.[1];
  const others = members.map(([name, one]): [string, unknown] => [
    name,
    name === key ? into(one) : one,
  ]);
  const all = members.some(([name]) => name === key)
    ? others
    : [...others, [String(key), into(old)] as const];
  return Object.fromEntries(all.filter(([, one]) => one !== undefined));
}
