/**
 * Tables of request bodies: a valid body in which one field is missing, null, empty, too long, of
 * another type, or has another value. The tables of the cases state the expected responses
 * literally. They are not derived from the contract's data, so that a mistake there cannot hide.
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { expectEach, observationOf } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import type { Capability, CoveredStatus, JudgingCase, ObservingCase } from './case.ts';

/** Longer than any string that a real device sends, yet short enough for every body size limit. */
const LONG_STRING_CHARACTERS = 5000;

const fieldValues = {
  missing: undefined,
  null: null,
  boolean: true,
  number: 7,
  string: 'text',
  'empty string': '',
  'long string': 'x'.repeat(LONG_STRING_CHARACTERS),
  array: [],
  object: {},
} as const;
type FieldKind = keyof typeof fieldValues;

/** The names of the test values for a field; `missing` omits the field. */
export const fieldKinds = Object.keys(fieldValues) as readonly FieldKind[];

/** The names of the test values that replace a whole body. */
export const bodyKinds = [
  'missing',
  'not JSON',
  'null',
  'boolean',
  'number',
  'string',
  'array',
] as const;

type InputKind = FieldKind | (typeof bodyKinds)[number];

/** The kinds that are invalid for a field that holds a string, unless the field is omitted. */
export const otherThanString = ['null', 'boolean', 'number', 'array', 'object'] as const;

/**
 * A list of kinds, or values by a name for reports. For a field, undefined omits the field. For the
 * whole body, each value is the text of the body, and undefined sends no body.
 */
type InputValues = readonly InputKind[] | Readonly<Record<string, unknown>>;

/**
 * The expected response to the inputs of a row. `refused`: status 400. `accepted`: a success.
 * `open`: any, since the contract does not decide.
 */
type InputExpectation =
  | { readonly refused: InputValues }
  | { readonly accepted: InputValues }
  | { readonly open: InputValues };

/** One row, which becomes one case: inputs for one field with the same expected response. */
export type InputRow = InputExpectation & {
  readonly title: string;
  readonly requirement: RequirementId;
  /**
   * Path of the field in the body: names joined by dots, with `[]` for the last entry of an array.
   * Empty for the body itself.
   */
  readonly field: string;
  readonly needs?: readonly Capability[];
  readonly covers?: readonly CoveredStatus[];
};

/** Rows by the ID of their case within its area. */
export type InputTable = Readonly<Record<string, InputRow>>;

/** One request body to send, and the change that distinguishes it from the valid body. */
export interface InputBody {
  readonly name: string;
  readonly field: string;
  /** The value of the field; for the whole body, its text. */
  readonly value: unknown;
  /** The valid body with the field set to the value; undefined if no body is sent. */
  readonly raw: string | undefined;
}

/** Returns the values of these kinds by name, for a row that also has values of its own. */
export function namedValues(...kinds: readonly FieldKind[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(kinds.map((kind) => [kind, fieldValues[kind]]));
}

/** Returns the inputs of a row, each derived from a valid body. */
export function inputsOf(row: InputRow, body: unknown): readonly InputBody[] {
  const { field } = row;
  return Object.entries(valuesOf(row, body)).map(([kind, value]) => ({
    name: `${field} ${kind}`.trim(),
    field,
    value,
    raw: field === '' ? (value as string) : JSON.stringify(withField(body, stepsOf(field), value)),
  }));
}

/** Returns the name of the response that a row expects. */
export function expectationOf(row: InputRow): 'refused' | 'accepted' | 'open' {
  if ('refused' in row) return 'refused';
  return 'accepted' in row ? 'accepted' : 'open';
}

/** Defines how the inputs of a table are sent, and which statuses accept them. */
interface InputSender<Arranged> {
  /** A valid body; each input is a copy of it with one field changed. */
  readonly body: unknown;
  readonly send: (arranged: Arranged, input: InputBody) => Promise<HttpResponse>;
  /** The statuses with which an accepted input may be answered. */
  readonly accepted: readonly number[];
}

/** Returns the cases of a table: one for each row, which sends all inputs of the row. */
export function inputCases<Arranged>(
  table: InputTable,
  { body, send, accepted }: InputSender<Arranged>,
): (JudgingCase<Arranged> | ObservingCase<Arranged>)[] {
  return Object.entries(table).map(([id, row]) => {
    const { title, requirement, needs = [], covers = [] } = row;
    const facts = { id, title, requirements: [requirement], needs, covers } as const;
    const inputs = inputsOf(row, body);
    const expectation = expectationOf(row);
    if (expectation === 'open') {
      return {
        ...facts,
        observe: async (arranged) => observationOf(await seenStatuses(inputs, send, arranged)),
      };
    }
    const statuses = expectation === 'refused' ? 400 : accepted;
    const inputsByName = Object.fromEntries(inputs.map((input) => [input.name, input]));
    const run = (arranged: Arranged): Promise<void> =>
      expectEach(statuses, inputsByName, (input) => send(arranged, input));
    return { ...facts, run };
  });
}

async function seenStatuses<Arranged>(
  inputs: readonly InputBody[],
  send: (arranged: Arranged, input: InputBody) => Promise<HttpResponse>,
  arranged: Arranged,
): Promise<string> {
  const statusTexts: string[] = [];
  for (const input of inputs)
    statusTexts.push(`${input.name}: ${(await send(arranged, input)).status}`);
  return statusTexts.join(', ');
}

function valuesOf(row: InputRow, body: unknown): Readonly<Record<string, unknown>> {
  const inputs = givenIn(row);
  if (!isKinds(inputs)) return inputs;
  const as = row.field === '' ? (kind: InputKind) => bodyText(kind, body) : fieldValue;
  return Object.fromEntries(inputs.map((kind) => [kind, as(kind)]));
}

function givenIn(row: InputRow): InputValues {
  if ('refused' in row) return row.refused;
  return 'accepted' in row ? row.accepted : row.open;
}

function isKinds(inputs: InputValues): inputs is readonly InputKind[] {
  return Array.isArray(inputs);
}

function fieldValue(kind: InputKind): unknown {
  if (kind !== 'not JSON') return fieldValues[kind];
  throw new Error(`${kind} is not for a field`);
}

function bodyText(kind: InputKind, body: unknown): string | undefined {
  if (kind === 'not JSON') return JSON.stringify(body).slice(0, -1);
  return kind === 'missing' ? undefined : JSON.stringify(fieldValues[kind]);
}

/** Returns the body with the value at the path replaced; a step into an array is its last entry. */
function withField(
  body: unknown,
  [step = '', ...innerSteps]: readonly string[],
  value: unknown,
): unknown {
  const changedInner = (inner: unknown) =>
    innerSteps.length > 0 ? withField(inner, innerSteps, value) : value;
  if (Array.isArray(body)) return body.with(-1, changedInner(body.at(-1)));
  const { [step]: inner, ...otherMembers } = Object(body);
  const member = changedInner(inner);
  return member === undefined ? otherMembers : { ...otherMembers, [step]: member };
}

/** Splits a field path into steps: `messages[].level` into `messages`, `[]`, `level`. */
function stepsOf(field: string): readonly string[] {
  return field.split(/\.|(?=\[\])/);
}
