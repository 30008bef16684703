/** Cases: the token of one device used on resources of another. Spec: Authentication */
import * as v from 'valibot';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { pollVariants } from '../../context/poll-variants.ts';
import {
  acceptedDevice,
  activeDeployment,
  factoryProvides,
  type OfferedDeployment,
  requireResponse,
  twoDevices,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  bodyIncludes,
  describeValue,
  expectStatus,
  expectThat,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

const requirement: RequirementId = 'tokens.device-of-the-token';

interface DeploymentOfAnother extends OfferedDeployment {
  readonly otherDevice: SuiteDevice;
}

const offeredId = v.pipe(v.string(), v.parseJson(), v.looseObject({ id: v.string() }));

function offers({ status, text }: HttpResponse, id: string): boolean {
  const parsed = v.safeParse(offeredId, text);
  return status === 200 && parsed.success && parsed.output.id === id;
}

const foreign = defineScenario<DeploymentOfAnother>({
  area: 'authorization',
  name: 'The deployment of another device',
  start: 'a device with an active deployment, and another device',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => ({
    ...(await activeDeployment(context)),
    otherDevice: await acceptedDevice(context),
  }),
  cases: [
    ...pollVariants.map(
      ({ operation, slug, label, poll }): JudgingCase<DeploymentOfAnother> => ({
        id: `${slug}-offers-nothing-of-another-device`,
        title: `A device that polls by ${label} is not offered the deployment of another device.`,
        requirements: [requirement, 'next.own-deployments-only'],
        covers: [`${operation} 204`],
        run: async ({ otherDevice, id }) => {
          const response = await poll(otherDevice, factoryProvides);
          expectThat(
            !offers(response, id),
            'no deployment of another device',
            responseSummary(response),
          );
        },
      }),
    ),
    {
      id: 'status-of-another-device-is-404',
      title: 'A status that a device reports for the deployment of another is answered with 404.',
      requirements: [requirement, 'status.foreign-deployment-is-404'],
      covers: ['put-deployment-status 404'],
      run: async ({ otherDevice, id }) => {
        const body = { status: 'installing' };
        expectStatus(await otherDevice.call('put-deployment-status', { path: { id }, body }), 404);
      },
    },
    {
      id: 'log-of-another-device-is-404',
      title: 'A log that a device uploads for the deployment of another is answered with 404.',
      requirements: [requirement, 'log.foreign-deployment-is-404'],
      covers: ['put-deployment-log 404'],
      run: async ({ otherDevice, id }) => {
        const messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message: 'text' }];
        const body = { messages };
        expectStatus(await otherDevice.call('put-deployment-log', { path: { id }, body }), 404);
      },
    },
    {
      id: 'control-map-of-another-device-is-404',
      title: 'The control map of the deployment of another device is answered with 404.',
      requirements: [requirement, 'map.foreign-is-404'],
      covers: ['get-update-control-map 404'],
      run: async ({ otherDevice, id }) =>
        expectStatus(await otherDevice.call('get-update-control-map', { path: { id } }), 404),
    },
  ],
});

/** A write by a device, and how a user checks that it did not reach another device. */
interface DeviceWrite {
  readonly operation:
    | 'put-configuration'
    | 'patch-attributes'
    | 'put-attributes'
    | 'post-alerts'
    | 'post-monitor-configuration';
  readonly status: 200 | 204;
  readonly requirements: readonly [RequirementId, ...RequirementId[]];
  readonly body: unknown;
  /** Reads the data of the device as a user. */
  readonly look: (context: TestContext, owner: SuiteDevice) => Promise<unknown>;
}

/** Text in everything that the devices of these cases write, to recognize it. */
const mark = 'written-by-a-stranger';
const attributes = [{ name: 'conformance_mark', value: mark }];
const subject = { name: mark, type: 'service', status: 'stopped' };

const writes: readonly DeviceWrite[] = [
  {
    operation: 'put-configuration',
    status: 204,
    requirements: [requirement, 'configuration.own-store'],
    body: { mark },
    look: ({ admin }, { id }) => admin.configuration(id),
  },
  {
    operation: 'patch-attributes',
    status: 200,
    requirements: [requirement, 'inventory.own-attributes'],
    body: attributes,
    look: ({ admin }, { id }) => admin.attributes(id),
  },
  {
    operation: 'put-attributes',
    status: 200,
    requirements: [requirement, 'inventory.own-attributes'],
    body: attributes,
    look: ({ admin }, { id }) => admin.attributes(id),
  },
  {
    operation: 'post-alerts',
    status: 204,
    requirements: [requirement],
    body: [{ name: mark, level: 'CRITICAL', subject, timestamp: '2026-01-31T12:00:00Z' }],
    look: ({ admin }, { id }) => admin.alerts(id),
  },
  {
    operation: 'post-monitor-configuration',
    status: 204,
    requirements: [requirement],
    body: [{ name: mark, status: 'enabled', type: 'service' }],
    look: ({ admin }, { id }) => admin.monitorConfiguration(id),
  },
];

interface TwoDevices {
  readonly device: SuiteDevice;
  readonly otherDevice: SuiteDevice;
}

function writeCase(write: DeviceWrite): JudgingCase<TwoDevices> {
  const { operation, status, requirements, body, look } = write;
  return {
    id: `${operation}-reaches-no-other-device`,
    title: `What a device writes with ${operation} does not change the data of another device.`,
    requirements,
    covers: [`${operation} ${status}`],
    run: async ({ device, otherDevice }, context) => {
      const response = await device.call(operation, { body });
      requireResponse(operation, response, status);
      // When users see the text at the writing device, a wrong copy would be visible as well.
      const isThere = (shownData: unknown) => JSON.stringify(shownData).includes(mark);
      const ownState = await context.eventually(() => look(context, device), isThere);
      if (!isThere(ownState)) throw new NotObservable('users do not see what was written');
      const otherState = await look(context, otherDevice);
      expectThat(!isThere(otherState), 'the other device unchanged', describeValue(otherState));
    },
  };
}

const ownDataCases = defineScenario<TwoDevices>({
  area: 'authorization',
  name: 'Data of another device',
  start: 'two accepted devices with tokens',
  effect: 'write',
  needs: ['user'],
  arrange: twoDevices,
  cases: [
    ...writes.map(writeCase),
    {
      id: 'get-configuration-is-of-no-other-device',
      title:
        'A device reads its own configuration, not the one that a user set for another device.',
      requirements: [requirement, 'configuration.own-store'],
      covers: ['get-configuration 200'],
      run: async ({ device, otherDevice }, context) => {
        await context.admin.configure(otherDevice.id, { mark });
        const response = await device.call('get-configuration');
        expectThat(
          !bodyIncludes(response, mark),
          'its own configuration',
          responseSummary(response),
        );
      },
    },
  ],
});

export const authorizationOtherDeviceCases = [...foreign, ...ownDataCases];
