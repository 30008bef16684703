/** Expectations of cases: small functions that report the expected and the actual value. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { excerptOf } from '../../fixtures/base/excerpt.ts';
import { parsedJson } from '../../fixtures/base/json.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { HttpResponse } from './response.ts';

/** The target did not do what the case's requirement says. */
export class ExpectationFailure extends Error {
  readonly expected: string;
  readonly actual: string;
  /** The violated requirements of the case; all of them when absent. */
  readonly violated?: readonly RequirementId[];

  constructor(expected: string, actual: string, violated?: readonly RequirementId[]) {
    super(`expected ${expected}, actual ${actual}`);
    this.name = 'ExpectationFailure';
    this.expected = expected;
    this.actual = actual;
    if (violated !== undefined) this.violated = violated;
  }
}

/** The requirement's subject cannot be observed on this target, so the case is inconclusive. */
export class NotObservable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotObservable';
  }
}

/** The result of an observing case, which has no right or wrong. */
export interface CaseObservation {
  readonly text: string;
}

const TEXT_MAX_CHARACTERS = 300;

/** Returns a value as text, truncated when long. */
export function describeValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length <= TEXT_MAX_CHARACTERS ? text : `${excerptOf(text, TEXT_MAX_CHARACTERS)}…`;
}

/** Returns a response in short form: status and the beginning of the body. */
export function responseSummary({ status, text, bytes }: HttpResponse): string {
  if (text === '') return `${status} without a body`;
  // The bytes of an archive are unreadable, and its timestamps differ from run to run.
  if (text.includes('\0')) return `${status} with ${bytes.length} bytes that are not text`;
  return `${status} with the body ${describeValue(text)}`;
}

/** Returns true if the body contains the text; escapes in JSON do not matter. */
export function bodyIncludes({ text }: HttpResponse, part: string): boolean {
  const json = parsedJson(text);
  return (json === undefined ? text : JSON.stringify(json)).includes(part);
}

/** Returns an observation of the text. */
export function observationOf(text: string): CaseObservation {
  return { text };
}

/** Returns an observation of the response. */
export function observedResponse(response: HttpResponse): CaseObservation {
  return { text: `answered with ${responseSummary(response)}` };
}

/** All success statuses, for cases that accept any of them. */
export const anySuccess = [200, 201, 202, 203, 204] as const;

/** Asserts that the response has one of these statuses. */
export function expectStatus(response: HttpResponse, ...statuses: readonly number[]): void {
  if (statuses.includes(response.status)) return;
  throw new ExpectationFailure(`status ${statuses.join(' or ')}`, responseSummary(response));
}

/** Asserts that each of the named requests is answered with the status, or with one of them. */
export async function expectEach<Row>(
  statuses: number | readonly number[],
  rows: Readonly<Record<string, Row>>,
  send: (row: Row, name: string) => Promise<HttpResponse>,
): Promise<void> {
  const allowedStatuses = typeof statuses === 'number' ? [statuses] : statuses;
  for (const [name, row] of Object.entries(rows)) {
    const response = await send(row, name);
    if (allowedStatuses.includes(response.status)) continue;
    const expected = `status ${allowedStatuses.join(' or ')} for ${name}`;
    throw new ExpectationFailure(expected, responseSummary(response));
  }
}

/** Asserts that the response has no body. */
export function expectNoBody(response: HttpResponse): void {
  if (response.bytes.length > 0) throw new ExpectationFailure('no body', responseSummary(response));
}

/** Returns the JSON of the body. */
export function expectJson(response: HttpResponse): unknown {
  try {
    return JSON.parse(response.text);
  } catch {
    throw new ExpectationFailure('a JSON body', responseSummary(response));
  }
}

/** Returns the JSON of the body if it has the shape; names the first field that does not fit. */
export function expectShape<const Shape extends v.GenericSchema>(
  response: HttpResponse,
  shape: Shape,
): v.InferOutput<Shape> {
  const parsed = v.safeParse(shape, expectJson(response), { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const where = v.getDotPath(issue) ?? 'the body';
  throw new ExpectationFailure(
    `${where} as ${issue.expected ?? 'described'}`,
    `${where}: ${issue.message}, in ${describeValue(response.text)}`,
  );
}

/** Asserts that the two values are equal, member by member. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new ExpectationFailure(
    `${what} ${describeValue(expected)}`,
    `${what} ${describeValue(actual)}`,
  );
}

/** Asserts that the value is absent or equal, as for an optional field. */
export function expectEqualIfThere(what: string, actual: unknown, expected: unknown): void {
  if (actual !== undefined) expectEqual(what, actual, expected);
}

/** Asserts that the object has these members, each equal; it may have others. */
export function expectMembers(what: string, actual: object | undefined, expected: object): void {
  const members: Readonly<Record<string, unknown>> = { ...actual };
  const actualMembers = Object.keys(expected).map((name) => [name, members[name]]);
  expectEqual(what, actual && Object.fromEntries(actualMembers), expected);
}

/** Returns a list in a canonical order, to compare lists whose order does not matter. */
export function sorted<Element>(list: readonly Element[]): Element[] {
  const ranked = list.map((element) => ({ element, rank: JSON.stringify(element) }));
  return ranked
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
    .map(({ element }) => element);
}

/** Asserts that `truth` is true; the two texts describe the expected and the actual value. */
export function expectThat(truth: boolean, expected: string, actual: string): asserts truth {
  if (!truth) throw new ExpectationFailure(expected, actual);
}

/** Returns the text if it is an absolute HTTP URL. */
export function expectUrl(what: string, text: string | undefined): string {
  const protocol = text !== undefined && URL.canParse(text) ? new URL(text).protocol : '';
  if (text !== undefined && /^https?:$/.test(protocol)) return text;
  throw new ExpectationFailure(`${what} that is an absolute URL`, describeValue(text ?? 'none'));
}

/** Returns the value if it is present. */
export function expectPresent<T>(what: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw new ExpectationFailure(what, 'none');
}
