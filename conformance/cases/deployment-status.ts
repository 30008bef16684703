/** Cases: reports of a device on its deployment. Spec: DeploymentStatus; States and transitions */
import { defineScenario, type JudgingCase } from '../case.ts';
import {
  expectEach,
  expectEqual,
  expectNoBody,
  expectStatus,
  observedAnswer,
} from '../expectations.ts';
import type { DevicePart } from '../stage/operator.ts';
import type { Stage } from '../stage/stage.ts';
import {
  abortedDeployment,
  acceptedDevice,
  activeDeployment,
  type OfferedDeployment,
} from '../stage/start-states.ts';
import type { Answer } from '../target/target.ts';

/** A whole life in the order in which a device with all pauses reports it. */
const wholeLife = [
  'downloading',
  'pause_before_installing',
  'installing',
  'pause_before_rebooting',
  'rebooting',
  'pause_before_committing',
  'success',
];

function report({ device, id }: OfferedDeployment, body: unknown): Promise<Answer> {
  return device.call('put-deployment-status', { path: { id }, body });
}

/** What users see of the device's part, once it is in that status. */
async function shownPart(
  stage: Stage,
  { deploymentId, device }: OfferedDeployment,
  status: string,
): Promise<DevicePart | undefined> {
  return stage.settled(
    () => stage.operator.devicePart(deploymentId, device.id),
    (part) => part?.status === status,
  );
}

function directCase(status: string): JudgingCase<OfferedDeployment> {
  return {
    id: `${status}-at-once-is-204`,
    title: `A device may report ${status} at once, without any status before it.`,
    requirements: ['status.each-value-is-accepted', 'status.intermediate-is-optional'],
    run: async (world) => expectStatus(await report(world, { status }), 204),
  };
}

const active = defineScenario({
  area: 'deployment-status',
  name: 'Reports',
  start: 'a device that has been offered a deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'report-is-204',
      title: 'A report is answered 204 without a body.',
      requirements: ['status.each-value-is-accepted'],
      covers: ['put-deployment-status 204'],
      run: async (world) => {
        const answer = await report(world, { status: 'downloading' });
        expectStatus(answer, 204);
        expectNoBody(answer);
      },
    },
    {
      id: 'whole-life-is-204',
      title:
        'A device that reports every step of its update, pauses too, is answered 204 each time.',
      requirements: ['status.each-value-is-accepted'],
      run: async (world) => {
        const steps = Object.fromEntries(wholeLife.map((status) => [status, status]));
        await expectEach(204, steps, (status) => report(world, { status }));
      },
    },
    directCase('success'),
    directCase('failure'),
    directCase('already-installed'),
    {
      id: 'report-becomes-the-state',
      title: 'Users see the device in the status that it reported last.',
      requirements: ['status.becomes-the-state'],
      run: async (world, stage) => {
        await report(world, { status: 'downloading' });
        await report(world, { status: 'installing' });
        const part = await shownPart(stage, world, 'installing');
        expectEqual('status', part?.status, 'installing');
      },
    },
    {
      id: 'repeated-report-is-204',
      title: 'A status that is reported twice, after a lost answer say, is answered 204 twice.',
      requirements: ['status.repeated'],
      run: async (world) => {
        expectStatus(await report(world, { status: 'installing' }), 204);
        expectStatus(await report(world, { status: 'installing' }), 204);
      },
    },
    {
      id: 'step-back',
      title: 'A device that starts over reports an earlier status again.',
      requirements: ['status.transitions'],
      observe: async (world) => {
        await report(world, { status: 'installing' });
        return observedAnswer(await report(world, { status: 'downloading' }));
      },
    },
    {
      id: 'report-after-the-end',
      title: 'A device that has reported success reports another status.',
      requirements: ['status.transitions'],
      observe: async (world) => {
        await report(world, { status: 'success' });
        return observedAnswer(await report(world, { status: 'failure' }));
      },
    },
    {
      id: 'substate-is-accepted',
      title: 'A status may carry a substate, which tells more.',
      requirements: ['status.substate'],
      run: async (world) => {
        const body = { status: 'installing', substate: 'Executing script: check' };
        expectStatus(await report(world, body), 204);
      },
    },
    {
      id: 'missing-status-is-400',
      title: 'A report without a status is answered 400.',
      requirements: ['status.is-required'],
      covers: ['put-deployment-status 400'],
      run: async (world) => expectStatus(await report(world, { substate: 'alone' }), 400),
    },
    {
      id: 'other-status-is-400',
      title: 'A status that a device may not report, aborted and pending too, is answered 400.',
      requirements: ['status.other-values-are-400'],
      run: async (world) => {
        const statuses = {
          aborted: 'aborted',
          pending: 'pending',
          'a word of its own': 'finished',
          'another spelling': 'Success',
          'an empty text': '',
        };
        await expectEach(400, statuses, (status) => report(world, { status }));
      },
    },
    {
      id: 'malformed-report-is-400',
      title: 'A report that is no JSON object with texts as fields is answered 400.',
      requirements: ['status.malformed-is-400'],
      run: async ({ device, id }) => {
        const bodies = {
          'no JSON': '{"status":',
          'a bare text': '"success"',
          'a number as status': '{"status":7}',
          'null as status': '{"status":null}',
          'an object as substate': '{"status":"installing","substate":{}}',
        };
        await expectEach(400, bodies, (raw) =>
          device.call('put-deployment-status', { path: { id }, raw }),
        );
      },
    },
  ],
});

const foreign = defineScenario({
  area: 'deployment-status',
  name: 'Deployments of others',
  start: 'an accepted device without a deployment',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'unknown-deployment-is-404',
      title: 'A report for a deployment that nobody made is answered 404.',
      requirements: ['status.unknown-deployment-is-404'],
      covers: ['put-deployment-status 404'],
      run: async (device, stage) => {
        const path = { id: stage.random.uuid() };
        const body = { status: 'success' };
        expectStatus(await device.call('put-deployment-status', { path, body }), 404);
      },
    },
    {
      id: 'deployment-of-another-device-is-404',
      title: 'A report for a deployment of another device is answered 404.',
      requirements: ['status.unknown-deployment-is-404'],
      run: async (device, stage) => {
        const path = { id: (await activeDeployment(stage)).id };
        const body = { status: 'success' };
        expectStatus(await device.call('put-deployment-status', { path, body }), 404);
      },
    },
    {
      id: 'malformed-id-is-refused',
      title: 'A report for an id that is none is answered 400 or 404.',
      requirements: ['status.malformed-id'],
      run: async (device) => {
        const path = { id: 'no-such-form' };
        const body = { status: 'success' };
        expectStatus(await device.call('put-deployment-status', { path, body }), 400, 404);
      },
    },
  ],
});

const aborted = defineScenario({
  area: 'deployment-status',
  name: 'After an abort',
  start: 'a device whose deployment a user has aborted',
  risk: 'write',
  needs: ['operator'],
  arrange: abortedDeployment,
  cases: [
    {
      id: 'aborted-is-409',
      title: 'After the abort every report, an end too, is answered 409.',
      requirements: ['status.aborted-is-409'],
      covers: ['put-deployment-status 409'],
      run: async (world) => {
        const reports = { installing: 'installing', success: 'success', failure: 'failure' };
        await expectEach(409, reports, (status) => report(world, { status }));
      },
    },
    {
      id: 'aborted-stays',
      title: 'A report that is refused leaves the deployment aborted.',
      requirements: ['status.aborted-stays'],
      run: async (world, stage) => {
        await report(world, { status: 'success' });
        const part = await shownPart(stage, world, 'aborted');
        expectEqual('status', part?.status, 'aborted');
      },
    },
    {
      id: 'body-of-409',
      title: 'The contract shows no body for the 409; what it is here.',
      requirements: ['status.body-of-409'],
      observe: async (world) => observedAnswer(await report(world, { status: 'success' })),
    },
  ],
});

/** Spec: DeploymentStatus; States and transitions */
export const deploymentStatusCases = [...active, ...foreign, ...aborted];
