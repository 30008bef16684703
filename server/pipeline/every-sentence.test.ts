import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { Refusal } from '../http/refusal.ts';
import { exampleOf } from '../testing/example.ts';
import { readJson, readQuery } from './input.ts';

const rows: readonly Operation[] = Object.values({ ...operations, ...managementOperations });
const bodies = rows.flatMap(({ id, body }) => (body ? [[id, body] as const] : []));
const queries = rows.flatMap((row) => (row.query ? [[row.id, row] as const] : []));

/** Words of the validator library, which the contract does not use. */
const foreign =
  /\bmust be (string|number|boolean)\b|\bnever\b|another form|\bsound as\b|\bArray\b|\bObject\b|\||undefined|Invalid|Expected|NaN|null or/;

const wrongValues: readonly unknown[] = [
  undefined,
  null,
  true,
  1.5,
  -1,
  1e300,
  '',
  'x'.repeat(5000),
  '\u{1f600}',
  [],
  [null],
  {},
  { unknown: 1 },
];

/** The members that valibot shapes of any kind may have. */
interface Shape extends v.GenericSchema {
  readonly pipe?: readonly Shape[];
  readonly wrapped?: Shape;
  readonly item?: Shape;
  readonly entries?: Readonly<Record<string, Shape>>;
}

/** Returns an example that includes the optional fields where they are compatible. */
function wholeExample(schema: Shape, name = ''): unknown {
  const whole = wholeOf(schema, name);
  return whole !== undefined && v.is(schema, whole) ? whole : exampleOf(schema, name);
}

function wholeOf({ pipe = [], wrapped, item, entries }: Shape, name: string): unknown {
  if (wrapped) return wholeExample(wrapped, name);
  if (item) return [wholeExample(item, name)];
  if (entries) {
    const members = Object.entries(entries).map(([key, one]) => [key, wholeExample(one, key)]);
    return Object.fromEntries(members.filter(([, one]) => one !== undefined));
  }
  const inner = pipe.find((one) => one.entries ?? one.item ?? one.wrapped);
  return inner && wholeExample(inner, name);
}

type JsonPath = readonly (string | number)[];

/** Returns every place in a value, the value itself first. */
function pathsIn(value: unknown, path: JsonPath = []): JsonPath[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const keyOf = (key: string) => (Array.isArray(value) ? Number(key) : key);
  return [path, ...inner.flatMap(([key, one]) => pathsIn(one, [...path, keyOf(key)]))];
}

function withValue(value: unknown, [key, ...rest]: JsonPath, wrong: unknown): unknown {
  if (key === undefined) return wrong;
  const replaceIn = (member: unknown): unknown => withValue(member, rest, wrong);
  if (Array.isArray(value))
    return value.map((one, index) => (index === key ? replaceIn(one) : one));
  return Object.fromEntries(
    Object.entries(value as object).map(([name, one]) => [
      name,
      name === key ? replaceIn(one) : one,
    ]),
  );
}

/** Returns the sentence if it is unclear or does not name the field; otherwise nothing. */
function unplain(sentence: string, key: string | number | undefined): string[] {
  const names = key === undefined || typeof key === 'number' || sentence.includes(`${key}`);
  // Quoted text repeats the caller's own value and may contain any words.
  const isForeign = foreign.test(sentence.replace(/"(?:[^"\\]|\\.)*"?/g, '""'));
  return names && !isForeign ? [] : [sentence];
}

describe('the sentence about a wrong body', () => {
  it.each(bodies)('is in plain words and names the field: %s', (_, schema) => {
    const example = wholeExample(schema);
    const responses = pathsIn(example).flatMap((path) =>
      wrongValues.map((wrong) => {
        const text = JSON.stringify(withValue(example, path, wrong)) ?? '';
        return { path, response: readJson(schema, Buffer.from(text)) };
      }),
    );
    const refused = responses.flatMap(({ path, response }) =>
      response instanceof Refusal ? [{ key: path.at(-1), sentence: response.error }] : [],
    );
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.flatMap(({ key, sentence }) => unplain(sentence, key))).toEqual([]);
    for (const { sentence } of refused) expect(sentence).toMatch(/^body: /);
  });

  it.each(bodies)('says object when an array was sent: %s', (_, schema) => {
    const response = readJson(schema, Buffer.from('[]'));
    if (Array.isArray(exampleOf(schema)) || !(response instanceof Refusal)) return;
    expect(response.error).toMatch(/^body: must be an object/);
  });
});

describe('the sentence about a wrong query', () => {
  it.each(queries)('is in plain words and names the parameter: %s', (_, row) => {
    for (const name of Object.keys(row.query ?? {})) {
      for (const search of [name, `${name}=x`, `${name}=-1.5`, `${name}=a&${name}=b`]) {
        const response = readQuery(row, search);
        if (!(response instanceof Refusal)) continue;
        expect(unplain(response.error, undefined)).toEqual([]);
        expect(response.error).toMatch(/^query: \w+: /);
      }
    }
  });
});
