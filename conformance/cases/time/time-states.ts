/**
 * Cases: days change nothing that a user decided, a device reported or a server stored.
 * Spec: States and transitions; Device deployments v1, v2; Device configuration; Device inventory
 */
import { expectNoOffer } from '../../context/expect-no-offer.ts';
import { requireAuthorized, requireToken } from '../../context/granted.ts';
import {
  abortedDeployment,
  acceptedDevice,
  activeDeployment,
  factoryProvides,
  instructedId,
  type OfferedDeployment,
  pendingDeployment,
  pendingDevice,
  preauthorizedDevice,
  requireResponse,
  requireStatus,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  bodyIncludes,
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectPresent,
  expectStatus,
  expectThat,
} from '../../target/expectations.ts';

/** Longer than a day, a week, a month and the lifetime of tokens and links. */
const DAYS_SECONDS = 40 * 86_400;

const start = { area: 'time', effect: 'write', needs: ['user', 'clock-control'] } as const;

/** Waits forty days, after which the device needs a new token. */
async function waitDays(device: SuiteDevice, context: TestContext): Promise<void> {
  await context.control.advance(DAYS_SECONDS);
  device.token = requireToken(await device.authenticate()).text;
}

const poll = async (device: SuiteDevice) =>
  requireAuthorized(await device.call('get-next-deployment', { query: factoryProvides }));
const report = ({ device, id }: OfferedDeployment, status: string) =>
  device.call('put-deployment-status', { path: { id }, body: { status } });

async function uploadLog({ device, id }: OfferedDeployment, message: string) {
  const body = { messages: [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message }] };
  return requireAuthorized(await device.call('put-deployment-log', { path: { id }, body }));
}

const lateDecisionCases = defineScenario({
  ...start,
  name: 'A decision that comes after forty days',
  start: 'a device that waits for a decision, on a clock that the suite moves',
  arrange: pendingDevice,
  cases: [
    {
      id: 'pending-device-waits-for-days',
      title:
        'A device that waits for forty days is the same device, and is granted a token once accepted.',
      requirements: ['auth.first-contact-is-recorded', 'auth.accepted-gets-token'],
      run: async (device, context) => {
        await context.control.advance(DAYS_SECONDS);
        await device.authenticate();
        const shownDevice = await context.admin.findDevice(device.identity);
        const recordedDevice = expectPresent('a device of this identity', shownDevice);
        expectEqual('the ID of the device', recordedDevice.id, device.id);
        await context.admin.decide(device.id, device.key, 'accepted');
        const response = await context.eventually(
          () => device.authenticate(),
          ({ status }) => status === 200,
        );
        expectStatus(response, 200);
      },
    },
    {
      id: 'rejection-lasts-for-days',
      title: 'A device is refused forty days after its rejection, too.',
      requirements: ['auth.rejected-is-refused'],
      run: async (device, context) => {
        await context.admin.decide(device.id, device.key, 'rejected');
        await context.control.advance(DAYS_SECONDS);
        expectStatus(await device.authenticate(), 401, 403);
      },
    },
  ],
});

const preauthorized = defineScenario({
  ...start,
  name: 'A first request that comes after forty days',
  start: 'a pre-authorized device, on a clock that the suite moves',
  arrange: (context) => preauthorizedDevice(context),
  cases: [
    {
      id: 'pre-authorization-lasts-for-days',
      title:
        'A device that sends its first request forty days after its pre-authorization gets a token.',
      requirements: ['auth.preauthorized-gets-token'],
      run: async (device, context) => {
        await context.control.advance(DAYS_SECONDS);
        expectStatus(await device.authenticate(), 200);
      },
    },
  ],
});

const lateFirstPollCases = defineScenario({
  ...start,
  name: 'A first poll that comes after forty days',
  start: 'an accepted device with a pending deployment, on a clock that the suite moves',
  arrange: pendingDeployment,
  cases: [
    {
      id: 'pending-deployment-waits-for-days',
      title: 'A deployment is offered to a device that asks for the first time after forty days.',
      requirements: ['next.get-pending-is-200'],
      run: async ({ device }, context) => {
        await waitDays(device, context);
        expectStatus(await poll(device), 200);
      },
    },
  ],
});

const slowUpdateCases = defineScenario({
  ...start,
  name: 'An update that takes forty days',
  start: 'a device that has been offered a deployment, on a clock that the suite moves',
  arrange: activeDeployment,
  cases: [
    {
      id: 'update-may-take-days',
      title:
        'A deployment is offered again after forty days, and accepts the reports of the device.',
      requirements: [
        'next.repeatable',
        'status.each-value-is-accepted',
        'status.becomes-the-state',
      ],
      run: async (arranged, context) => {
        const { device, id } = arranged;
        requireStatus('a report', await report(arranged, 'installing'), 204);
        await waitDays(device, context);
        const secondOffer = await poll(device);
        expectStatus(secondOffer, 200);
        expectEqual('the ID of the deployment', instructedId(secondOffer), id);
        expectStatus(await report(arranged, 'success'), 204);
      },
    },
    {
      id: 'finished-deployment-stays-over-for-days',
      title: 'A deployment that ended with success is not offered again after forty days.',
      requirements: ['next.finished-is-over'],
      run: async (arranged, context) => {
        requireStatus('a report', await report(arranged, 'success'), 204);
        await waitDays(arranged.device, context);
        expectNoOffer(await poll(arranged.device));
      },
    },
    {
      id: 'logs-last-for-days',
      title: 'Users read a log of forty days ago, and the device may still replace it by another.',
      requirements: ['log.is-kept', 'log.after-failure'],
      run: async (arranged, context) => {
        requireResponse('put-deployment-log', await uploadLog(arranged, 'first log'), 204);
        requireStatus('a report', await report(arranged, 'failure'), 204);
        await waitDays(arranged.device, context);
        const { deploymentId, device } = arranged;
        const log = (await context.admin.deploymentLog(deploymentId, device.id)) ?? 'no log';
        if (!log.includes('first log')) {
          throw new ExpectationFailure('the first log', describeValue(log), ['log.is-kept']);
        }
        const { status } = await uploadLog(arranged, 'second log');
        if (status === 204) return;
        throw new ExpectationFailure('status 204', `status ${status}`, ['log.after-failure']);
      },
    },
  ],
});

const aborted = defineScenario({
  ...start,
  name: 'A report that comes forty days after the abort',
  start: 'a device whose deployment a user has aborted, on a clock that the suite moves',
  arrange: abortedDeployment,
  cases: [
    {
      id: 'abort-lasts-for-days',
      title:
        'A deployment is not offered forty days after its abort, and its report is answered with 409.',
      requirements: ['status.aborted-is-409', 'next.aborted-is-over'],
      run: async (arranged, context) => {
        await waitDays(arranged.device, context);
        expectNoOffer(await poll(arranged.device));
        expectStatus(await report(arranged, 'success'), 409);
      },
    },
  ],
});

const storedDataCases = defineScenario({
  ...start,
  name: 'What a device sent forty days ago',
  start: 'an accepted device, on a clock that the suite moves',
  arrange: acceptedDevice,
  cases: [
    {
      id: 'configuration-lasts-for-days',
      title: 'A device reads the configuration that it wrote forty days ago.',
      requirements: ['configuration.written-is-read'],
      needs: ['configuration', 'configuration-read-back'],
      run: async (device, context) => {
        const body = { timezone: 'UTC' };
        requireStatus('a write', await device.call('put-configuration', { body }), 204);
        await waitDays(device, context);
        const response = requireAuthorized(await device.call('get-configuration'));
        expectStatus(response, 200);
        expectThat(bodyIncludes(response, '"timezone"'), 'what was written', response.text);
      },
    },
    {
      id: 'inventory-lasts-for-days',
      title: 'Users see the attributes that a device sent forty days ago.',
      requirements: ['inventory.put-assigns'],
      run: async (device, context) => {
        const body = [{ name: 'os', value: 'linux' }];
        requireStatus('a write', await device.call('put-attributes', { body }), 200);
        await waitDays(device, context);
        const shownAttributes = await context.eventually(
          () => context.admin.attributes(device.id),
          (attributes) => attributes.some(({ name }) => name === 'os'),
        );
        expectThat(
          shownAttributes.some(({ name }) => name === 'os'),
          'the attribute "os"',
          'it is not there',
        );
      },
    },
  ],
});

/**
 * Spec: States and transitions; Device deployments v1, v2; Device configuration; Device inventory
 */
export const timeStateCases = [
  ...lateDecisionCases,
  ...preauthorized,
  ...lateFirstPollCases,
  ...slowUpdateCases,
  ...aborted,
  ...storedDataCases,
];
