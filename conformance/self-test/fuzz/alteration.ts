/** One change of one place of the answers of an operation, and whether the contract forbids it. */

import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isObject } from '../../../fixtures/json.ts';
import { requirementOn } from '../../passive/answer-parts.ts';
import { isOrdinaryRequest } from '../../passive/judged-exchange.ts';
import { jsonOf, withJson } from '../alter.ts';
import type { ProxiedAnswer, ProxiedRequest } from '../defect.ts';

const UNAUTHORIZED = 401;

/**
 * What an alteration breaks: a must of the contract, a should, or nothing, so that no case may fail
 * because of it.
 */
export type Bond = 'must' | 'should' | 'nothing';

/** A change of one place in the answers of an operation, which a suite should notice. */
export interface Alteration {
  /** The kind of alteration, such as `member-missing`. */
  readonly kind: string;
  /** What it does, to follow "The operation get-artifact answers". */
  readonly says: string;
  readonly bond: Bond;
  /** The requirement on the place, whether it is broken or not. */
  readonly about: RequirementId;
  /** Gives the answer itself where it has no such place. */
  readonly change: (answer: ProxiedAnswer, request: ProxiedRequest) => ProxiedAnswer;
}

/** Which of several entries or members is altered. */
export type Pick = 'first' | 'last' | 'every';

/** Changes the object that holds a member, by the member's name. */
type ChangeOwner = (
  owner: Readonly<Record<string, unknown>>,
  name: string,
) => Readonly<Record<string, unknown>>;

/**
 * Changes the member at the end of the steps; `*` is the picked entry of a list or member of a map.
 * A place that is not there leaves the value as it is.
 */
export function alteredAt(
  value: unknown,
  [step = '', ...rest]: readonly string[],
  pick: Pick,
  change: ChangeOwner,
): unknown {
  if (Array.isArray(value)) {
    if (step !== '*') return value;
    const at = picked([...value.keys()], pick);
    return value.map((each, index) =>
      at.includes(index) ? alteredAt(each, rest, pick, change) : each,
    );
  }
  if (!isObject(value)) return value;
  const names = step === '*' ? picked(Object.keys(value), pick) : [step];
  let owner = value;
  for (const name of names.filter((each) => Object.hasOwn(value, each))) {
    const inner = (): unknown => alteredAt(owner[name], rest, pick, change);
    owner =
      rest.length === 0 ? change(owner, name) : Object.assign({ ...owner }, { [name]: inner() });
  }
  return owner;
}

function picked<Key>(keys: readonly Key[], pick: Pick): readonly Key[] {
  if (pick === 'every') return keys;
  return pick === 'first' ? keys.slice(0, 1) : keys.slice(-1);
}

/** Changes the JSON of answers of one status; a body that is none, or that stays the same, stays. */
export function jsonOfStatus(
  status: number,
  change: (body: unknown, request: ProxiedRequest) => unknown,
): Alteration['change'] {
  return (answer, request) => {
    if (answer.status !== status) return answer;
    const body = jsonOf(answer);
    if (body === undefined) return answer;
    const made = change(body, request);
    return JSON.stringify(made) === JSON.stringify(body) ? answer : withJson(answer, made);
  };
}

/** Changes answers of one status. */
export function ofStatus(
  status: number,
  change: (answer: ProxiedAnswer) => ProxiedAnswer,
): Alteration['change'] {
  return (answer) => (answer.status === status ? change(answer) : answer);
}

/**
 * Changes refusals of one status: those of requests that a proxy before the server lets through, so
 * that the contract speaks of them.
 */
export function refusalsOf(
  row: Operation,
  status: number,
  change: Alteration['change'],
): Alteration['change'] {
  return (answer, request) => {
    if (answer.status !== status) return answer;
    const isJudged = status === UNAUTHORIZED || isOrdinary(row, request);
    return isJudged ? change(answer, request) : answer;
  };
}

function isOrdinary(row: Operation, request: ProxiedRequest): boolean {
  const { path, query, headers, body } = request;
  const url = `http://target${path}${query === '' ? '' : `?${query}`}`;
  return isOrdinaryRequest({ url, headers, bodyBytes: body.length, isChunked: false }, row);
}

/** The requirement on a part of the operation's successful answers. */
export function aboutPart(id: OperationId, ...steps: readonly string[]): RequirementId {
  return requirementOn(id, steps);
}

/** The object without the member. */
export const withoutMember: ChangeOwner = (owner, name) => {
  const { [name]: _, ...rest } = owner;
  return rest;
};
