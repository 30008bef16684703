/** Cases: requests and decisions that meet at the target at once. Spec: States and transitions */

import type { Stage } from '../context/stage.ts';
import {
  acceptedDevice,
  factoryProvides,
  pendingDevice,
  unknownDevice,
} from '../context/start-states.ts';
import type { SuiteDevice } from '../context/suite-device.ts';
import { defineScenario } from '../suite/case.ts';
import {
  ExpectationFailure,
  expectEqual,
  expectPresent,
  expectStatus,
  expectThat,
  shownAnswer,
} from '../suite/expectations.ts';
import type { Answer } from '../target/target.ts';

/** First contacts of one identity at once. */
const CONTACTS = 50;
/** Requests that meet a decision. */
const REQUESTS = 10;

function atOnce(count: number, send: () => Promise<Answer>): Promise<readonly Answer[]> {
  return Promise.all(Array.from({ length: count }, send));
}

/** Holds when each of the answers has one of the statuses. */
function expectAll(answers: readonly Answer[], ...statuses: readonly number[]): void {
  for (const answer of answers) expectStatus(answer, ...statuses);
}

/** Removes the device that users see, and tells whether they still see one of its identity. */
async function isAlone(device: SuiteDevice, stage: Stage): Promise<boolean> {
  const find = () => stage.operator.findDevice(device.identity);
  const first = expectPresent('a device of this identity', await stage.settled(find, Boolean));
  await stage.operator.decommission(first.id);
  const left = await stage.settled(find, (found) => found?.id !== first.id);
  device.id = left?.id ?? '';
  return left === undefined;
}

const contacts = defineScenario({
  area: 'authentication-races',
  name: 'First contacts at once',
  start: 'a device that the target has never seen',
  risk: 'write',
  needs: ['operator'],
  arrange: unknownDevice,
  cases: [
    {
      id: 'fifty-first-contacts-are-401',
      title: 'Fifty first contacts of one identity at once are each answered 401.',
      requirements: ['auth.first-contact-is-401', 'auth.undecided-is-401'],
      run: async (device) => expectAll(await atOnce(CONTACTS, () => device.authenticate()), 401),
    },
    {
      id: 'fifty-first-contacts-make-one-set',
      title: 'Fifty first contacts of one identity and key at once make one pending set.',
      requirements: ['auth.one-identity-one-device'],
      run: async (device, stage) => {
        await atOnce(CONTACTS, () => device.authenticate());
        const find = () => stage.operator.findDevice(device.identity);
        const shown = expectPresent('a device', await stage.settled(find, Boolean));
        const statuses = shown.auth_sets.map(({ status }) => status);
        expectEqual('authentication sets', statuses, ['pending']);
      },
    },
    {
      id: 'fifty-first-contacts-make-one-device',
      title: 'Fifty first contacts of one identity at once make one device, and not a second.',
      requirements: ['auth.one-identity-one-device'],
      run: async (device, stage) => {
        await atOnce(CONTACTS, () => device.authenticate());
        expectThat(await isAlone(device, stage), 'one device of the identity', 'another one');
      },
    },
  ],
});

const decisions = defineScenario({
  area: 'authentication-races',
  name: 'A decision and requests at once',
  start: 'a device that waits for a decision',
  risk: 'write',
  needs: ['operator'],
  arrange: pendingDevice,
  cases: [
    {
      id: 'accept-meets-requests',
      title: 'Requests that meet their acceptance are 401 or 200; the next ones are granted.',
      requirements: ['auth.accepted-gets-token', 'auth.undecided-is-401'],
      run: async (device, stage) => {
        const asked = atOnce(REQUESTS, () => device.authenticate());
        await stage.operator.decide(device.id, device.key, 'accepted');
        expectAll(await asked, 200, 401);
        const ask = () => device.authenticate();
        expectStatus(await stage.settled(ask, ({ status }) => status === 200), 200);
      },
    },
    {
      id: 'accept-meets-decommission',
      title: 'Acceptance and decommission at once leave a device that is accepted, or none.',
      requirements: ['auth.decommissioned-is-unknown'],
      run: async (device, stage) => {
        const { operator } = stage;
        const decided = operator.decide(device.id, device.key, 'accepted');
        // Whichever comes second may be refused; what counts is what remains.
        const [, removal] = await Promise.allSettled([decided, operator.decommission(device.id)]);
        const left = await stage.settled(
          () => operator.device(device.id),
          (found) => found === undefined || removal.status === 'rejected',
        );
        // A request of a device that is gone makes another device, with an id of its own.
        device.id = left?.id ?? '';
        expectStatus(await device.authenticate(), left === undefined ? 401 : 200);
      },
    },
  ],
});

const ends = defineScenario({
  area: 'authentication-races',
  name: 'A decommission and requests at once',
  start: 'an accepted device with a token',
  risk: 'write',
  needs: ['operator'],
  arrange: (stage) => acceptedDevice(stage),
  cases: [
    {
      id: 'decommission-meets-requests',
      title: 'No token that is granted while the device is decommissioned opens anything later.',
      requirements: ['tokens.end-with-device'],
      run: async (device, stage) => {
        const asked = atOnce(REQUESTS, () => device.authenticate());
        await stage.operator.decommission(device.id);
        device.id = '';
        const tokens = (await asked).filter(({ status }) => status === 200).map(({ text }) => text);
        for (const token of new Set([device.token, ...tokens])) {
          const use = () =>
            stage.caller(token).call('get-next-deployment', { query: factoryProvides });
          const answer = await stage.settled(use, ({ status }) => status === 401);
          if (answer.status === 401) continue;
          throw new ExpectationFailure('401 for each token of the device', shownAnswer(answer));
        }
      },
    },
  ],
});

/** Spec: States and transitions */
export const authenticationRaceCases = [...contacts, ...decisions, ...ends];
