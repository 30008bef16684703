/** Decides which texts of id_data are the same identity. Spec: AuthRequest (id_data) */
import { isObject, parsedJson } from '../../fixtures/base/json.ts';
import { jsonBreak } from '../../fixtures/base/json-break.ts';
import { limits } from '../../fixtures/contract/limits.ts';

/** An identity as canonical JSON text: members sorted at every level, without white space. */
export interface Identity {
  readonly canonical: string;
}

/** The reason why a string is not an identity. */
export interface NoIdentity {
  readonly reason: string;
  /** Set when the text is too long. */
  readonly expected?: string;
}

const DEPTH_MAX = 32;
const tooLong = {
  reason: `must have at most ${limits.identityMaxBytes} bytes`,
  expected: `at most ${limits.identityMaxBytes} bytes`,
};

/** Reads an identity from the text of id_data. */
export function readIdentity(idData: string): Identity | NoIdentity {
  if (Buffer.byteLength(idData) > limits.identityMaxBytes) return tooLong;
  let data: unknown;
  try {
    data = JSON.parse(idData);
  } catch {
    return { reason: `is not JSON text: it ${jsonBreak(idData)}` };
  }
  return identityOf(data);
}

/** Returns the identity of decoded data. */
export function identityOf(data: unknown): Identity | NoIdentity {
  if (!isObject(data)) {
    const isTwice = typeof data === 'string' && isObject(parsedJson(data));
    const twice = isTwice ? '; it holds one that was encoded twice, so encode it once' : '';
    return { reason: `must be a string that holds a JSON object${twice}` };
  }
  const canonical = canonicalText(data, DEPTH_MAX);
  if (typeof canonical !== 'string') return canonical;
  // Canonical numbers can be longer than those that were sent, such as 1e20.
  return Buffer.byteLength(canonical) > limits.identityMaxBytes ? tooLong : { canonical };
}

function canonicalText(value: unknown, depthLeft: number): string | NoIdentity {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    // Beyond the range of a double, different numbers would become equal.
    return { reason: 'has a number that is too large' };
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depthLeft === 0) return { reason: `must not be nested deeper than ${DEPTH_MAX} levels` };
  const isList = Array.isArray(value);
  const members: string[] = [];
  for (const [name, member] of isList ? Object.entries(value) : sortedEntries(value)) {
    const text = canonicalText(member, depthLeft - 1);
    if (typeof text !== 'string') return text;
    members.push(isList ? text : `${JSON.stringify(name)}:${text}`);
  }
  return isList ? `[${members.join(',')}]` : `{${members.join(',')}}`;
}

function sortedEntries(value: object): [string, unknown][] {
  return Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
