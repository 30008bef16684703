/**
 * Tables of inputs: a good body with one field missing, null, empty, long, of another type or of
 * another value. What each must be answered is literal, beside the cases, never asked of the contract.
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { Answer } from '../target/answer.ts';
import { expectEach, observed } from '../target/expectations.ts';
import type { Capability, Coverage, JudgingCase, ObservingCase } from './case.ts';

/** Longer than any text of a good device, and short enough for any body. */
const LONG_TEXT_CHARACTERS = 5000;

const fieldValues = {
  missing: undefined,
  null: null,
  boolean: true,
  number: 7,
  text: 'text',
  'empty string': '',
  'long string': 'x'.repeat(LONG_TEXT_CHARACTERS),
  list: [],
  object: {},
} as const;
type FieldKind = keyof typeof fieldValues;

/** What a field of a body may be given; `missing` leaves it out. */
export const fieldKinds = Object.keys(fieldValues) as readonly FieldKind[];

/** What may stand in place of a whole body. */
export const bodyKinds = [
  'missing',
  'no JSON',
  'null',
  'boolean',
  'number',
  'text',
  'list',
] as const;

type InputKind = FieldKind | (typeof bodyKinds)[number];

/** The kinds that no field of a text may have when it is there. */
export const otherThanText = ['null', 'boolean', 'number', 'list', 'object'] as const;

/**
 * Inputs by kind, or by a name of their own: for a field its values, of which undefined leaves it
 * out; for the body its text, of which undefined is no body.
 */
type Inputs = readonly InputKind[] | Readonly<Record<string, unknown>>;

/** What the inputs of a row must be answered: 400, a success, or whatever the server decides. */
type Expectation =
  | { readonly refused: Inputs }
  | { readonly accepted: Inputs }
  | { readonly open: Inputs };

/** One row, which is one case: inputs of one field that are all answered in one way. */
export type InputRow = Expectation & {
  readonly title: string;
  readonly requirement: RequirementId;
  /** Names from the body on, joined by dots, `[]` for the last entry of a list; empty for the body. */
  readonly field: string;
  readonly needs?: readonly Capability[];
  readonly covers?: readonly Coverage[];
};

/** Rows by ID, which is that of the case within its area. */
export type InputTable = Readonly<Record<string, InputRow>>;

/** One input as it is sent. */
export interface Input {
  readonly name: string;
  readonly field: string;
  /** What the field is given; of the body, its text. */
  readonly value: unknown;
  /** The valid body with the field set to the value; undefined if no body is sent. */
  readonly raw: string | undefined;
}

/** The values by name, for a row that has others too. */
export function given(...kinds: readonly FieldKind[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(kinds.map((kind) => [kind, fieldValues[kind]]));
}

/** The inputs of a row, made of a good body. */
export function inputsOf(row: InputRow, body: unknown): readonly Input[] {
  const { field } = row;
  return Object.entries(valuesOf(row, body)).map(([kind, value]) => ({
    name: `${field} ${kind}`.trim(),
    field,
    value,
    raw: field === '' ? (value as string) : JSON.stringify(withField(body, stepsOf(field), value)),
  }));
}

/** What is expected of the inputs of a row. */
export function expectationOf(row: InputRow): 'refused' | 'accepted' | 'open' {
  if ('refused' in row) return 'refused';
  return 'accepted' in row ? 'accepted' : 'open';
}

/** How the inputs of a table are sent and answered. */
interface Sending<Arranged> {
  /** A good body; each input is this one with one field given in another way. */
  readonly body: unknown;
  readonly send: (arranged: Arranged, input: Input) => Promise<Answer>;
  /** Statuses of an input that is accepted; all others miss it. */
  readonly accepted: readonly number[];
}

/** The cases of a table: each row is one case, which sends all inputs of the row. */
export function inputCases<Arranged>(
  table: InputTable,
  { body, send, accepted }: Sending<Arranged>,
): (JudgingCase<Arranged> | ObservingCase<Arranged>)[] {
  return Object.entries(table).map(([id, row]) => {
    const { title, requirement, needs = [], covers = [] } = row;
    const facts = { id, title, requirements: [requirement], needs, covers } as const;
    const inputs = inputsOf(row, body);
    const expectation = expectationOf(row);
    if (expectation === 'open') {
      return {
        ...facts,
        observe: async (arranged) => observed(await seenStatuses(inputs, send, arranged)),
      };
    }
    const statuses = expectation === 'refused' ? 400 : accepted;
    const named = Object.fromEntries(inputs.map((input) => [input.name, input]));
    const run = (arranged: Arranged): Promise<void> =>
      expectEach(statuses, named, (input) => send(arranged, input));
    return { ...facts, run };
  });
}

async function seenStatuses<Arranged>(
  inputs: readonly Input[],
  send: (arranged: Arranged, input: Input) => Promise<Answer>,
  arranged: Arranged,
): Promise<string> {
  const seen: string[] = [];
  for (const input of inputs) seen.push(`${input.name}: ${(await send(arranged, input)).status}`);
  return seen.join(', ');
}

function valuesOf(row: InputRow, body: unknown): Readonly<Record<string, unknown>> {
  const inputs = givenIn(row);
  if (!isKinds(inputs)) return inputs;
  const as = row.field === '' ? (kind: InputKind) => bodyText(kind, body) : fieldValue;
  return Object.fromEntries(inputs.map((kind) => [kind, as(kind)]));
}

function givenIn(row: InputRow): Inputs {
  if ('refused' in row) return row.refused;
  return 'accepted' in row ? row.accepted : row.open;
}

function isKinds(inputs: Inputs): inputs is readonly InputKind[] {
  return Array.isArray(inputs);
}

function fieldValue(kind: InputKind): unknown {
  if (kind !== 'no JSON') return fieldValues[kind];
  throw new Error(`${kind} is not for a field`);
}

function bodyText(kind: InputKind, body: unknown): string | undefined {
  if (kind === 'no JSON') return JSON.stringify(body).slice(0, -1);
  return kind === 'missing' ? undefined : JSON.stringify(fieldValues[kind]);
}

/** The body with the value at the path replaced; `[]` is the last entry of a list. */
function withField(
  body: unknown,
  [step = '', ...rest]: readonly string[],
  value: unknown,
): unknown {
  const changed = (inner: unknown) => (rest.length > 0 ? withField(inner, rest, value) : value);
  if (Array.isArray(body)) return body.with(-1, changed(body.at(-1)));
  const { [step]: inner, ...others } = Object(body);
  const member = changed(inner);
  return member === undefined ? others : { ...others, [step]: member };
}

/** `messages[].level` as `messages`, `[]`, `level`. */
function stepsOf(field: string): readonly string[] {
  return field.split(/\.|(?=\[\])/);
}
