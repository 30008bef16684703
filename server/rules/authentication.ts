/**
 * Decides on a well-formed authentication request. Pure: facts in, decision out.
 * Spec: States and transitions, "Device identity (authentication) flow"
 */
import { limits } from '../../fixtures/contract/limits.ts';
import type { AuthSetStatus, DeviceStatus } from '../../fixtures/contract/vocabulary.ts';
import type { RefusalDetail } from './refusal-detail.ts';

/**
 * Facts about an authentication request. Identity and key are known only for a valid signature and
 * an active tenant.
 */
export type AuthFacts =
  | { readonly hasValidSignature: false; readonly detail?: RefusalDetail }
  | { readonly hasValidSignature: true; readonly tenant: 'unknown' | 'suspended' }
  | ({ readonly hasValidSignature: true; readonly tenant: 'active' } & KnownFacts);

/**
 * The tenant's stored facts about the identity and the key. Those that cost a query are functions,
 * because most requests are decided without them.
 */
interface KnownFacts {
  /** Status of the device with this identity; undefined for a new device. */
  readonly device: DeviceStatus | undefined;
  /** Status of the device's authentication set with this key; undefined for a new key. */
  readonly authSet: AuthSetStatus | undefined;
  /** Returns the number of keys that the device has used. */
  readonly countKeys: () => number;
  /** Returns true while the number of accepted devices is below its limit. */
  readonly mayBeAccepted: () => boolean;
  /** Returns true while the number of keys that were never accepted is below its limit. */
  readonly mayBeRecorded: () => boolean;
  /** True when the server accepts new keys by itself. */
  readonly autoAccept: boolean;
}

interface AuthOutcome {
  readonly status: 200 | 401 | 403 | 429;
  /**
   * The writes that precede the response: a new authentication set, an acceptance, or both. Absent
   * for none.
   */
  readonly effect?: 'record' | 'record-and-accept' | 'accept';
  /** The reason; in a refusal it is the error text for the device. */
  readonly reason: string;
  readonly detail?: RefusalDetail;
}

export interface AuthDecision extends AuthOutcome {
  /** True when the request's external ID is stored with the device. */
  readonly storesExternalId: boolean;
}

/** The remedy for a suspended tenant. */
export const activateTenant =
  'set the tenant to active: PUT /tenants/{id}/status with {"status": "active"} on the control listener';

const anAcceptedKey = 'an accepted key of this device';
const acceptedAutomatically =
  'device not authorized: the first request is always refused; send the request again: the server has accepted the device automatically';
const newDevice = {
  path: 'state',
  expected: anAcceptedKey,
  actual: 'a new device, which this request has recorded',
  requirement: 'auth.first-contact-is-401',
} as const;
const newKey = {
  path: 'state',
  expected: anAcceptedKey,
  actual: 'a new key of a known device, which this request has recorded',
  requirement: 'auth.new-key-waits',
} as const;

/** Every outcome, in the order of the decision. The first contact of a device is always refused. */
export const authOutcomes = {
  'wrong-signature': { status: 401, reason: 'signature verification failed' },
  'unknown-tenant': {
    status: 401,
    reason: 'the tenant_token is unknown; send the token of a tenant, or leave it out',
    detail: {
      path: 'body.tenant_token',
      expected: 'the token of a tenant of this server, or none',
      requirement: 'auth.refusal-says-why',
    },
  },
  'suspended-tenant': {
    status: 403,
    reason: "Account suspended: the tenant's devices cannot authenticate",
    detail: {
      path: 'state',
      expected: 'an active tenant',
      actual: 'a suspended tenant',
      requirement: 'auth.forbidden-is-403',
      remedy: activateTenant,
    },
  },
  'too-many-keys': {
    status: 401,
    reason:
      'device not authorized: the device has used too many keys; a user must decommission it first',
    detail: {
      path: 'state',
      expected: `at most ${limits.authSetsMax} keys of one identity`,
      actual: `a new key of a device that has used ${limits.authSetsMax} others`,
      requirement: 'auth.refusal-says-why',
    },
  },
  'new-device-accepted': {
    status: 401,
    effect: 'record-and-accept',
    reason: acceptedAutomatically,
    detail: newDevice,
  },
  'new-key-accepted': {
    status: 401,
    effect: 'record-and-accept',
    reason: acceptedAutomatically,
    detail: newKey,
  },
  'too-many-unaccepted': {
    status: 429,
    reason:
      'too many keys were never accepted; a user must accept or decommission some of their devices',
    detail: {
      path: 'state',
      expected: 'fewer keys that were never accepted than --unaccepted-keys-max of this server',
      actual: 'a new key beyond this maximum',
      remedy:
        'accept or decommission devices that are pending, or start the server with a larger --unaccepted-keys-max',
      requirement: 'errors.too-many-requests-is-429',
    },
  },
  'new-device': {
    status: 401,
    effect: 'record',
    reason:
      'device not authorized: the device is new; it is recorded as pending until a user accepts it',
    detail: newDevice,
  },
  'new-key': {
    status: 401,
    effect: 'record',
    reason:
      'device not authorized: the key is new for this device; it is recorded as pending until a user accepts it',
    detail: newKey,
  },
  'limit-reached': {
    status: 401,
    reason:
      'device not authorized: the device was preauthorized, but the maximum number of accepted devices is reached; a user must decommission or reject one first',
    detail: {
      path: 'state',
      expected: 'fewer accepted devices than the limit allows',
      actual: 'as many accepted devices as the limit allows',
      requirement: 'auth.refusal-says-why',
    },
  },
  pending: {
    status: 401,
    reason: 'device not authorized: the device is pending; a user must accept it',
    detail: {
      path: 'state',
      expected: anAcceptedKey,
      actual: 'a pending key: no user has accepted it yet',
      requirement: 'auth.undecided-is-401',
    },
  },
  rejected: {
    status: 401,
    reason: 'device not authorized: the device has been rejected',
    detail: {
      path: 'state',
      expected: anAcceptedKey,
      actual: 'a rejected key',
      requirement: 'auth.rejected-is-refused',
    },
  },
  preauthorized: { status: 200, effect: 'accept', reason: 'the device was preauthorized' },
  accepted: { status: 200, reason: 'the device is accepted' },
} as const satisfies Record<string, AuthOutcome>;

export type AuthOutcomeName = keyof typeof authOutcomes;

/** Decides on an authentication request. Calls only the functions that the decision needs. */
export function decideAuthRequest(facts: AuthFacts): AuthDecision {
  const outcome: AuthOutcome = authOutcomes[outcomeOf(facts)];
  // The detail of a wrong signature is about the request, and holds evidence for the explanation.
  const detail = facts.hasValidSignature ? outcome.detail : facts.detail;
  return {
    ...outcome,
    ...(detail !== undefined && { detail }),
    storesExternalId: isExternalIdStored(facts, outcome),
  };
}

function outcomeOf(facts: AuthFacts): AuthOutcomeName {
  if (!facts.hasValidSignature) return 'wrong-signature';
  if (facts.tenant !== 'active') return `${facts.tenant}-tenant`;
  const { authSet } = facts;
  if (authSet === undefined) return outcomeOfNewKey(facts);
  return authSet === 'preauthorized' && !facts.mayBeAccepted() ? 'limit-reached' : authSet;
}

function outcomeOfNewKey(facts: KnownFacts): AuthOutcomeName {
  const outcome = facts.device === undefined ? 'new-device' : 'new-key';
  if (outcome === 'new-key' && facts.countKeys() >= limits.authSetsMax) return 'too-many-keys';
  if (facts.autoAccept && facts.mayBeAccepted()) return `${outcome}-accepted`;
  return facts.mayBeRecorded() ? outcome : 'too-many-unaccepted';
}

/** A key that was never accepted must not change the external ID of a working device. */
function isExternalIdStored(facts: AuthFacts, { status, effect }: AuthOutcome): boolean {
  if (!facts.hasValidSignature || facts.tenant !== 'active') return false;
  const isRecorded = facts.authSet !== undefined || effect !== undefined;
  return isRecorded && (status === 200 || facts.device !== 'accepted');
}
