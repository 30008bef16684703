/**
 * Inputs at the edge: a good body with one field missing, null, empty, long, or of another type.
 * What each must be answered is a literal table beside the cases, never asked of the contract.
 */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { Answer } from '../target/answer.ts';
import { expectEach, observed } from '../target/expectations.ts';
import type { Capability, Coverage, JudgingCase, ObservingCase } from './case.ts';

/** Longer than any text of a good device, and short enough for any body. */
const LONG_TEXT_CHARACTERS = 5000;

const fieldValues = {
  null: null,
  boolean: true,
  number: 7,
  text: 'text',
  'empty text': '',
  'long text': 'x'.repeat(LONG_TEXT_CHARACTERS),
  list: [],
  object: {},
} as const;

/** What a field of a body may be given; `missing` leaves it out. */
export const fieldKinds = ['missing', ...(Object.keys(fieldValues) as FieldValue[])] as const;
type FieldValue = keyof typeof fieldValues;
type FieldKind = 'missing' | FieldValue;

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
type BodyKind = (typeof bodyKinds)[number];

type InputKind = FieldKind | BodyKind;

/** One row of a literal table: how one field, given so, must be answered. */
export interface InputRow {
  /** Within the area, as the id of a case. */
  readonly id: string;
  readonly title: string;
  /** Names from the body on, joined by dots, `[]` for the entry of a list; empty for the body. */
  readonly field: string;
  readonly kinds: readonly InputKind[];
  /** 400; `taken` where it is a good input; `open` where the contract leaves it open. */
  readonly answered: 400 | 'taken' | 'open';
  readonly requirement: RequirementId;
  readonly needs?: readonly Capability[];
  readonly covers?: readonly Coverage[];
}

/** The body as text with the field given in that way; undefined when there is no body at all. */
export function inputText(body: unknown, field: string, kind: InputKind): string | undefined {
  if (kind === 'no JSON') return JSON.stringify(body).slice(0, -1);
  if (field !== '') return JSON.stringify(withField(body, field.split('.'), kind));
  return kind === 'missing' ? undefined : JSON.stringify(fieldValues[kind]);
}

/** How the good inputs of a table are sent and answered. */
interface Inputs<Arranged> {
  /** A good body; each input is this one with one field given in another way. */
  readonly body: unknown;
  readonly send: (arranged: Arranged, raw: string | undefined) => Promise<Answer>;
  /** Statuses of an input that is taken; all others miss it. */
  readonly taken: readonly number[];
}

/** The cases of a table: each row is one case, which sends an input for each of its kinds. */
export function inputCases<Arranged>(
  rows: readonly InputRow[],
  { body, send, taken }: Inputs<Arranged>,
): (JudgingCase<Arranged> | ObservingCase<Arranged>)[] {
  return rows.map((row) => {
    const { id, title, field, kinds, answered, requirement, needs = [], covers = [] } = row;
    const facts = { id, title, requirements: [requirement], needs, covers } as const;
    const inputs = kinds.map(
      (kind) => [`${field} ${kind}`.trim(), inputText(body, field, kind)] as const,
    );
    if (answered === 'open') {
      return {
        ...facts,
        observe: async (arranged) => observed(await seenStatuses(inputs, send, arranged)),
      };
    }
    const statuses = answered === 'taken' ? taken : 400;
    const named = Object.fromEntries(inputs);
    const run = (arranged: Arranged): Promise<void> =>
      expectEach(statuses, named, (raw) => send(arranged, raw));
    return { ...facts, run };
  });
}

async function seenStatuses<Arranged>(
  inputs: readonly (readonly [name: string, raw: string | undefined])[],
  send: (arranged: Arranged, raw: string | undefined) => Promise<Answer>,
  arranged: Arranged,
): Promise<string> {
  const seen: string[] = [];
  for (const [name, raw] of inputs) seen.push(`${name}: ${(await send(arranged, raw)).status}`);
  return seen.join(', ');
}

function withField(body: unknown, [step, ...rest]: readonly string[], kind: InputKind): unknown {
  if (step === undefined) return givenAs(kind);
  if (step.endsWith('[]')) {
    const name = step.slice(0, -2);
    const { [name]: list, ...others } = membersOf(body);
    const entries = Array.isArray(list) ? list : [];
    return { ...others, [name]: [...entries, withField(entries[0], rest, kind)] };
  }
  const { [step]: inner, ...others } = membersOf(body);
  if (rest.length > 0) return { ...others, [step]: withField(inner, rest, kind) };
  return kind === 'missing' ? others : { ...others, [step]: givenAs(kind) };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return { ...(value as object) };
}

function givenAs(kind: InputKind): unknown {
  if (kind in fieldValues) return fieldValues[kind as FieldValue];
  throw new Error(`${kind} is not for a field`);
}
