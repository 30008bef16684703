import { describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { authSetStatuses } from '../../fixtures/contract/vocabulary.ts';
import {
  type AuthFacts,
  type AuthOutcomeName,
  authOutcomes,
  decideAuthRequest,
} from './authentication.ts';

type ActiveFacts = Extract<AuthFacts, { readonly tenant: 'active' }>;

/** The facts of a row, with results in place of functions, so that titles show them. */
type RowFacts =
  | Exclude<AuthFacts, ActiveFacts>
  | ({ readonly hasValidSignature: true; readonly tenant: 'active' } & Known);

type Known = Pick<ActiveFacts, 'device' | 'authSet' | 'autoAccept'> & {
  readonly keyCount: number;
  readonly mayBeAccepted: boolean;
  readonly mayBeRecorded: boolean;
};

/** The facts of a well-signed request of a new device, for which there is room. */
const newDevice: Known = {
  device: undefined,
  authSet: undefined,
  keyCount: 0,
  mayBeAccepted: true,
  mayBeRecorded: true,
  autoAccept: false,
};

function signed(known: Partial<Known>): RowFacts {
  return { hasValidSignature: true, tenant: 'active', ...newDevice, ...known };
}

function authFacts(facts: RowFacts): AuthFacts {
  if (!facts.hasValidSignature || facts.tenant !== 'active') return facts;
  const { keyCount, mayBeAccepted, mayBeRecorded, ...values } = facts;
  return {
    ...values,
    countKeys: () => keyCount,
    mayBeAccepted: () => mayBeAccepted,
    mayBeRecorded: () => mayBeRecorded,
  };
}

/**
 * Every outcome is written by hand: the facts, the status, the effect, and the external ID's use.
 */
const rows: readonly (readonly [AuthOutcomeName, RowFacts, number, string, boolean])[] = [
  ['wrong-signature', { hasValidSignature: false }, 401, 'nothing', false],
  ['unknown-tenant', { hasValidSignature: true, tenant: 'unknown' }, 401, 'nothing', false],
  ['suspended-tenant', { hasValidSignature: true, tenant: 'suspended' }, 403, 'nothing', false],
  ['new-device', signed({}), 401, 'record', true],
  ['new-device', signed({ mayBeAccepted: false }), 401, 'record', true],
  ['new-device', signed({ autoAccept: true, mayBeAccepted: false }), 401, 'record', true],
  ['new-device-accepted', signed({ autoAccept: true }), 401, 'record-and-accept', true],
  [
    'new-device-accepted',
    signed({ autoAccept: true, mayBeRecorded: false }),
    401,
    'record-and-accept',
    true,
  ],
  ['too-many-unaccepted', signed({ mayBeRecorded: false }), 429, 'nothing', false],
  [
    'too-many-unaccepted',
    signed({ autoAccept: true, mayBeAccepted: false, mayBeRecorded: false }),
    429,
    'nothing',
    false,
  ],
  ['new-key', signed({ device: 'pending', keyCount: 1 }), 401, 'record', true],
  ['new-key', signed({ device: 'rejected', keyCount: 99 }), 401, 'record', true],
  ['new-key', signed({ device: 'accepted', keyCount: 1 }), 401, 'record', false],
  [
    'new-key-accepted',
    signed({ device: 'pending', keyCount: 1, autoAccept: true }),
    401,
    'record-and-accept',
    true,
  ],
  [
    'new-key-accepted',
    signed({ device: 'accepted', keyCount: 1, autoAccept: true }),
    401,
    'record-and-accept',
    false,
  ],
  ['too-many-keys', signed({ device: 'accepted', keyCount: 100 }), 401, 'nothing', false],
  ['too-many-keys', signed({ device: 'pending', keyCount: 101 }), 401, 'nothing', false],
  [
    'too-many-keys',
    signed({ device: 'accepted', keyCount: 100, autoAccept: true }),
    401,
    'nothing',
    false,
  ],
  ['pending', signed({ device: 'pending', authSet: 'pending' }), 401, 'nothing', true],
  [
    'pending',
    signed({ device: 'accepted', authSet: 'pending', autoAccept: true }),
    401,
    'nothing',
    false,
  ],
  ['rejected', signed({ device: 'rejected', authSet: 'rejected' }), 401, 'nothing', true],
  ['rejected', signed({ device: 'accepted', authSet: 'rejected' }), 401, 'nothing', false],
  [
    'limit-reached',
    signed({ device: 'preauthorized', authSet: 'preauthorized', mayBeAccepted: false }),
    401,
    'nothing',
    true,
  ],
  [
    'preauthorized',
    signed({ device: 'preauthorized', authSet: 'preauthorized', mayBeRecorded: false }),
    200,
    'accept',
    true,
  ],
  [
    'accepted',
    signed({ device: 'accepted', authSet: 'accepted', mayBeAccepted: false, mayBeRecorded: false }),
    200,
    'nothing',
    true,
  ],
];

describe('the decision on an authentication request', () => {
  it.each(rows)('is %s for the facts %j', (name, facts, status, effect, external) => {
    const { storesExternalId, ...outcome } = decideAuthRequest(authFacts(facts));
    expect(outcome).toEqual(authOutcomes[name]);
    expect([outcome.status, outcome.effect ?? 'nothing']).toEqual([status, effect]);
    expect(storesExternalId).toBe(external);
  });

  it('has a row for every outcome, and every set status', () => {
    const names = new Set(rows.map(([name]) => name));
    expect([...names].toSorted()).toEqual(Object.keys(authOutcomes).toSorted());
    for (const status of authSetStatuses) expect(names).toContain(status);
  });

  it('has the statuses of the contract, and 429 when records are full', () => {
    const { success, refusals } = operations['post-auth-request'];
    // A 400 is decided earlier, because its input has the wrong form.
    const decided = [...Object.keys(success).map(Number), ...refusals, 429];
    const statuses = new Set(rows.map(([, , status]) => status));
    expect([...statuses, 400, 500].toSorted()).toEqual(decided.toSorted());
  });

  it('has its own sentence for each refusal, except one shared with automatic acceptance', () => {
    const sentences = Object.values(authOutcomes).map(({ reason }) => reason);
    expect(new Set(sentences).size).toBe(sentences.length - 1);
  });

  it('calls no function that it does not need', () => {
    const failOn = (name: string) => (): never => {
      throw new Error(`${name} was called`);
    };
    const { status } = decideAuthRequest({
      hasValidSignature: true,
      tenant: 'active',
      device: 'accepted',
      authSet: 'accepted',
      autoAccept: true,
      countKeys: failOn('countKeys'),
      mayBeAccepted: failOn('mayBeAccepted'),
      mayBeRecorded: failOn('mayBeRecorded'),
    });
    expect(status).toBe(200);
  });
});
