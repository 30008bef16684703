/**
 * Cases: every status that a device may report, in every state of its device deployment. Every
 * status is accepted in every state except `aborted`. Spec: States and transitions
 */
import {
  arrangeAbort,
  arrangeReports,
  report,
  shownDeviceDeployment,
  shownStatus,
} from '../../context/deployment-life.ts';
import { abortableStates, endedStates, statusColumns } from '../../context/device-statuses.ts';
import { expectNoOffer } from '../../context/expect-no-offer.ts';
import {
  acceptedDevice,
  activeDeployment,
  factoryProvides,
  type OfferedDeployment,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase, type ObservingCase } from '../../suite/case.ts';
import {
  ExpectationFailure,
  expectEach,
  expectEqual,
  observationOf,
  responseSummary,
} from '../../target/expectations.ts';

type StatusColumn = (typeof statusColumns)[number];

type ReportedState = (typeof abortableStates)[number] | (typeof endedStates)[number];

/** Arranges a device whose device deployment is in that state. */
async function deviceDeploymentIn(
  context: TestContext,
  state: ReportedState,
): Promise<OfferedDeployment> {
  const arranged = await activeDeployment(context);
  if (state !== 'offered') await arrangeReports(arranged, state);
  return arranged;
}

function slugOf(state: string): string {
  return state.replaceAll(/[_ ]/g, '-');
}

function acceptedCase(state: ReportedState): JudgingCase<void> {
  const statuses = statusColumns.filter((status) => status !== state);
  return {
    id: `after-${slugOf(state)}-reports-are-204`,
    title: `A device whose deployment is ${state} may report any status, also an earlier one: 204.`,
    requirements: ['status.each-value-is-accepted'],
    run: async (_, context) => {
      // A device cannot report that it is back at the offer, so each status needs one of its own.
      const isReportable = state !== 'offered';
      let arranged = await deviceDeploymentIn(context, state);
      for (const [index, status] of statuses.entries()) {
        if (!isReportable && index > 0) arranged = await deviceDeploymentIn(context, state);
        for (const nextStatus of isReportable ? [status, state] : [status]) {
          const response = await report(arranged, { status: nextStatus });
          if (response.status === 204) continue;
          const which = nextStatus === status ? status : `${state} after ${status}`;
          throw new ExpectationFailure(`status 204 for ${which}`, responseSummary(response));
        }
      }
    },
  };
}

function repeatedCase(state: StatusColumn): JudgingCase<void> {
  return {
    id: `${slugOf(state)}-again-is-204`,
    title: `A device that reports ${state} twice, for example after a lost response, is answered with 204 twice.`,
    requirements: ['status.repeated'],
    run: async (_, context) => {
      const arranged = await deviceDeploymentIn(context, state);
      await expectEach(204, { again: state }, (status) => report(arranged, { status }));
    },
  };
}

const matrix = defineScenario<void>({
  area: 'deployment-states',
  name: 'Reports in each state',
  start: 'devices of the case, each in the state that the case names',
  effect: 'write',
  needs: ['user'],
  arrange: () => undefined,
  cases: [
    ...[...abortableStates, ...endedStates].map(acceptedCase),
    ...statusColumns.map(repeatedCase),
    {
      id: 'an-end-at-once-is-204',
      title: 'A device may report the end directly, without any status before it.',
      requirements: ['status.intermediate-is-optional'],
      run: async (_, context) => {
        for (const status of endedStates) {
          const response = await report(await deviceDeploymentIn(context, 'offered'), { status });
          if (response.status === 204) continue;
          throw new ExpectationFailure(`status 204 for ${status}`, responseSummary(response));
        }
      },
    },
    {
      id: 'of-another-device-is-404',
      title: 'A report of any status for the deployment of another device is answered with 404.',
      requirements: ['status.foreign-deployment-is-404'],
      run: async (_, context) => {
        const { id } = await activeDeployment(context);
        const device = await acceptedDevice(context);
        const statusByName = Object.fromEntries(statusColumns.map((status) => [status, status]));
        await expectEach(404, statusByName, (status) => report({ device, id }, { status }));
      },
    },
  ],
});

function shownCase(end: (typeof endedStates)[number]): JudgingCase<OfferedDeployment> {
  return {
    id: `reports-up-to-${slugOf(end)}-become-the-state`,
    title: `Users see the status that the device reported last, up to ${end}.`,
    requirements: ['status.becomes-the-state'],
    run: async (arranged, context) => {
      for (const status of [...statusColumns.slice(0, 6), end]) {
        await arrangeReports(arranged, status);
        expectEqual('status', await shownStatus(context, arranged, status), status);
      }
    },
  };
}

function shownAfterEndCase(end: (typeof endedStates)[number]): JudgingCase<void> {
  return {
    id: `reports-after-${slugOf(end)}-become-the-state`,
    title: `Users see the status that a device reports after ${end}.`,
    requirements: ['status.becomes-the-state'],
    run: async (_, context) => {
      for (const status of ['installing', ...endedStates.filter((other) => other !== end)]) {
        const arranged = await deviceDeploymentIn(context, end);
        await arrangeReports(arranged, status);
        expectEqual('status', await shownStatus(context, arranged, status), status);
      }
    },
  };
}

const shownBackwards: JudgingCase<OfferedDeployment> = {
  id: 'reports-backwards-become-the-state',
  title: 'Users see the status that the device reported last, also one that comes before another.',
  requirements: ['status.becomes-the-state'],
  run: async (arranged, context) => {
    for (const status of statusColumns.slice(0, 6).toReversed()) {
      await arrangeReports(arranged, status);
      expectEqual('status', await shownStatus(context, arranged, status), status);
    }
  },
};

const shownAfterEnds = defineScenario<void>({
  area: 'deployment-states',
  name: 'Visible status after an end',
  start: 'devices of the case, each of which has reported an end',
  effect: 'write',
  needs: ['user'],
  arrange: () => undefined,
  cases: endedStates.map(shownAfterEndCase),
});

const shownStates = defineScenario({
  area: 'deployment-states',
  name: 'Visible status',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [...endedStates.map(shownCase), shownBackwards],
});

function abortCases(state: (typeof abortableStates)[number]): JudgingCase<OfferedDeployment>[] {
  const statuses = Object.fromEntries(statusColumns.map((status) => [status, status]));
  return [
    {
      id: `abort-in-${slugOf(state)}-refuses-reports`,
      title: `After an abort in the state ${state}, every report is answered with 409, also that of an end.`,
      requirements: ['status.aborted-is-409'],
      covers: ['put-deployment-status 409'],
      run: (arranged) => expectEach(409, statuses, (status) => report(arranged, { status })),
    },
    {
      id: `abort-in-${slugOf(state)}-stays`,
      title: `After an abort in the state ${state}, refused reports leave the deployment aborted.`,
      requirements: ['status.aborted-stays', 'status.aborted-is-409'],
      run: async (arranged, context) => {
        const before = await shownDeviceDeployment(context, arranged, 'aborted');
        for (const status of statusColumns) {
          const body = { status, substate: 'reported after the abort' };
          const response = await report(arranged, body);
          if (response.status === 409) continue;
          throw new ExpectationFailure('status 409', responseSummary(response), [
            'status.aborted-is-409',
          ]);
        }
        expectEqual('status', await shownStatus(context, arranged, 'aborted'), 'aborted');
        const after = await shownDeviceDeployment(context, arranged, 'aborted');
        expectEqual('substate', after?.substate, before?.substate);
      },
    },
    {
      id: `abort-in-${slugOf(state)}-offers-nothing`,
      title: `After an abort in the state ${state}, the deployment is no longer offered.`,
      requirements: ['next.aborted-is-over'],
      run: async ({ device }) =>
        expectNoOffer(await device.call('get-next-deployment', { query: factoryProvides })),
    },
  ];
}

const aborts = abortableStates.map((state) =>
  defineScenario({
    area: 'deployment-states',
    name: `An abort in the state ${state}`,
    start: `a device whose deployment was ${state} when a user aborted the deployment`,
    effect: 'write',
    needs: ['user'],
    arrange: async (context) => {
      const arranged = await deviceDeploymentIn(context, state);
      await arrangeAbort(context, arranged);
      return arranged;
    },
    cases: abortCases(state),
  }),
);

const abortAfterTheEnd = defineScenario<void>({
  area: 'deployment-states',
  name: 'An abort after the end',
  start: 'devices of the case, each of which has reported an end',
  effect: 'write',
  needs: ['user'],
  arrange: () => undefined,
  cases: endedStates.map(
    (state): ObservingCase<void> => ({
      id: `abort-after-${slugOf(state)}`,
      title: `What an abort changes after the device has reported ${state}.`,
      requirements: ['status.abort-after-the-end'],
      observe: async (_, context) => {
        const arranged = await deviceDeploymentIn(context, state);
        await context.admin.abort(arranged.deploymentId);
        const status = await shownStatus(context, arranged, state);
        const { status: answered } = await report(arranged, { status: state });
        return observationOf(`users see ${status}, the same report is answered with ${answered}`);
      },
    }),
  ),
});

export const deploymentStateCases = [
  ...matrix,
  ...shownStates,
  ...shownAfterEnds,
  ...aborts.flat(),
  ...abortAfterTheEnd,
];
