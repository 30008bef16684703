/** A template of `id_data`: a JSON object, filled in for each device. */
import * as v from 'valibot';
import { isObject, type JsonObject } from '../../fixtures/base/json.ts';
import type { Random } from '../../fixtures/base/random.ts';
import { readYaml } from '../../fixtures/base/yaml-text.ts';
import type { IdData, IdDataFacts, IdDataOf } from './identity.ts';
import { IdentityError } from './identity-error.ts';

const member = v.union(
  [v.string(), v.number(), v.boolean()],
  'must be a string, a number, true or false',
);
const templateShape = v.pipe(
  v.custom<JsonObject>(isObject, 'must be an object'),
  v.record(v.string(), member),
  v.minEntries(1, 'must have at least one member'),
);

interface PlaceholderFacts extends IdDataFacts {
  /** The number after a colon, as in `{digits:15}`. */
  readonly length: number | undefined;
  /** Random generator used only for this member of this device. */
  readonly chance: Random;
}

const LENGTH_MAX = 64;

/** The supported placeholders, each with a function that returns its replacement. */
const placeholders: Readonly<Record<string, (facts: PlaceholderFacts) => string>> = {
  index: ({ index, length = 0 }) => String(index).padStart(length, '0'),
  number: ({ index, length = 0 }) => String(index + 1).padStart(length, '0'),
  mac: ({ identity }) => identity.mac,
  serial: ({ identity }) => identity.serial,
  sku: ({ identity }) => identity.sku,
  digits: ({ chance, length = 8 }) => some(length, () => String(chance.integer(0, 9))),
  hex: ({ chance, length = 8 }) => some(length, () => chance.integer(0, 15).toString(16)),
};
const placeholderPattern = /\{([^{}]*)\}/g;

/**
 * Parses a template.
 * @throws IdentityError with line and column
 */
export function readIdTemplate(text: string): IdDataOf {
  const template = readYaml(text, templateShape);
  if ('problems' in template)
    throw wrong(template.problems[0] ?? { line: 1, column: 1, message: 'is empty' });
  const members = Object.entries(template.content);
  for (const [name, value] of members) {
    const problem = problemIn(String(value));
    if (problem !== undefined) {
      throw wrong({ ...template.positionOf([name]), message: `${name}: ${problem}` });
    }
  }
  return (facts) => filledIn(members, facts);
}

function wrong(problem: {
  readonly line: number;
  readonly column: number;
  message: string;
}): Error {
  const placeholder = `line ${problem.line}, column ${problem.column}`;
  return new IdentityError(
    `the template of id_data is wrong at ${placeholder}: ${problem.message.replace(/\s+/g, ' ')}; ` +
      'a valid one is {"mac":"{mac}","site":"north-{index:4}"}.',
  );
}

function problemIn(text: string): string | undefined {
  for (const [placeholderText, inside = ''] of text.matchAll(placeholderPattern)) {
    const { slot: placeholder, length } = partsOf(inside);
    if (!(placeholder in placeholders)) {
      return `${placeholderText} is unknown; use {${Object.keys(placeholders).join('}, {')}}`;
    }
    if (length !== undefined && !(length >= 1 && length <= LENGTH_MAX)) {
      return `the length in ${placeholderText} must be from 1 to ${LENGTH_MAX}`;
    }
  }
  return /[{}]/.test(text.replace(placeholderPattern, ''))
    ? 'a brace is not closed or not opened'
    : undefined;
}

function partsOf(inside: string) {
  const [placeholder = '', length] = inside.split(':');
  return { slot: placeholder, length: length === undefined ? undefined : Number(length) };
}

function filledIn(members: readonly (readonly [string, IdData[string]])[], facts: IdDataFacts) {
  const { random, index } = facts;
  return Object.fromEntries(
    members.map(([name, value]) => {
      if (typeof value !== 'string' || !value.includes('{')) return [name, value];
      const chance = random.stream(`device/${index}/id-data/${name}`);
      const fill = (whole: string, inside: string): string => {
        const { slot: placeholder, length } = partsOf(inside);
        return placeholders[placeholder]?.({ ...facts, length, chance }) ?? whole;
      };
      return [name, value.replace(placeholderPattern, fill)];
    }),
  );
}

function some(count: number, one: () => string): string {
  return Array.from({ length: count }, one).join('');
}
