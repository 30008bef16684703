/**
 * Cases: what authentication requests leave behind. A refused one records nothing, and none changes
 * a decision of a user. Spec: States and transitions; Device authentication
 */
import { requireRefusal } from '../../context/granted.ts';
import {
  acceptedDevice,
  pendingDevice,
  preauthorizedDevice,
  requireResponse,
  unknownDevice,
} from '../../context/start-states.ts';
import type { AuthenticationChanges, SuiteDevice } from '../../context/suite-device.ts';
import type { ManagedDevice } from '../../context/target-admin.ts';
import type { TestContext } from '../../context/test-context.ts';
import { authenticateByNewKey, expectTokenWorks } from '../../context/token-use.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEach,
  expectEqual,
  expectPresent,
  expectStatus,
  expectThat,
  NotObservable,
  responseSummary,
  sorted,
} from '../../target/expectations.ts';

const toFirstContact = {
  operation: 'post-auth-request',
  requirement: 'auth.first-contact-is-401',
} as const;

const REQUESTS_AT_ONCE = 8;
/** The statuses that refuse a device; other cases judge which one is right. */
const refusals = [401, 403] as const;

/** Requests that are refused for their form or their signature, by a description. */
async function refusedRequests(
  device: SuiteDevice,
  context: TestContext,
): Promise<Readonly<Record<string, AuthenticationChanges>>> {
  const otherKey = await context.newKey();
  const { publicKeyPem: pubkey } = otherKey;
  const text = device.authRequest();
  return {
    'a signature by another key': { signedBy: otherKey },
    'a signature over another text': { text, signedText: `${text} ` },
    'a signature that is none': { signature: 'AAAA' },
    'no signature': { signature: null },
    'another key, signed by the own one': { members: { pubkey } },
    'another key without a signature': { members: { pubkey }, signature: null },
    'no key': { members: { pubkey: undefined } },
    'a word as key': { members: { pubkey: 'a key' } },
    'a number as tenant_token': { members: { tenant_token: 7 } },
    'a list as external_id': { members: { external_id: [] } },
  };
}

/** Sends each of the refused requests; throws NotObservable when one is not refused. */
async function sendRefused(device: SuiteDevice, context: TestContext): Promise<void> {
  for (const [what, changes] of Object.entries(await refusedRequests(device, context))) {
    const response = await device.authenticate(changes);
    // Other cases judge that these requests are refused.
    if (response.status < 400) throw new NotObservable(`${what}: ${responseSummary(response)}`);
  }
}

/** Returns the statuses of a device and of each of its keys, in a canonical order. */
function decisionsOf({ status, auth_sets }: ManagedDevice): unknown {
  return { status, keys: sorted(auth_sets.map((set) => [set.pubkey.trim(), set.status])) };
}

async function decisions(device: SuiteDevice, context: TestContext): Promise<unknown> {
  return decisionsOf(expectPresent('the device', await context.admin.device(device.id)));
}

const contacts = defineScenario<SuiteDevice>({
  area: 'authentication',
  name: 'Effects of first contacts',
  start: 'a device that the target has never seen',
  effect: 'write',
  needs: ['user'],
  arrange: unknownDevice,
  cases: [
    {
      id: 'refused-request-records-no-device',
      title: 'A first request that is refused for its form or its signature records no device.',
      requirements: ['auth.refused-changes-nothing'],
      run: async (device, context) => {
        await sendRefused(device, context);
        // A device that was recorded later shows that the effect of earlier requests is visible.
        const witness = await context.newDevice();
        await witness.authenticate();
        const shownDevice = await context.eventually(
          () => context.admin.findDevice(witness.identity),
          (matchingDevice) => matchingDevice !== undefined,
        );
        if (!shownDevice)
          throw new NotObservable('users do not see a device after its first request');
        const matchingDevice = await context.admin.findDevice(device.identity);
        expectThat(matchingDevice === undefined, 'no device', describeValue(matchingDevice));
      },
    },
    {
      id: 'refused-requests-leave-no-key',
      title: 'After refused requests, a first contact records its own key and no other.',
      requirements: ['auth.refused-changes-nothing', 'auth.one-identity-one-device'],
      run: async (device, context) => {
        await sendRefused(device, context);
        await device.authenticate();
        const matchingDevice = await context.eventually(
          () => context.admin.findDevice(device.identity),
          (each) => each !== undefined,
        );
        const keys = [[device.key.publicKeyPem.trim(), 'pending']];
        const decisions = decisionsOf(expectPresent('the device', matchingDevice));
        expectEqual('recorded', decisions, { status: 'pending', keys });
      },
    },
    {
      id: 'keys-of-one-identity-at-once',
      title: 'First contacts of one identity with different keys at once record one device.',
      requirements: ['auth.one-identity-one-device'],
      run: async (device, context) => {
        const requests = Array.from({ length: REQUESTS_AT_ONCE }, () =>
          authenticateByNewKey(device, context),
        );
        for (const response of await Promise.all(requests))
          requireRefusal(toFirstContact, response);
        const matchingDevice = await context.eventually(
          () => context.admin.findDevice(device.identity),
          (each) => each?.auth_sets.length === REQUESTS_AT_ONCE,
        );
        const statuses = expectPresent('the device', matchingDevice).auth_sets.map(
          ({ status }) => status,
        );
        const expectedStatuses = Array.from({ length: REQUESTS_AT_ONCE }, () => 'pending');
        expectEqual('statuses of the keys', statuses, expectedStatuses);
      },
    },
  ],
});

/** Authenticates a device whose decision is known. Other cases judge the response. */
async function requireDecided(device: SuiteDevice, responses: readonly number[]): Promise<void> {
  const response = await device.authenticate();
  if (!responses.includes(response.status)) throw new NotObservable(responseSummary(response));
}

/** A state of a device, which authentication requests must not change. */
interface DecidedState {
  readonly id: string;
  readonly start: string;
  readonly arrange: (context: TestContext) => Promise<SuiteDevice>;
  /** The statuses of the response when the device authenticates again. */
  readonly responses: readonly number[];
}

async function rejectedDevice(context: TestContext): Promise<SuiteDevice> {
  const device = await acceptedDevice(context);
  await context.admin.decide(device.id, device.key, 'rejected');
  return device;
}

const decidedStates: readonly DecidedState[] = [
  { id: 'pending', start: 'a pending device', arrange: pendingDevice, responses: refusals },
  {
    id: 'accepted',
    start: 'an accepted device that holds a token',
    arrange: (context) => acceptedDevice(context),
    responses: [200],
  },
  {
    id: 'rejected',
    start: 'a device that a user has rejected',
    arrange: rejectedDevice,
    responses: refusals,
  },
];

const decidedDeviceCases = decidedStates.flatMap(({ id, start, arrange, responses }) =>
  defineScenario<SuiteDevice>({
    area: 'authentication',
    name: `Effects on the ${id} device`,
    start,
    effect: 'write',
    needs: ['user'],
    arrange,
    cases: [
      {
        id: `refused-requests-keep-the-${id}-device`,
        title: `Requests that are refused for form or signature change nothing about the ${id} device.`,
        requirements: ['auth.refused-changes-nothing'],
        run: async (device, context) => {
          await requireDecided(device, responses);
          const earlierDecisions = await decisions(device, context);
          await sendRefused(device, context);
          expectEqual('decisions', await decisions(device, context), earlierDecisions);
          expectStatus(await device.authenticate(), ...responses);
          if (device.token !== '' && id === 'accepted') {
            await expectTokenWorks(context, device.token);
          }
        },
      },
      {
        id: `requests-keep-the-${id}-device`,
        title: `The ${id} device stays as decided when it authenticates again, with its own key or another.`,
        requirements: ['auth.decision-stays'],
        run: async (device, context) => {
          const earlierDecisions = await decisions(device, context);
          await requireDecided(device, responses);
          expectEqual('decisions', await decisions(device, context), earlierDecisions);
          const otherResponse = await authenticateByNewKey(device, context);
          // Another case judges the response to the other key.
          if (otherResponse.status < 400) throw new NotObservable(responseSummary(otherResponse));
          const ownSet = (await context.admin.device(device.id))?.auth_sets.find(
            ({ pubkey }) => pubkey.trim() === device.key.publicKeyPem.trim(),
          );
          expectEqual('the own key', ownSet?.status, id);
          expectStatus(await device.authenticate(), ...responses);
          if (id === 'accepted') await expectTokenWorks(context, device.token);
        },
      },
    ],
  }),
);

/** Each decision follows each other one; `pending` takes a decision back. */
const decisionsInTurn = [
  ...(['rejected', 'accepted', 'pending', 'accepted', 'rejected', 'pending'] as const),
  ...(['rejected', 'accepted'] as const),
];

const decisionRequirements = {
  accepted: 'auth.accepted-gets-token',
  rejected: 'auth.rejected-is-refused',
  pending: 'auth.undecided-is-401',
} as const;

const changedKeyCases = defineScenario<SuiteDevice>({
  area: 'authentication',
  name: 'Decisions that follow one another',
  start: 'a device that a user has pre-authorized',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => preauthorizedDevice(context),
  cases: [
    {
      id: 'other-requests-keep-a-pre-authorization',
      title: 'Refused requests, and one with another key, do not use up a pre-authorization.',
      requirements: ['auth.decision-stays', 'auth.refused-changes-nothing'],
      run: async (device, context) => {
        await sendRefused(device, context);
        const otherResponse = await authenticateByNewKey(device, context);
        // Another case judges the response to the other key.
        if (otherResponse.status < 400) throw new NotObservable(responseSummary(otherResponse));
        expectStatus(await device.authenticate(), 200);
      },
    },
    {
      id: 'each-decision-is-reflected',
      title:
        'Each of several decisions of a user about a key decides the next request by that key.',
      requirements: [
        'auth.accepted-gets-token',
        'auth.rejected-is-refused',
        'auth.undecided-is-401',
      ],
      run: async (device, context) => {
        requireResponse('post-auth-request', await device.authenticate(), 200);
        for (const decision of decisionsInTurn) {
          await context.admin.decide(device.id, device.key, decision);
          const isAccepted = decision === 'accepted';
          const statuses: readonly number[] = isAccepted ? [200] : [400, ...refusals];
          const response = await context.eventually(
            () => device.authenticate(),
            ({ status }) => statuses.includes(status),
          );
          if (!statuses.includes(response.status)) {
            throw new ExpectationFailure(
              `${decision}: ${statuses.join()}`,
              responseSummary(response),
              [decisionRequirements[decision]],
            );
          }
          if (isAccepted) await expectTokenWorks(context, response.text);
        }
      },
    },
    {
      id: 'accepted-second-key-gets-a-token',
      title: 'Once a user has accepted another key of an accepted device, it is granted a token.',
      requirements: ['auth.accepted-gets-token'],
      run: async (device, context) => {
        requireResponse('post-auth-request', await device.authenticate(), 200);
        const signedBy = await context.newKey();
        const changes = { members: { pubkey: signedBy.publicKeyPem }, signedBy };
        const firstResponse = await device.authenticate(changes);
        if (firstResponse.status < 400) throw new NotObservable(responseSummary(firstResponse));
        await context.admin.decide(device.id, signedBy, 'accepted');
        const response = await context.eventually(
          () => device.authenticate(changes),
          ({ status }) => status === 200,
        );
        expectStatus(response, 200);
        await expectTokenWorks(context, response.text);
      },
    },
  ],
});

type Identity = SuiteDevice['identity'];

/** Members of every kind; with the note, an identity is longer than a short database column. */
const membersOfEveryKind = {
  mac: ['02:00:00:00:00:01', '02:00:00:00:00:02'],
  place: { rack: 'a', slot: null },
  spare: true,
  unit: '7',
  owner: null,
  label: '',
  note: `${'x'.repeat(600)}1`,
} as const;

function withSerial(change: (serial: string) => string): (identity: Identity) => Identity {
  return (identity) => ({ ...identity, serial: change(identity.serial) });
}

function withMembers(members: Readonly<Record<string, unknown>>) {
  return (identity: Identity): Identity => ({ ...identity, ...members });
}

function without(name: string): (identity: Identity) => Identity {
  return ({ [name]: _, serial, ...otherMembers }) => ({ ...otherMembers, serial });
}

/** Changes of an identity that a careless server does not notice. */
const almostEqual: Readonly<Record<string, (identity: Identity) => Identity>> = {
  'a prefix': withSerial((serial) => serial.slice(0, -1)),
  'an extension': withSerial((serial) => `${serial}1`),
  'a combining accent': withSerial((serial) => serial.replace('ä', 'a\u0308')),
  'a space at the end': withSerial((serial) => `${serial} `),
  'without an accent': withSerial((serial) => serial.replace('ä', 'a')),
  'another last character of a long string': withMembers({ note: `${'x'.repeat(600)}2` }),
  'another order of an array': withMembers({ mac: membersOfEveryKind.mac.toReversed() }),
  'another member of an object within': withMembers({ place: { rack: 'b', slot: null } }),
  'an object within that lacks null': withMembers({ place: { rack: 'a' } }),
  'a string for a boolean': withMembers({ spare: 'true' }),
  'a number for a string of digits': withMembers({ unit: 7 }),
  'a string for null': withMembers({ owner: 'null' }),
  'null for an empty string': withMembers({ label: null }),
  'no member for null': without('owner'),
  'no member for an empty string': without('label'),
};

const identities = defineScenario<SuiteDevice>({
  area: 'authentication',
  name: 'Identities that are almost equal',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => {
    const serial = `${context.random.bytes(4).toString('hex')}-Gerät-0012`;
    return acceptedDevice(context, 'ecdsa', { ...membersOfEveryKind, serial });
  },
  cases: [
    {
      id: 'almost-equal-identities-are-others',
      title:
        'An identity that differs in one letter, kind, order or empty member is that of another device.',
      requirements: ['auth.first-contact-is-401', 'auth.identity-is-the-content'],
      run: async (device, context) => {
        // The key is the accepted one, so only the identity can be the reason for the refusal.
        const pubkey = device.key.publicKeyPem;
        await expectEach(401, almostEqual, async (change) => {
          const otherDevice = await context.newDevice('ecdsa', change(device.identity));
          return otherDevice.authenticate({ members: { pubkey }, signedBy: device.key });
        });
      },
    },
  ],
});

/** Spec: States and transitions; Device authentication */
export const authenticationEffectCases = [
  ...contacts,
  ...decidedDeviceCases,
  ...changedKeyCases,
  ...identities,
];
