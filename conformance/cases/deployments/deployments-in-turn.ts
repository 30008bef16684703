/**
 * Cases: a device with one deployment after another. What it reports on one of them, however late,
 * applies to that one alone. Spec: Device deployments v1; States and transitions; DeploymentStatus
 */
import {
  arrangeAbort,
  arrangeReports,
  offeredId,
  report,
  type SharedDeployment,
  sharedDeployment,
  shownDeviceDeployment,
} from '../../context/deployment-life.ts';
import { statusColumns } from '../../context/device-statuses.ts';
import { offersAny } from '../../context/instructions.ts';
import {
  acceptedDevice,
  activeDeployment,
  factoryProvides,
  instructedId,
  type OfferedDeployment,
  requireResponse,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectStatus,
  expectThat,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';

/** A device that has finished one deployment and has been offered the next. */
interface DeploymentsInTurn {
  readonly former: OfferedDeployment;
  readonly next: OfferedDeployment;
}

/** Arranges a device that has finished a deployment as stated, and has been offered another. */
async function inTurn(
  context: TestContext,
  end: 'success' | 'failure',
  arrange: (context: TestContext) => Promise<OfferedDeployment> = activeDeployment,
): Promise<DeploymentsInTurn> {
  const former = await arrange(context);
  await arrangeReports(former, 'downloading', end);
  const { artifact, device } = former;
  const newDeployment = await context.deploy({
    artifact_name: artifact.name,
    devices: [device.id],
  });
  const query = factoryProvides;
  const id = instructedId(await device.call('get-next-deployment', { query }));
  const next = {
    ...former,
    id,
    deploymentId: newDeployment.id,
    deploymentName: newDeployment.name,
  };
  if (next.id === former.id) throw new NotObservable('two deployments have one ID');
  return { former, next };
}

/** Asserts that users see this status of a deployment, once the effects have settled. */
async function expectShown(
  context: TestContext,
  deployment: OfferedDeployment,
  status: string,
): Promise<void> {
  const shownDeployment = await shownDeviceDeployment(context, deployment, status);
  if (shownDeployment === undefined)
    throw new NotObservable('users do not see the deployment of the device');
  expectEqual('status', shownDeployment.status, status);
}

/** Sends reports on the former deployment, and asserts that they change nothing about the next. */
function lateReportCase(end: 'success' | 'failure'): JudgingCase<void> {
  return {
    id: `late-reports-after-${end}-land-on-their-deployment`,
    title: `Reports on a deployment that ended in ${end} do not change the one that follows it.`,
    requirements: ['status.only-the-named-deployment', 'status.becomes-the-state'],
    run: async (_, context) => {
      const { former, next } = await inTurn(context, end);
      for (const [activeStatus, late] of [
        ['downloading', 'failure'],
        ['installing', 'success'],
        ['pause_before_rebooting', 'already-installed'],
      ] as const) {
        await arrangeReports(next, activeStatus);
        const body = { status: late, substate: 'late' };
        requireResponse('put-deployment-status', await report(former, body), 204);
        await expectShown(context, former, late);
        const shownDeployment = await shownDeviceDeployment(context, next, activeStatus);
        const isKept =
          shownDeployment?.status === activeStatus && shownDeployment.substate !== 'late';
        const expected = `the next deployment still ${activeStatus}`;
        if (!isKept) throw failure(expected, JSON.stringify(shownDeployment));
      }
      const secondOffer = await next.device.call('get-next-deployment', { query: factoryProvides });
      if (offersAny(secondOffer)) expectEqual('deployment', instructedId(secondOffer), next.id);
    },
  };
}

function failure(expected: string, actual: string): ExpectationFailure {
  return new ExpectationFailure(expected, actual, ['status.only-the-named-deployment']);
}

/** Uploads a log of one message, and waits until users read it. */
async function uploadLog(
  context: TestContext,
  { deploymentId, device, id }: OfferedDeployment,
  message: string,
): Promise<void> {
  const body = { messages: [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message }] };
  const response = await device.call('put-deployment-log', { path: { id }, body });
  requireResponse('put-deployment-log', response, 204);
  const log = await context.eventually(
    () => context.admin.deploymentLog(deploymentId, device.id),
    (text) => text?.includes(message) ?? false,
  );
  const expected = `the log of the deployment ${id}`;
  expectThat(log?.includes(message) ?? false, expected, describeValue(log ?? 'none'));
}

const turns = defineScenario<void>({
  area: 'deployment-states',
  name: 'One deployment after another',
  start: 'a device that has finished a deployment and has been offered the next one',
  effect: 'write',
  needs: ['user'],
  arrange: () => undefined,
  cases: [
    lateReportCase('success'),
    lateReportCase('failure'),
    {
      id: 'reports-on-the-next-leave-the-former',
      title: 'Reports on a deployment do not change the state of the one that the device ended.',
      requirements: ['status.only-the-named-deployment'],
      run: async (_, context) => {
        const { former, next } = await inTurn(context, 'failure');
        for (const status of ['downloading', 'installing', 'success'] as const) {
          const body = { status, substate: `next ${status}` };
          requireResponse('put-deployment-status', await report(next, body), 204);
          await shownDeviceDeployment(context, next, status);
          const shownDeployment = await shownDeviceDeployment(context, former, 'failure');
          const isKept =
            shownDeployment?.status === 'failure' && !shownDeployment.substate?.startsWith('next');
          if (!isKept)
            throw failure('the former deployment still failure', JSON.stringify(shownDeployment));
        }
      },
    },
    {
      id: 'logs-land-on-their-deployment',
      title:
        'A log, also one that is four deployments late, belongs to the deployment that it names.',
      requirements: [
        'log.only-the-named-deployment',
        'log.is-accepted',
        'status.each-value-is-accepted',
      ],
      run: async (_, context) => {
        const turns = await inTurn(context, 'failure');
        const { former } = turns;
        let { next } = turns;
        for (let between = 0; between < 3; between += 1) {
          ({ next } = await inTurn(context, 'failure', async () => next));
        }
        requireResponse('put-deployment-status', await report(former, { status: 'success' }), 204);
        for (const [order, deployment] of [next, former, next].entries()) {
          const message = `log ${order} of ${deployment.id}`;
          await uploadLog(context, deployment, message);
          for (const each of [former, next]) await expectOwnLog(context, each);
        }
      },
    },
    {
      id: 'abort-ends-only-its-deployment',
      title: 'An abort of a deployment does not end the next one of a device that had finished it.',
      requirements: ['status.each-value-is-accepted', 'next.repeatable'],
      run: async (_, context) => {
        // The other device has not finished, so the abort takes effect.
        const arrange = async () => (await sharedDeployment(context)).one;
        const { former, next } = await inTurn(context, 'success', arrange);
        await context.admin.abort(former.deploymentId);
        expectStatus(await report(next, { status: 'downloading' }), 204);
        const secondOffer = await next.device.call('get-next-deployment', {
          query: factoryProvides,
        });
        expectThat(offersAny(secondOffer), 'the next deployment', responseSummary(secondOffer));
        expectEqual('deployment', instructedId(secondOffer), next.id);
      },
    },
    ...(['success', 'failure', 'abort'] as const).map(waitingCase),
  ],
});

/** Deploys again while a device updates, and asserts that the second update follows the first. */
function waitingCase(end: 'success' | 'failure' | 'abort'): JudgingCase<void> {
  return {
    id: `waiting-deployment-follows-${end}`,
    title: `A deployment that waits while a device updates is offered after the ${end} of the other.`,
    requirements: ['next.get-pending-is-200'],
    run: async (_, context) => {
      const former = await activeDeployment(context);
      const { artifact, device } = former;
      await arrangeReports(former, 'downloading');
      const newDeployment = await context.deploy({
        artifact_name: artifact.name,
        devices: [device.id],
      });
      if (end === 'abort') await arrangeAbort(context, former);
      else await arrangeReports(former, end);
      const response = await device.call('get-next-deployment', { query: factoryProvides });
      expectThat(
        offersAny(response),
        `the waiting deployment ${newDeployment.name}`,
        responseSummary(response),
      );
    },
  };
}

/** Asserts that users read in the log of a deployment only what was uploaded for it. */
async function expectOwnLog(
  context: TestContext,
  { deploymentId, device, id }: OfferedDeployment,
): Promise<void> {
  const log = (await context.admin.deploymentLog(deploymentId, device.id)) ?? '';
  const lines = log.split('\n').filter((line) => /log \d of /.test(line));
  const otherLine = lines.find((line) => !line.includes(id));
  expectThat(otherLine === undefined, `only messages of the deployment ${id}`, String(otherLine));
}

/** Substates of every kind, one for each status; the contract gives them no format. */
const substates = [
  'step 1 of 2',
  'größer ☃ 日本',
  'with "quotes" and \\ backslash',
  '<b>bold</b> & more',
  '100 %41 + 1',
  `UPPER and lower ${'Ж'.repeat(100)}`,
  'x'.repeat(100),
  '{"exit code":1}',
  '0',
] as const;

const substateCases = defineScenario({
  area: 'deployment-status',
  name: 'Substates',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'substate-of-every-status-is-shown',
      title: 'Users see the substate that came with each of the nine statuses, as it was sent.',
      requirements: ['status.substate-is-the-last', 'status.substate'],
      run: async (arranged, context) => {
        for (const [index, status] of statusColumns.entries()) {
          const substate = substates[index];
          requireResponse(
            'put-deployment-status',
            await report(arranged, { status, substate }),
            204,
          );
          const shownDeployment = await context.eventually(
            () => context.admin.deviceDeployment(arranged.deploymentId, arranged.device.id),
            (shownDeployment) =>
              shownDeployment?.status === status && shownDeployment.substate === substate,
          );
          if (index === 0 && shownDeployment?.substate === undefined) {
            throw new NotObservable('users see no substate');
          }
          expectEqual(`substate of ${status}`, shownDeployment?.substate, substate);
        }
      },
    },
  ],
});

const together = defineScenario<SharedDeployment>({
  area: 'deployment-states',
  name: 'One deployment of two devices',
  start: 'two devices that have been offered the same deployment',
  effect: 'write',
  needs: ['user'],
  arrange: sharedDeployment,
  cases: [
    {
      id: 'abort-reaches-each-device',
      title:
        'After an abort of a deployment, each of its devices is answered with 409 and offered nothing.',
      requirements: ['status.aborted-is-409', 'next.aborted-is-over'],
      run: async ({ one, other }, context) => {
        await arrangeReports(other, 'downloading');
        await arrangeAbort(context, one);
        for (const each of [one, other]) {
          const { status } = await report(each, { status: 'installing' });
          const refusalRequirements = ['status.aborted-is-409'] as const;
          if (status !== 409)
            throw new ExpectationFailure('status 409', `${status}`, refusalRequirements);
          const response = await each.device.call('get-next-deployment', {
            query: factoryProvides,
          });
          const over = ['next.aborted-is-over'] as const;
          if (!offersAny(response)) continue;
          throw new ExpectationFailure('no deployment', responseSummary(response), over);
        }
      },
    },
    {
      id: 'report-of-one-device-leaves-the-other',
      title:
        'A report of one device changes neither status nor substate of another in its deployment.',
      requirements: ['status.own-part-only'],
      run: async ({ one, other }, context) => {
        const otherReport = { status: 'downloading', substate: 'of the other device' };
        requireResponse('put-deployment-status', await report(other, otherReport), 204);
        await shownDeviceDeployment(context, other, otherReport.status);
        requireResponse(
          'put-deployment-status',
          await report(one, { status: 'installing', substate: 'mine' }),
          204,
        );
        await shownDeviceDeployment(context, one, 'installing');
        const shownDeployment = await context.admin.deviceDeployment(
          other.deploymentId,
          other.device.id,
        );
        if (shownDeployment === undefined) throw new NotObservable('users do not see the device');
        expectEqual('status of the other device', shownDeployment.status, otherReport.status);
        if (shownDeployment.substate !== undefined) {
          expectEqual(
            'substate of the other device',
            shownDeployment.substate,
            otherReport.substate,
          );
        }
      },
    },
    {
      id: 'end-of-one-device-leaves-one-that-has-not-polled',
      title:
        'After one device has finished a deployment, another that polls for the first time gets it.',
      requirements: ['next.get-pending-is-200', 'status.own-part-only'],
      run: async (_, context) => {
        for (const end of ['failure', 'success'] as const) {
          const devices = [await acceptedDevice(context), await acceptedDevice(context)] as const;
          const { name } = await context.artifact('plain');
          const ids = devices.map((device) => device.id);
          await context.deploy({ artifact_name: name, devices: ids });
          const [firstDevice, secondDevice] = devices;
          await arrangeReports(
            { device: firstDevice, id: await offeredId(context, firstDevice) },
            end,
          );
          const response = await secondDevice.call('get-next-deployment', {
            query: factoryProvides,
          });
          if (offersAny(response)) continue;
          const pendingRequirements = ['next.get-pending-is-200', 'status.own-part-only'] as const;
          throw new ExpectationFailure(
            'the deployment',
            responseSummary(response),
            pendingRequirements,
          );
        }
      },
    },
    {
      id: 'end-of-one-device-leaves-the-other',
      title:
        'After one device has finished a deployment, another is still offered it and may report.',
      requirements: ['next.repeatable', 'status.own-part-only'],
      run: async ({ one, other }, context) => {
        for (const end of ['failure', 'success'] as const) {
          await arrangeReports(one, end);
          const response = await other.device.call('get-next-deployment', {
            query: factoryProvides,
          });
          const requirements = ['status.own-part-only'] as const;
          if (!offersAny(response)) {
            const lasting = ['next.repeatable', ...requirements] as const;
            throw new ExpectationFailure('the deployment', responseSummary(response), lasting);
          }
          const installingResponse = await report(other, { status: 'installing' });
          if (installingResponse.status === 404 || installingResponse.status === 409) {
            throw new ExpectationFailure(
              'status 204',
              responseSummary(installingResponse),
              requirements,
            );
          }
          requireResponse('put-deployment-status', installingResponse, 204);
          const shownDeployment = await shownDeviceDeployment(context, other, 'installing');
          if (shownDeployment?.status === 'installing') continue;
          throw new ExpectationFailure(
            'installing',
            shownDeployment?.status ?? 'nothing',
            requirements,
          );
        }
      },
    },
  ],
});

/** Spec: Device deployments v1; States and transitions; DeploymentStatus */
export const deploymentInTurnCases = [...turns, ...together, ...substateCases];
