/**
 * Compares the responses of two servers in meaning: status, members and values. IDs, times, links
 * and the texts of errors are the server's own, so only their presence counts.
 */
import { isObject } from '../../../fixtures/base/json.ts';
import { isTimestamp } from '../../../fixtures/contract/text.ts';

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Members whose text is for people, or names the request. */
const freeMembers: ReadonlySet<string> = new Set(['error', 'request_id']);
const DIFFERENCES_MAX = 20;
const VALUE_MAX_CHARACTERS = 60;

/** A value of a recorded response, and what stands in its place in the response of the server. */
interface ServerOwnPair {
  readonly recorded: string;
  readonly actual: string;
}

/** The comparison of two JSON bodies. */
export interface BodyComparison {
  /** Sentences such as `artifact.artifact_name is "b", recorded "a"`; at most 20. */
  readonly differences: readonly string[];
  /** IDs and links that differ, which later requests of the session may use. */
  readonly pairs: readonly ServerOwnPair[];
}

/** Compares the JSON value of a recorded response with that of the server. */
export function compareBodies(recorded: unknown, actual: unknown): BodyComparison {
  const differences: string[] = [];
  const pairs: ServerOwnPair[] = [];
  compare(recorded, actual, 'the body');
  return { differences: differences.slice(0, DIFFERENCES_MAX), pairs };

  function compare(one: unknown, other: unknown, location: string): void {
    if (Array.isArray(one) && Array.isArray(other)) {
      if (one.length !== other.length) {
        differences.push(`${location} has ${other.length} elements, recorded ${one.length}`);
      }
      for (const [at, each] of one.slice(0, other.length).entries()) {
        compare(each, other[at], `${location}[${at}]`);
      }
    } else if (isObject(one) && isObject(other)) {
      for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
        const at = location === 'the body' ? name : `${location}.${name}`;
        if (freeMembers.has(name)) continue;
        if (!Object.hasOwn(other, name)) differences.push(`${at} is missing`);
        else if (!Object.hasOwn(one, name)) differences.push(`${at} was not recorded`);
        else compare(one[name], other[name], at);
      }
    } else if (typeof one === 'string' && typeof other === 'string' && isServerOwn(one, other)) {
      pairs.push({ recorded: one, actual: other });
    } else if (one !== other) {
      differences.push(`${location} is ${valueText(other)}, recorded ${valueText(one)}`);
    }
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
