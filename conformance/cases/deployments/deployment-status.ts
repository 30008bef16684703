/** Cases: status reports of a device on its deployment. Spec: DeploymentStatus */
import { statusRequirements } from '../../../fixtures/contract/requirements/deployment-status.ts';
import {
  arrangeAbort,
  arrangeReports,
  report,
  sharedDeployment,
  shownStatus,
  shownSubstate,
} from '../../context/deployment-life.ts';
import {
  acceptedDevice,
  activeDeployment,
  type OfferedDeployment,
  pendingDeployment,
} from '../../context/start-states.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { type InputTable, inputCases, otherThanString } from '../../suite/input-table.ts';
import {
  describeValue,
  expectEqual,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';

/** A status report that the contract allows, with a substate. */
export const validReport = { status: 'installing', substate: 'Executing script: check' };

/** The input table for each field of a status report. */
export const reportInputs: InputTable = {
  'other-status-is-400': {
    title:
      'A status that a device may not report, such as aborted or pending, is answered with 400.',
    requirement: 'status.other-values-are-400',
    field: 'status',
    refused: {
      'a state of the deployment': 'aborted',
      'the state before the first report': 'pending',
      'a state of existing servers': 'noartifact',
      'the state of a device that is gone': 'decommissioned',
      'a state of a whole deployment': 'finished',
      'a capital letter': 'Success',
      'a space at the end': 'success ',
      'an underscore for a dash': 'already_installed',
      'dashes for underscores': 'pause-before-installing',
      'two statuses': 'downloading,installing',
      'a name that every object has': 'constructor',
    },
    covers: ['put-deployment-status 400'],
  },
  'missing-body-is-400': {
    title: 'A report without a body is answered with 400.',
    requirement: 'status.body-is-required',
    field: '',
    refused: ['missing'],
  },
  'malformed-report-is-400': {
    title: 'A report that is not a JSON object is answered with 400.',
    requirement: 'status.malformed-is-400',
    field: '',
    refused: ['not JSON', 'null', 'boolean', 'number', 'string', 'array'],
  },
  'missing-status-is-400': {
    title: 'A report without a status is answered with 400.',
    requirement: 'status.is-required',
    field: 'status',
    refused: ['missing'],
  },
  'other-type-of-status-is-400': {
    title: 'A report whose status is not a string is answered with 400.',
    requirement: 'status.is-string',
    field: 'status',
    refused: otherThanString,
  },
  'other-string-as-status-is-400': {
    title: 'A report whose status is an arbitrary, empty or long string is answered with 400.',
    requirement: 'status.other-values-are-400',
    field: 'status',
    refused: ['string', 'empty string', 'long string'],
  },
  'missing-substate-is-accepted': {
    title: 'A report needs no substate.',
    requirement: 'status.substate-is-optional',
    field: 'substate',
    accepted: ['missing'],
  },
  'substate-is-accepted': {
    title: 'A report may carry a substate with further information.',
    requirement: 'status.substate',
    field: 'substate',
    accepted: ['string'],
  },
  'other-type-of-substate-is-400': {
    title: 'A report whose substate is not a string is answered with 400.',
    requirement: 'status.substate-is-string',
    field: 'substate',
    refused: ['boolean', 'number', 'array', 'object'],
  },
  'null-as-substate': {
    title: 'How a report with a null substate is answered.',
    requirement: 'status.substate-null',
    field: 'substate',
    open: ['null'],
  },
  'length-of-substate': {
    title: 'How a report with an empty or very long substate is answered.',
    requirement: 'status.substate-length',
    field: 'substate',
    open: ['empty string', 'long string'],
  },
};

type RequiredStatus = keyof typeof statusRequirements;

function statusCase(status: RequiredStatus): JudgingCase<OfferedDeployment> {
  return {
    id: `${status.replaceAll('_', '-')}-is-accepted`,
    title: `A device may report ${status}.`,
    requirements: [statusRequirements[status]],
    run: async (arranged) => {
      const response = await report(arranged, { status });
      const isRefused = response.status >= 400 && response.status < 500;
      expectThat(!isRefused, `no refusal of ${status}`, responseSummary(response));
    },
  };
}

const reportCases = defineScenario({
  area: 'deployment-status',
  name: 'Reports',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'report-is-204',
      title: 'An accepted report is answered with 204.',
      requirements: ['status.is-204'],
      covers: ['put-deployment-status 204'],
      run: async (arranged) => expectStatus(await report(arranged, validReport), 204),
    },
    ...(Object.keys(statusRequirements) as RequiredStatus[]).map(statusCase),
    ...inputCases<OfferedDeployment>(reportInputs, {
      body: validReport,
      send: ({ device, id }, { raw }) =>
        device.call('put-deployment-status', { path: { id }, raw }),
      accepted: [204],
    }),
    {
      id: 'substate-of-a-repeated-status-is-shown',
      title: 'Which substate users see after a second report of the same status.',
      requirements: ['status.substate-is-the-last'],
      observe: async (arranged, context) => {
        const [first, second] = ['step 1 of 2', 'step 2 of 2'] as const;
        for (const substate of [first, second]) {
          await report(arranged, { status: 'installing', substate });
          const substateText = await shownSubstate(context, arranged, substate);
          if (substateText !== substate)
            return observationOf(describeValue(substateText ?? 'none'));
        }
        return observationOf(second);
      },
    },
    {
      id: 'malformed-id-is-refused',
      title: 'A report for a malformed ID is answered with 400 or 404.',
      requirements: ['status.malformed-id'],
      run: async ({ device }) =>
        expectStatus(await report({ device, id: 'no-such-form' }, validReport), 400, 404),
    },
  ],
});

const otherDeviceCases = defineScenario({
  area: 'deployment-status',
  name: 'Two devices in one deployment',
  start: 'two devices that have been offered the same deployment',
  effect: 'write',
  needs: ['user'],
  arrange: sharedDeployment,
  cases: [
    {
      id: 'report-is-about-the-caller',
      title: 'A report of one device does not change the state of the other.',
      requirements: ['status.own-part-only'],
      run: async ({ one, other }, context) => {
        await arrangeReports(other, 'downloading');
        if ((await shownStatus(context, other, 'downloading')) !== 'downloading') {
          throw new NotObservable('no user sees what the device reported');
        }
        await arrangeReports(one, 'installing', 'failure');
        await shownStatus(context, one, 'failure');
        expectEqual('status', await shownStatus(context, other, 'downloading'), 'downloading');
      },
    },
  ],
});

const notYetPolled = defineScenario({
  area: 'deployment-status',
  name: 'Before the first request',
  start: 'a device for which a deployment is pending',
  effect: 'write',
  needs: ['user'],
  arrange: pendingDeployment,
  cases: [
    {
      id: 'report-before-the-first-poll',
      title: 'How a report on a deployment that the device has not polled yet is answered.',
      requirements: ['status.not-offered'],
      observe: async ({ device, deploymentId: id }) =>
        observedResponse(await report({ device, id }, { status: 'downloading' })),
    },
    {
      id: 'report-before-the-first-poll-after-an-abort',
      title: 'How a report on a deployment that was aborted before the device polled is answered.',
      requirements: ['status.not-offered'],
      observe: async (arranged, context) => {
        await context.admin.abort(arranged.deploymentId);
        const unpolled = { device: arranged.device, id: arranged.deploymentId };
        return observedResponse(await report(unpolled, { status: 'downloading' }));
      },
    },
  ],
});

const foreign = defineScenario({
  area: 'deployment-status',
  name: 'Unknown deployments',
  start: 'an accepted device without a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'unknown-deployment-is-404',
      title: 'A report for a deployment that does not exist is answered with 404.',
      requirements: ['status.unknown-deployment-is-404'],
      covers: ['put-deployment-status 404'],
      run: async (device, context) =>
        expectStatus(await report({ device, id: context.random.uuid() }, validReport), 404),
    },
  ],
});

const aborted = defineScenario({
  area: 'deployment-status',
  name: 'The refusal after an abort',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'body-of-409',
      title: 'What body the 409 has, for which the contract shows none.',
      requirements: ['status.body-of-409'],
      observe: async (arranged, context) => {
        await arrangeAbort(context, arranged);
        return observedResponse(await report(arranged, { status: 'success' }));
      },
    },
  ],
});

export const deploymentStatusCases = [
  ...reportCases,
  ...otherDeviceCases,
  ...notYetPolled,
  ...foreign,
  ...aborted,
];
