/** Replacements for a value: values of another type, and wrong values of the same type. */
import { isObject } from '../../../fixtures/base/json.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { ResourceField } from '../../../fixtures/contract/resource-tables.ts';
import {
  actorTypes,
  auditActions,
  auditObjectTypes,
  controlMapActions,
} from '../../../fixtures/contract/vocabulary.ts';
import type { ViolatedLevel } from './alteration.ts';

const MS_PER_DAY = 86_400_000;
const FAR_DAYS = 400;

/** A replacement of the same type. `alter` returns a value unchanged if it cannot replace it. */
export interface ValueVariant {
  readonly kind: string;
  /** Description of the replacement, phrased to precede the name of the place. */
  readonly says: string;
  readonly violatedLevel: ViolatedLevel;
  readonly alter: (value: unknown) => unknown;
}

interface OtherType {
  readonly says: string;
  readonly alter: (value: unknown) => unknown;
}

/** Returns replacements of types that the field cannot have. */
export function otherTypes({ type, path }: ResourceField): readonly OtherType[] {
  const isNullable = type.includes('null') || path.at(-1) === 'update_control_map';
  return [
    { says: 'a number', alter: () => 7, isOwn: type === 'integer' },
    { says: 'an array', alter: (value: unknown) => [value], isOwn: type.includes('list') },
    { says: 'an object', alter: (value: unknown) => ({ value }), isOwn: /object|map/.test(type) },
    { says: 'null', alter: () => null, isOwn: isNullable },
    { says: 'a boolean', alter: () => true, isOwn: type === 'boolean' },
    { says: 'a string', alter: String, isOwn: /text$|^text or null|time|uuid|word/.test(type) },
  ].filter(({ isOwn }) => !isOwn);
}

/** Fields whose values no case can know: the contract leaves them free, or names no source. */
const freeTextPaths = [/description$/, /meta_?data$/, /files\.\*\.date$/, /change$/, /signed$/];

/** Returns replacements of the same type. */
export function variantsOf(
  steps: readonly string[],
  { type }: ResourceField,
  row: Operation,
): readonly ValueVariant[] {
  const memberPath = steps.join('.');
  if (freeTextPaths.some((form) => form.test(memberPath))) return [];
  if (type === 'time') return timesAt(memberPath);
  if (type === 'texts' || type === 'list') return listsAt(memberPath, row);
  if (type === 'word')
    return [...enumVariantsAt(memberPath), notAWord].filter(({ says }) =>
      isJudgedWord(memberPath, says),
    );
  if (memberPath.endsWith('states.*.action')) return [otherWord(controlMapActions)];
  return byType[type] ?? [];
}

/** Returns false for an unknown word as an action, which is an open point of the contract. */
function isJudgedWord(memberPath: string, says: string): boolean {
  return says !== notAWord.says || !memberPath.endsWith('action');
}

function ofText(change: (text: string) => string): ValueVariant['alter'] {
  return (value) => (typeof value === 'string' ? change(value) : value);
}

const texts: readonly ValueVariant[] = [
  {
    kind: 'text-altered',
    says: 'more at the end of',
    violatedLevel: 'must',
    alter: ofText((text) => `${text}2`),
  },
  {
    kind: 'text-altered',
    says: 'capitals turned in',
    violatedLevel: 'must',
    alter: ofText(turned),
  },
  {
    kind: 'text-emptied',
    says: 'an empty string as',
    violatedLevel: 'must',
    alter: ofText(() => ''),
  },
];

function turned(text: string): string {
  const capitals = text.toUpperCase();
  return capitals === text ? text.toLowerCase() : capitals;
}

const uuids: readonly ValueVariant[] = [
  {
    kind: 'id-altered',
    says: 'another UUID as',
    violatedLevel: 'must',
    alter: ofText((text) => text.replace(/[0-9a-f]$/, (digit) => (digit === '0' ? '1' : '0'))),
  },
  {
    kind: 'text-emptied',
    says: 'an empty string as',
    violatedLevel: 'must',
    alter: ofText(() => ''),
  },
];

function ofNumber(change: (number: number) => number): ValueVariant['alter'] {
  return (value) => (typeof value === 'number' ? change(value) : value);
}

const numbers: readonly ValueVariant[] = [
  {
    kind: 'number-altered',
    says: 'one more in',
    violatedLevel: 'must',
    alter: ofNumber((number) => number + 1),
  },
  {
    kind: 'number-altered',
    says: 'the opposite of',
    violatedLevel: 'must',
    alter: ofNumber((number) => -number),
  },
  {
    kind: 'number-altered',
    says: 'a half more in',
    violatedLevel: 'must',
    alter: ofNumber((number) => number + 0.5),
  },
];

const maps: readonly ValueVariant[] = [
  {
    kind: 'pair-dropped',
    says: 'a pair fewer in',
    violatedLevel: 'must',
    alter: ofPairs((pairs) => pairs.slice(1)),
  },
  {
    kind: 'pair-altered',
    says: 'another name of a pair in',
    violatedLevel: 'must',
    alter: ofPairs(([[name, value] = ['', ''], ...rest]) => [[`${name}2`, value], ...rest]),
  },
];

const textMaps: readonly ValueVariant[] = [
  ...maps,
  {
    kind: 'pair-altered',
    says: 'another value of a pair in',
    violatedLevel: 'must',
    alter: ofPairs(([[name, value] = ['', ''], ...rest]) => [[name, `${String(value)}2`], ...rest]),
  },
];

type MemberPairs = readonly (readonly [string, unknown])[];

/** Changes the pairs of a map; an empty map stays unchanged. */
function ofPairs(change: (pairs: MemberPairs) => MemberPairs): ValueVariant['alter'] {
  return (value) => {
    if (!isObject(value) || Object.keys(value).length === 0) return value;
    return Object.fromEntries(change(Object.entries(value)));
  };
}

const byType: Readonly<Record<string, readonly ValueVariant[]>> = {
  text: texts,
  'text or null': texts,
  uuid: uuids,
  integer: numbers,
  map: textMaps,
  'map of texts': maps,
  'map of objects': maps,
};

function timesAt(memberPath: string): readonly ValueVariant[] {
  const shifted = (days: number): ValueVariant['alter'] =>
    ofText((text) => new Date(Date.parse(text) + days * MS_PER_DAY).toISOString());
  const end = memberPath.endsWith('expire');
  return [
    {
      kind: 'time-altered',
      says: 'a time long ago as',
      violatedLevel: 'must',
      alter: shifted(-FAR_DAYS),
    },
    {
      kind: 'time-altered',
      says: 'a time far in the future as',
      // The contract leaves the lifetime of a link open.
      violatedLevel: end ? 'nothing' : 'must',
      alter: shifted(FAR_DAYS),
    },
    {
      kind: 'time-is-none',
      says: 'a value that is not a date-time as',
      violatedLevel: 'must',
      alter: ofText((text) => text.slice(0, 10).replaceAll('-', '.')),
    },
    {
      kind: 'time-in-another-zone',
      says: 'the same time in another zone as',
      violatedLevel: 'nothing',
      alter: ofText((text) => inIndianTime(text)),
    },
  ];
}

function inIndianTime(text: string): string {
  const ms = Date.parse(text) + 5.5 * 3_600_000;
  return new Date(ms).toISOString().replace('Z', '+05:30');
}

const notAWord: ValueVariant = {
  kind: 'word-unknown',
  says: 'a word that the contract does not know as',
  violatedLevel: 'must',
  alter: ofText(() => 'robot'),
};

function otherWord(values: readonly string[]): ValueVariant {
  return {
    kind: 'word-altered',
    says: 'another of its words as',
    violatedLevel: 'must',
    alter: ofText((text) => values[(values.indexOf(text) + 1) % values.length] ?? text),
  };
}

function enumVariantsAt(memberPath: string): readonly ValueVariant[] {
  if (memberPath.endsWith('actor.type')) return [otherWord(actorTypes)];
  if (memberPath.endsWith('object.type')) return [otherWord(auditObjectTypes)];
  return [otherWord(auditActions)];
}

function ofList(
  min: number,
  change: (list: readonly unknown[]) => readonly unknown[],
): ValueVariant['alter'] {
  return (value) => (Array.isArray(value) && value.length >= min ? change(value) : value);
}

function listsAt(memberPath: string, row: Operation): readonly ValueVariant[] {
  const isFree = row.response?.lists?.[memberPath] === 'free';
  const ofTexts = /types|clears/.test(memberPath);
  return [
    {
      kind: 'entry-dropped',
      says: 'one entry fewer in',
      violatedLevel: 'must',
      alter: ofList(1, (list) => list.slice(1)),
    },
    {
      kind: 'entry-dropped',
      says: 'nothing in',
      violatedLevel: 'must',
      alter: ofList(1, () => []),
    },
    {
      kind: 'list-reversed',
      says: 'the entries in reverse order in',
      violatedLevel: isFree ? 'nothing' : 'must',
      alter: ofList(2, (list) => list.toReversed()),
    },
    ...(ofTexts ? [strangeEntry] : []),
  ];
}

const strangeEntry: ValueVariant = {
  kind: 'entry-added',
  says: 'an entry of its own in',
  violatedLevel: 'must',
  alter: ofList(0, (list) => [...list, 'fuzz']),
};
