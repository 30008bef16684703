/**
 * Describes malformed input in an explanation: where it is, what is expected, and what was sent.
 */
import * as v from 'valibot';
import { expectedOf } from '../../fixtures/shape-sentences.ts';
import { isSecretName, masked, maskText } from './masking.ts';
import type { RefusalDetail } from './refusal.ts';

const SHOWN_MAX_CHARACTERS = 200;
const SHOWN_TEXT_CHARACTERS = 100;
const SHOWN_MEMBERS = 6;
const SHOWN_LEVELS = 2;

/** Returns the detail of a shape's first fault. `names` replaces fields by their wire names. */
export function shapeDetail(
  place: 'body' | 'query',
  issue: v.BaseIssue<unknown>,
  names: Readonly<Record<string, string>> = {},
): RefusalDetail {
  const path = v.getDotPath(issue);
  const key = path?.split('.').at(-1) ?? '';
  const isMissing = issue.received === 'undefined' && issue.kind === 'schema';
  return {
    path: path === null ? place : `${place}.${names[path] ?? path}`,
    expected: (expectedOf(issue) ?? issue.message).slice(0, SHOWN_MAX_CHARACTERS),
    actual: isMissing ? 'nothing' : isSecretName(key) ? masked : shown(issue.input),
  };
}

/** Returns a value as JSON on one line; reads only its beginning, however large or deep it is. */
export function shown(value: unknown): string {
  const text = maskText(JSON.stringify(beginningOf(value, SHOWN_LEVELS)) ?? String(value));
  return text.length <= SHOWN_MAX_CHARACTERS ? text : `${text.slice(0, SHOWN_MAX_CHARACTERS)}…`;
}

function beginningOf(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return value.slice(0, SHOWN_TEXT_CHARACTERS);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '…';
  if (Array.isArray(value)) {
    return value.slice(0, SHOWN_MEMBERS).map((one) => beginningOf(one, levels - 1));
  }
  const members = Object.entries(value).slice(0, SHOWN_MEMBERS);
  return Object.fromEntries(
    members.map(([name, one]) => [
      name,
      isSecretName(name) ? masked : beginningOf(one, levels - 1),
    ]),
  );
}
