/** Alterations for fuzzing: each changes one place in the responses of one operation. */
import { isObject } from '../../../fixtures/base/json.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isOrdinaryRequest } from '../../passive/judged-exchange.ts';
import { requirementOn } from '../../passive/response-parts.ts';
import { jsonOf, withJson } from '../alter.ts';
import type { ProxiedRequest, ProxiedResponse } from '../defect.ts';

const UNAUTHORIZED = 401;

/**
 * The level of the requirement that an alteration violates. `nothing`: the altered response is
 * conforming, so no case may fail because of it.
 */
export type ViolatedLevel = 'must' | 'should' | 'nothing';

/** A change of one place in the responses of an operation, which a suite should kill. */
export interface Alteration {
  /** The kind of alteration, such as `member-missing`. */
  readonly kind: string;
  /** The effect, phrased to follow "The operation get-artifact answers". */
  readonly says: string;
  readonly violatedLevel: ViolatedLevel;
  /** The requirement that covers the altered place, whether the alteration violates it or not. */
  readonly about: RequirementId;
  /** Returns the altered response, or `response` itself if it does not have the place. */
  readonly change: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse;
}

/** The entry of a list or the member of a map that is altered, if there are several. */
export type AlteredPosition = 'first' | 'last' | 'every';

/** Changes the object that holds a member, by the member's name. */
type ChangeOwner = (
  owner: Readonly<Record<string, unknown>>,
  name: string,
) => Readonly<Record<string, unknown>>;

/**
 * Returns the value with the member at a path changed. A `*` in the path is the picked entry of a
 * list or member of a map. Returns the value unchanged if the path does not exist.
 */
export function alteredAt(
  value: unknown,
  [step = '', ...innerSteps]: readonly string[],
  pick: AlteredPosition,
  change: ChangeOwner,
): unknown {
  if (Array.isArray(value)) {
    if (step !== '*') return value;
    const at = pickKeys([...value.keys()], pick);
    return value.map((each, index) =>
      at.includes(index) ? alteredAt(each, innerSteps, pick, change) : each,
    );
  }
  if (!isObject(value)) return value;
  const names = step === '*' ? pickKeys(Object.keys(value), pick) : [step];
  let owner = value;
  for (const name of names.filter((each) => Object.hasOwn(value, each))) {
    const inner = (): unknown => alteredAt(owner[name], innerSteps, pick, change);
    owner =
      innerSteps.length === 0
        ? change(owner, name)
        : Object.assign({ ...owner }, { [name]: inner() });
  }
  return owner;
}

function pickKeys<Key>(keys: readonly Key[], pick: AlteredPosition): readonly Key[] {
  if (pick === 'every') return keys;
  return pick === 'first' ? keys.slice(0, 1) : keys.slice(-1);
}

/** Changes the JSON of responses with one status; returns a response itself if nothing changes. */
export function jsonOfStatus(
  status: number,
  change: (body: unknown, request: ProxiedRequest) => unknown,
): Alteration['change'] {
  return (response, request) => {
    if (response.status !== status) return response;
    const body = jsonOf(response);
    if (body === undefined) return response;
    const changedBody = change(body, request);
    return JSON.stringify(changedBody) === JSON.stringify(body)
      ? response
      : withJson(response, changedBody);
  };
}

/** Changes responses with one status. */
export function ofStatus(
  status: number,
  change: (response: ProxiedResponse) => ProxiedResponse,
): Alteration['change'] {
  return (response) => (response.status === status ? change(response) : response);
}

/**
 * Changes refusals with one status, but only those of ordinary requests. A gateway may refuse other
 * requests, so the contract's rules do not apply to such refusals.
 */
export function refusalsOf(
  row: Operation,
  status: number,
  change: Alteration['change'],
): Alteration['change'] {
  return (response, request) => {
    if (response.status !== status) return response;
    const isJudged = status === UNAUTHORIZED || isOrdinary(row, request);
    return isJudged ? change(response, request) : response;
  };
}

function isOrdinary(row: Operation, request: ProxiedRequest): boolean {
  const { path, query, headers, body } = request;
  const url = `http://target${path}${query === '' ? '' : `?${query}`}`;
  return isOrdinaryRequest({ url, headers, bodyBytes: body.length, isChunked: false }, row);
}

/** Returns the requirement that covers a part of the operation's successful responses. */
export function aboutPart(id: OperationId, ...steps: readonly string[]): RequirementId {
  return requirementOn(id, steps);
}

/** Returns the object without the member. */
export const withoutMember: ChangeOwner = (owner, name) => {
  const { [name]: _, ...rest } = owner;
  return rest;
};
