/**
 * Compares the responses of two servers in meaning: status, members and values. IDs, times, links
 * and the texts of errors are the server's own, so only their presence counts.
 */
import { isObject } from '../../../fixtures/base/json.ts';
import { isTimestamp } from '../../../fixtures/contract/text.ts';

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Members whose text is for people, or names the request. */
const freeMembers: ReadonlySet<string> = new Set(['error', 'request_id']);
/** Location of a difference of the body itself. */
const WHOLE_BODY = 'the body';
const DIFFERENCES_MAX = 20;
const VALUE_MAX_CHARACTERS = 60;

/** A value of a recorded response, and what stands in its place in the response of the server. */
interface ServerOwnPair {
  readonly recorded: string;
  readonly actual: string;
}

/** The comparison of two bodies. */
export interface BodyComparison {
  /** Sentences such as `artifact.artifact_name is "b", recorded "a"`; at most 20. */
  readonly differences: readonly string[];
  /** IDs and links that differ, which later requests of the session may use. */
  readonly pairs: readonly ServerOwnPair[];
}

/** Compares the JSON value of a recorded response with that of the server. */
export function compareBodies(recorded: unknown, actual: unknown): BodyComparison {
  const found: Findings = { differences: [], pairs: [] };
  compare(recorded, actual, WHOLE_BODY, found);
  return { ...found, differences: found.differences.slice(0, DIFFERENCES_MAX) };
}

interface Findings {
  readonly differences: string[];
  readonly pairs: ServerOwnPair[];
}

function compare(recorded: unknown, actual: unknown, location: string, found: Findings): void {
  if (Array.isArray(recorded) && Array.isArray(actual)) {
    compareElements(recorded, actual, location, found);
  } else if (isObject(recorded) && isObject(actual)) {
    compareMembers(recorded, actual, location, found);
  } else if (
    typeof recorded === 'string' &&
    typeof actual === 'string' &&
    isServerOwn(recorded, actual)
  ) {
    found.pairs.push({ recorded, actual });
  } else if (recorded !== actual) {
    found.differences.push(`${location} is ${valueText(actual)}, recorded ${valueText(recorded)}`);
  }
}

function compareElements(
  recorded: readonly unknown[],
  actual: readonly unknown[],
  location: string,
  found: Findings,
): void {
  if (recorded.length !== actual.length) {
    found.differences.push(
      `${location} has ${actual.length} elements, recorded ${recorded.length}`,
    );
  }
  for (const [at, each] of recorded.slice(0, actual.length).entries()) {
    compare(each, actual[at], `${location}[${at}]`, found);
  }
}

function compareMembers(
  recorded: Readonly<Record<string, unknown>>,
  actual: Readonly<Record<string, unknown>>,
  location: string,
  found: Findings,
): void {
  for (const name of new Set([...Object.keys(recorded), ...Object.keys(actual)])) {
    const at = location === WHOLE_BODY ? name : `${location}.${name}`;
    if (freeMembers.has(name)) continue;
    if (!Object.hasOwn(actual, name)) found.differences.push(`${at} is missing`);
    else if (!Object.hasOwn(recorded, name)) found.differences.push(`${at} was not recorded`);
    else compare(recorded[name], actual[name], at, found);
  }
}

function isServerOwn(one: string, other: string): boolean {
  return [(text: string) => uuid.test(text), isTimestamp, URL.canParse].some(
    (isOwn) => isOwn(one) && isOwn(other),
  );
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > VALUE_MAX_CHARACTERS ? `${text.slice(0, VALUE_MAX_CHARACTERS)}…` : text;
}
