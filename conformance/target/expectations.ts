/** What a case may expect: small functions that give what was expected and what was seen. */

import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { beginningOf } from '../../fixtures/beginning.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { Answer } from './answer.ts';

/** The target did something other than what the case's requirement says. */
export class ExpectationFailure extends Error {
  readonly expected: string;
  readonly actual: string;
  /** Those of the case's requirements that were missed; all of them when absent. */
  readonly missed?: readonly RequirementId[];

  constructor(expected: string, actual: string, missed?: readonly RequirementId[]) {
    super(`expected ${expected}, saw ${actual}`);
    this.name = 'ExpectationFailure';
    this.expected = expected;
    this.actual = actual;
    if (missed !== undefined) this.missed = missed;
  }
}

/** What a requirement speaks of cannot be seen on this target, so the case decides nothing. */
export class NotObservable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotObservable';
  }
}

/** What an observing case saw; such a case has no right or wrong. */
export interface Observation {
  readonly seen: string;
}

const TEXT_MAX_CHARACTERS = 300;

/** A value as text, cut where it is long. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length <= TEXT_MAX_CHARACTERS ? text : `${beginningOf(text, TEXT_MAX_CHARACTERS)}…`;
}

/** An answer in a few words: status and the beginning of the body. */
export function shownAnswer({ status, text }: Answer): string {
  return text === '' ? `${status} without a body` : `${status} with the body ${shown(text)}`;
}

/** What was seen, in words. */
export function observed(seen: string): Observation {
  return { seen };
}

/** What was answered, in words. */
export function observedAnswer(answer: Answer): Observation {
  return { seen: `answered ${shownAnswer(answer)}` };
}

/** The statuses of a success, for what is no more than a success to a case. */
export const anySuccess = [200, 201, 202, 203, 204] as const;

/** Holds when the answer has one of these statuses. */
export function expectStatus(answer: Answer, ...statuses: readonly number[]): void {
  if (statuses.includes(answer.status)) return;
  throw new ExpectationFailure(`status ${statuses.join(' or ')}`, shownAnswer(answer));
}

/** Holds when each of the named requests is answered with the status, or with one of them. */
export async function expectEach<Row>(
  statuses: number | readonly number[],
  rows: Readonly<Record<string, Row>>,
  send: (row: Row, name: string) => Promise<Answer>,
): Promise<void> {
  const legal = typeof statuses === 'number' ? [statuses] : statuses;
  for (const [name, row] of Object.entries(rows)) {
    const answer = await send(row, name);
    if (legal.includes(answer.status)) continue;
    const expected = `status ${legal.join(' or ')} for ${name}`;
    throw new ExpectationFailure(expected, shownAnswer(answer));
  }
}

/** Holds when the answer has no body. */
export function expectNoBody(answer: Answer): void {
  if (answer.bytes.length > 0) throw new ExpectationFailure('no body', shownAnswer(answer));
}

/** The JSON of the body. */
export function expectJson(answer: Answer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch {
    throw new ExpectationFailure('a JSON body', shownAnswer(answer));
  }
}

/** The JSON of the body when it has the shape; names the first field that does not fit. */
export function expectShape<const Shape extends v.GenericSchema>(
  answer: Answer,
  shape: Shape,
): v.InferOutput<Shape> {
  const parsed = v.safeParse(shape, expectJson(answer), { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const where = v.getDotPath(issue) ?? 'the body';
  throw new ExpectationFailure(
    `${where} as ${issue.expected ?? 'described'}`,
    `${where}: ${issue.message}, in ${shown(answer.text)}`,
  );
}

/** Holds when the two values are equal, member by member. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new ExpectationFailure(`${what} ${shown(expected)}`, `${what} ${shown(actual)}`);
}

/** Holds when the value is absent, as a field may be that is not required, or equal. */
export function expectEqualIfThere(what: string, actual: unknown, expected: unknown): void {
  if (actual !== undefined) expectEqual(what, actual, expected);
}

/** Holds when the object has these members, each equal; it may have others. */
export function expectMembers(what: string, actual: object | undefined, expected: object): void {
  const given: Readonly<Record<string, unknown>> = { ...actual };
  const seen = Object.keys(expected).map((name) => [name, given[name]]);
  expectEqual(what, actual && Object.fromEntries(seen), expected);
}

/** A list whose order says nothing, in an order of its own, so that two of them can be compared. */
export function sorted<Element>(list: readonly Element[]): Element[] {
  const ranked = list.map((element) => ({ element, rank: JSON.stringify(element) }));
  return ranked
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
    .map(({ element }) => element);
}

/** Holds when `truth` is true; the two texts tell what was expected and what was seen. */
export function expectThat(truth: boolean, expected: string, actual: string): asserts truth {
  if (!truth) throw new ExpectationFailure(expected, actual);
}

/** The text when it is an absolute URL of HTTP. */
export function expectUrl(what: string, text: string | undefined): string {
  const protocol = text !== undefined && URL.canParse(text) ? new URL(text).protocol : '';
  if (text !== undefined && /^https?:$/.test(protocol)) return text;
  throw new ExpectationFailure(`${what} that is an absolute URL`, shown(text ?? 'none'));
}

/** The value when it is there. */
export function expectPresent<T>(what: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new ExpectationFailure(what, 'none');
}
