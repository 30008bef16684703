/**
 * Tracks the decisions of users on the keys of a case's devices: no key is granted a token before a
 * user accepts it, nor after its rejection. Spec: States and transitions
 */
import { isObject, jsonInOrder, parsedJson } from '../../../fixtures/base/json.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { locationOf } from './known-devices.ts';
import { type Span, TrackedValue, withUnknownEnd } from './tracked-value.ts';
import type { TrackedViolation, Tracker } from './tracker.ts';

/** How a user has decided on a key. */
const decisions = ['none', 'accepted', 'rejected', 'decommissioned'] as const;
type Decision = (typeof decisions)[number];

/** The operations by which a user decides on keys that are known. */
const decidingOperations = ['set-auth-set-status', 'delete-auth-set', 'decommission-device'];

/** A key that a device has used or a user has named, with the decision on it. */
interface TrackedKey {
  readonly decision: TrackedValue<Decision>;
  /** True once a request with the key was refused. */
  isRefused: boolean;
}

/** The keys of one identity, by their PEM without white space. */
type Keys = Map<string, TrackedKey>;

/** Before the first request of a case its devices are unknown, since the suite invents them. */
const startOfTime: Span = { sentMs: 0, endedMs: 0 };

/** Tracks the keys of one case. Every user of the target must act by the management API. */
export class AuthenticationTracker implements Tracker {
  readonly #keys = new Map<string, Keys>();
  readonly #identities = new Map<string, string>();
  readonly #keyOfAuthSet = new Map<string, TrackedKey>();

  judge(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { operation, isSuccess, responseJson, status, request } = exchange;
    switch (operation.id) {
      case 'post-auth-request':
        return this.#judgeRequest(exchange);
      case 'preauthorize-device':
        this.#recordPreauthorization(exchange);
        break;
      case 'get-device':
        this.#recordDevice(responseJson);
        break;
      case 'list-devices':
      case 'search-devices':
        for (const each of entriesOf(responseJson)) this.#recordDevice(each);
    }
    if (decidingOperations.includes(operation.id) && isSuccess)
      this.#recordDecision(exchange, request);
    else if (status >= 500) this.recordNoResponse(exchange);
    return [];
  }

  recordNoResponse(exchange: JudgedExchange): void {
    const { operation, request } = exchange;
    if (operation.id === 'preauthorize-device') {
      this.#recordPreauthorization(exchange, withUnknownEnd(request));
    } else if (decidingOperations.includes(operation.id)) {
      this.#setUndetermined(exchange.pathParameter('id'), withUnknownEnd(request));
    }
  }

  #judgeRequest({ status, requestJson, request }: JudgedExchange): readonly TrackedViolation[] {
    const { id_data: text, pubkey } = membersOf(requestJson);
    const identity = typeof text === 'string' ? parsedJson(text) : undefined;
    if (!isObject(identity) || typeof pubkey !== 'string') return [];
    const keys = this.#keysOf(jsonInOrder(identity));
    const key = keyIn(keys, pubkey);
    const violation = status === 200 ? findWrongGrant(keys, key, request) : undefined;
    key.isRefused ||= status === 401;
    return violation === undefined ? [] : [violation];
  }

  /** @param span when it may have happened, of a request without a response */
  #recordPreauthorization(exchange: JudgedExchange, span?: Span): void {
    const { identity_data: identity, pubkey } = membersOf(exchange.requestJson);
    if (!isObject(identity) || typeof pubkey !== 'string') return;
    const name = jsonInOrder(identity);
    const { decision } = keyIn(this.#keysOf(name), pubkey);
    if (span !== undefined) decision.mayWrite('accepted', span);
    else if (exchange.isSuccess) decision.write('accepted', exchange.request);
    const id = locationOf(exchange);
    if (id !== undefined) this.#identities.set(id, name);
  }

  #recordDevice(device: unknown): void {
    const { id, identity_data: identity, auth_sets: sets } = membersOf(device);
    if (typeof id !== 'string' || !isObject(identity)) return;
    const name = jsonInOrder(identity);
    this.#identities.set(id, name);
    const keys = this.#keysOf(name);
    for (const each of entriesOf(sets)) {
      const { id: authSet, pubkey } = membersOf(each);
      if (typeof authSet !== 'string' || typeof pubkey !== 'string') continue;
      this.#keyOfAuthSet.set(authSet, keyIn(keys, pubkey));
    }
  }

  #recordDecision(exchange: JudgedExchange, span: Span): void {
    const { operation, requestJson } = exchange;
    if (operation.id === 'decommission-device') {
      for (const { decision } of this.#keysOfDevice(exchange.pathParameter('id'))) {
        decision.write('decommissioned', span);
      }
      return;
    }
    const isDeleted = operation.id === 'delete-auth-set';
    const key = this.#keyOfAuthSet.get(exchange.pathParameter('aid'));
    const { status } = membersOf(requestJson);
    if (key === undefined || status === 'accepted') {
      // A server may show a key in another form, and may keep one accepted key for a device.
      this.#setUndetermined(exchange.pathParameter('id'), span);
    }
    if (isDeleted) key?.decision.write('none', span);
    else
      key?.decision.write(
        decisions.find((each) => each === status),
        span,
      );
  }

  #setUndetermined(device: string, span: Span): void {
    for (const { decision } of this.#keysOfDevice(device)) decision.mayWrite(undefined, span);
  }

  #keysOf(identity: string): Keys {
    const keys = this.#keys.get(identity) ?? new Map();
    this.#keys.set(identity, keys);
    return keys;
  }

  #keysOfDevice(id: string): Iterable<TrackedKey> {
    return this.#keys.get(this.#identities.get(id) ?? '')?.values() ?? [];
  }
}

function keyIn(keys: Keys, pem: string): TrackedKey {
  const name = pem.replace(/\s+/g, '');
  const knownKey = keys.get(name);
  if (knownKey !== undefined) return knownKey;
  const key = { decision: new TrackedValue<Decision>(), isRefused: false };
  key.decision.write('none', startOfTime);
  keys.set(name, key);
  return key;
}

function findWrongGrant(keys: Keys, key: TrackedKey, span: Span): TrackedViolation | undefined {
  const possibleDecisions = key.decision.possibleAt(span) ?? ['accepted'];
  if (possibleDecisions.includes('accepted')) return undefined;
  const [decision = 'none'] = possibleDecisions;
  const expected = `be granted only to a key that a user has accepted; the last decision on it: ${decision}`;
  return {
    part: 'the token',
    expected,
    actual: '200',
    requirement: requirementOf(keys, key, decision),
  };
}

function requirementOf(keys: Keys, key: TrackedKey, decision: Decision): RequirementId {
  if (decision === 'rejected') return 'auth.rejected-is-refused';
  if (decision === 'decommissioned') return 'auth.decommissioned-is-unknown';
  if (keys.size > 1) return 'auth.new-key-waits';
  return key.isRefused ? 'auth.undecided-is-401' : 'auth.first-contact-is-401';
}
