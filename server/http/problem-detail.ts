/** Describes malformed input: its location, the expected value, and the value that was sent. */
import * as v from 'valibot';
import { firstCharacters, shortenText } from '../../fixtures/base/characters.ts';
import {
  arrayForObject,
  expectationIn,
  expectedOf,
  isMissing,
  misspeltIn,
  nearestIssue,
} from '../../fixtures/base/shape-sentences.ts';
import { type Key, shapeAt } from '../../fixtures/base/shapes.ts';
import type { RefusalDetail } from '../rules/refusal-detail.ts';
import { isSecretName, masked, maskText } from './masking.ts';

const SHOWN_MAX_CHARACTERS = 200;
const SHOWN_TEXT_CHARACTERS = 100;
const SHOWN_MEMBERS = 6;
const SHOWN_LEVELS = 2;

/** Facts that describe a validation error beyond the validator's issue. */
export interface ShapeFacts {
  /** The whole shape; it describes the expected value of a missing member. */
  readonly schema: v.GenericSchema;
  /** Names on the wire, for members that have a different name in the shape. */
  readonly names?: Readonly<Record<string, string>>;
}

/** Returns the detail of a shape's first validation error. */
export function shapeDetail(
  location: 'body' | 'query' | 'form',
  issue: v.BaseIssue<unknown>,
  { schema, names = {} }: ShapeFacts,
): RefusalDetail {
  const keys = issue.path?.map(({ key }) => key as Key) ?? [];
  const array = arrayForObject(issue);
  if (array !== undefined) {
    return {
      path: locationAt(location, keys.slice(0, array), names),
      expected: 'an object',
      actual: 'an array',
    };
  }
  const isAbsent = isMissing(issue);
  const nearest = isAbsent ? missingIssue(schema, keys) : nearestIssue(issue);
  const expected = nearest && (expectedOf(nearest) ?? expectationIn(nearest.message));
  const isSecret = isSecretName(String(keys.at(-1) ?? ''));
  const last = issue.path?.at(-1);
  const value = last?.origin === 'key' ? last.key : last ? last.value : issue.input;
  return {
    path: locationAt(location, keys, names),
    ...(expected !== undefined && { expected: firstCharacters(expected, SHOWN_MAX_CHARACTERS) }),
    actual: isAbsent ? absentOf(issue, schema) : isSecret ? masked : describeValue(value),
  };
}

function locationAt(
  location: string,
  keys: readonly Key[],
  names: Readonly<Record<string, string>>,
): string {
  const path = keys.join('.');
  return path === '' ? location : `${location}.${names[path] ?? path}`;
}

function absentOf(issue: v.BaseIssue<unknown>, schema: v.GenericSchema): string {
  const misspeltName = misspeltIn(issue, schema);
  return misspeltName === undefined
    ? 'nothing'
    : `nothing of this name, but ${describeValue(misspeltName)}`;
}

/**
 * Returns the issue of a missing member by its own shape: the object's issue contains only the
 * name.
 */
function missingIssue(schema: v.GenericSchema, keys: readonly Key[]) {
  const shape = shapeAt(schema, keys);
  return shape && v.safeParse(shape, undefined).issues?.[0];
}

/**
 * Returns a value as JSON on one line, secrets masked. Reads only the beginning of a large or deep
 * value.
 */
export function describeValue(value: unknown): string {
  const text = maskText(JSON.stringify(excerptOf(value, SHOWN_LEVELS)) ?? String(value));
  return shortenText(text, SHOWN_MAX_CHARACTERS);
}

function excerptOf(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return firstCharacters(value, SHOWN_TEXT_CHARACTERS);
  // The parser rounded the number, so its digits are not those that were sent.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return 'a number of many digits';
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '…';
  if (Array.isArray(value)) {
    return value.slice(0, SHOWN_MEMBERS).map((one) => excerptOf(one, levels - 1));
  }
  const members = Object.entries(value).slice(0, SHOWN_MEMBERS);
  return Object.fromEntries(
    members.map(([name, one]) => [name, isSecretName(name) ? masked : excerptOf(one, levels - 1)]),
  );
}
