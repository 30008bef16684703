/**
 * Cases: requests and decisions that reach the target concurrently. Spec: States and transitions
 */
import {
  acceptedDevice,
  factoryProvides,
  pendingDevice,
  preauthorizedDevice,
  requireResponse,
  unknownDevice,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { authenticateByNewKey, expectTokenWorks } from '../../context/token-use.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  anySuccess,
  ExpectationFailure,
  expectEach,
  expectEqual,
  expectPresent,
  expectStatus,
  expectThat,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import { TransportFailure } from '../../target/transport-failure.ts';

/** Concurrent first contacts of one identity. */
const CONTACTS = 50;
/** Concurrent requests during a decision. */
const REQUESTS = 10;

function atOnce(
  count: number,
  send: () => Promise<HttpResponse>,
): Promise<readonly HttpResponse[]> {
  return Promise.all(Array.from({ length: count }, send));
}

/** Asserts that each response has one of the statuses. */
function expectAll(responses: readonly HttpResponse[], ...statuses: readonly number[]): void {
  for (const response of responses) expectStatus(response, ...statuses);
}

/** Removes the device; returns true if users then see no other device with its identity. */
async function isAlone(device: SuiteDevice, context: TestContext): Promise<boolean> {
  const find = () => context.admin.findDevice(device.identity);
  const firstDevice = expectPresent(
    'a device of this identity',
    await context.eventually(find, Boolean),
  );
  await context.admin.decommission(firstDevice.id);
  const remainingDevice = await context.eventually(
    find,
    (shownDevice) => shownDevice?.id !== firstDevice.id,
  );
  device.id = remainingDevice?.id ?? '';
  return remainingDevice === undefined;
}

const contacts = defineScenario({
  area: 'authentication-races',
  name: 'Concurrent first contacts',
  start: 'a device that the target has never seen',
  effect: 'write',
  needs: ['user'],
  arrange: unknownDevice,
  cases: [
    {
      id: 'fifty-first-contacts-are-401',
      title: 'Fifty concurrent first contacts of one identity are each answered with 401.',
      requirements: ['auth.first-contact-is-401', 'auth.undecided-is-401'],
      run: async (device) => expectAll(await atOnce(CONTACTS, () => device.authenticate()), 401),
    },
    {
      id: 'fifty-first-contacts-make-one-set',
      title:
        'Fifty concurrent first contacts of one identity and key create one pending authentication set.',
      requirements: ['auth.one-identity-one-device'],
      run: async (device, context) => {
        await atOnce(CONTACTS, () => device.authenticate());
        const find = () => context.admin.findDevice(device.identity);
        const shownDevice = expectPresent('a device', await context.eventually(find, Boolean));
        const statuses = shownDevice.auth_sets.map(({ status }) => status);
        expectEqual('authentication sets', statuses, ['pending']);
      },
    },
    {
      id: 'fifty-first-contacts-make-one-device',
      title: 'Fifty concurrent first contacts of one identity create one device.',
      requirements: ['auth.one-identity-one-device'],
      run: async (device, context) => {
        await atOnce(CONTACTS, () => device.authenticate());
        expectThat(await isAlone(device, context), 'one device of the identity', 'another one');
      },
    },
  ],
});

const decisions = defineScenario({
  area: 'authentication-races',
  name: 'A decision during requests',
  start: 'a device that waits for a decision',
  effect: 'write',
  needs: ['user'],
  arrange: pendingDevice,
  cases: [
    {
      id: 'accept-and-requests-at-once',
      title:
        'Requests during the acceptance are answered with 401 or 200, and later ones get a token.',
      requirements: ['auth.accepted-gets-token', 'auth.undecided-is-401'],
      run: async (device, context) => {
        const [responses] = await Promise.all([
          atOnce(REQUESTS, () => device.authenticate()),
          context.admin.decide(device.id, device.key, 'accepted'),
        ]);
        expectAll(responses, 200, 401);
        const authenticate = () => device.authenticate();
        expectStatus(await context.eventually(authenticate, ({ status }) => status === 200), 200);
      },
    },
    {
      id: 'accept-and-decommission-at-once',
      title: 'A concurrent acceptance and decommission leave an accepted device or no device.',
      requirements: ['auth.decommissioned-is-unknown'],
      run: async (device, context) => {
        const { admin } = context;
        const decision = admin.decide(device.id, device.key, 'accepted');
        // The request that arrives second may be refused, so only the resulting state is checked.
        const ends = await Promise.allSettled([decision, admin.decommission(device.id)]);
        const [, removal] = ends;
        const lostRequest = ends.find(
          (end) => 'reason' in end && end.reason instanceof TransportFailure,
        );
        if (lostRequest && 'reason' in lostRequest) throw lostRequest.reason;
        const remainingDevice = await context.eventually(
          () => admin.device(device.id),
          (shownDevice) => shownDevice === undefined || removal.status === 'rejected',
        );
        // An authentication request of a removed device creates a new device with another ID.
        device.id = remainingDevice?.id ?? '';
        expectStatus(await device.authenticate(), remainingDevice === undefined ? 401 : 200);
      },
    },
  ],
});

const ends = defineScenario({
  area: 'authentication-races',
  name: 'A decommission during requests',
  start: 'an accepted device with a token',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'decommission-and-requests-at-once',
      title: 'A token that is granted during a decommission gives no access afterwards.',
      requirements: ['tokens.end-with-device'],
      run: async (device, context) => {
        const [responses] = await Promise.all([
          atOnce(REQUESTS, () => device.authenticate()),
          context.admin.decommission(device.id),
        ]);
        device.id = '';
        const tokens = responses.filter(({ status }) => status === 200).map(({ text }) => text);
        for (const token of new Set([device.token, ...tokens])) {
          const use = () =>
            context.caller(token).call('get-next-deployment', { query: factoryProvides });
          const response = await context.eventually(use, ({ status }) => status === 401);
          if (response.status === 401) continue;
          throw new ExpectationFailure(
            '401 for each token of the device',
            responseSummary(response),
          );
        }
      },
    },
  ],
});

const ofOneDevice = defineScenario<SuiteDevice>({
  area: 'authentication-races',
  name: 'Requests of one device at once',
  start: 'a device that a user has pre-authorized',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => preauthorizedDevice(context),
  cases: [
    {
      id: 'requests-at-once-each-get-a-token',
      title: 'Requests of one device at once, its first and later ones, each get a valid token.',
      requirements: ['auth.preauthorized-gets-token', 'tokens.renewal'],
      run: async (device, context) => {
        // The first requests use the pre-authorization; the device is accepted when the second are
        // sent.
        for (const time of ['first', 'second']) {
          const responses = await atOnce(REQUESTS, () => device.authenticate());
          for (const response of responses) expectStatus(response, 200);
          const tokens = responses.map(({ text }, index) => [`${time} token ${index + 1}`, text]);
          await expectEach(anySuccess, Object.fromEntries(tokens), (token: string) =>
            context.caller(token).call('get-next-deployment', { query: factoryProvides }),
          );
        }
      },
    },
    {
      id: 'new-key-beside-the-own-one',
      title: 'A request with a new key, at once with one by the accepted key, does not affect it.',
      requirements: ['auth.decision-stays', 'auth.new-key-waits'],
      run: async (device, context) => {
        requireResponse('post-auth-request', await device.authenticate(), 200);
        const [ownResponse, otherResponse] = await Promise.all([
          device.authenticate(),
          authenticateByNewKey(device, context),
        ]);
        expectStatus(ownResponse, 200);
        expectStatus(otherResponse, 401);
        await expectTokenWorks(context, ownResponse.text);
        const sets = (await context.admin.device(device.id))?.auth_sets ?? [];
        const statuses = sets.map(({ status }) => status).sort();
        expectEqual('statuses of the keys', statuses, ['accepted', 'pending']);
      },
    },
  ],
});

export const authenticationRaceCases = [...contacts, ...decisions, ...ends, ...ofOneDevice];
