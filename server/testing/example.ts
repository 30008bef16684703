/** Examples of shapes: any valid value, not necessarily one that a person would choose. */
import * as v from 'valibot';
import { innerShapes, isShape, type Shape } from '../../fixtures/base/shapes.ts';

/** Typical values by field name, for shapes that are only a string. */
const texts: Readonly<Record<string, string>> = {
  email: 'user@example.com',
  id_data: '{"mac":"00:00:00:00:00:01"}',
  level: 'info',
  message: 'something happened',
  path: '/etc/hostname',
  name: 'some-name',
  password: 'a long password of a user',
};

const anyValues: readonly unknown[] = [
  'some',
  '1',
  '20',
  '2026-01-31T12:00:00Z',
  '00000000-0000-4000-8000-000000000001',
  '/etc/hostname',
  'user@example.com',
  'true',
  1,
  0,
  20,
  100,
  true,
  null,
  { name: 'value' },
  { name: 1 },
  {},
  [],
  ['some'],
];

/** The maximum depth to which shapes nest. */
const LEVELS_MAX = 20;

/** Returns a value that fits the shape; the name of the field selects a typical text. */
export function exampleOf(schema: v.GenericSchema, name = ''): unknown {
  return example(schema, name, LEVELS_MAX);
}

function example(schema: Shape, name: string, levels: number): unknown {
  const fits = (value: unknown): boolean => v.is(schema, value);
  const namedTexts = Object.hasOwn(texts, name) ? [texts[name]] : [];
  const candidates = levels === 0 ? [] : candidatesOf(schema, name, levels - 1);
  const isText = schema.type === 'string';
  return [...(isText ? namedTexts : []), ...candidates, ...namedTexts, ...anyValues].find(fits);
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
