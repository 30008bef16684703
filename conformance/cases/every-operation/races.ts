/**
 * Cases: concurrent requests must have the effect of some sequential order. Spec: States and
 * transitions
 */
import {
  arrangeReports,
  offeredId,
  report,
  sharedDeployment,
  shownStatus,
} from '../../context/deployment-life.ts';
import { offersAny, requireInstructions, textIn } from '../../context/instructions.ts';
import { type PollVariant, pollVariants } from '../../context/poll-variants.ts';
import {
  type DeviceAndArtifact,
  type DeviceInDeployment,
  deviceAndArtifact,
  factoryProvides,
  type OfferedDeployment,
  pendingDeployment,
  requireResponse,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  ExpectationFailure,
  expectEqual,
  expectStatus,
  expectThat,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Rounds in which two requests are sent at once: enough that each arrives first at least once. */
const ROUNDS = 12;
const POLLS_AT_ONCE = 8;

/** Possible states after a report concurrent with an abort, by the response to the report. */
const outcomes = {
  installing: { 204: ['aborted'], 409: ['aborted'] },
  success: { 204: ['success', 'aborted'], 409: ['aborted'] },
} as const;
type RacedStatus = keyof typeof outcomes;

/** Creates a new deployment and has it offered to the device. */
async function nextRound(
  context: TestContext,
  { device, artifact }: DeviceAndArtifact,
): Promise<OfferedDeployment> {
  const deployment = await context.deploy({ artifact_name: artifact.name, devices: [device.id] });
  const id = await offeredId(context, device);
  return { device, artifact, id, deploymentId: deployment.id, deploymentName: deployment.name };
}

/** Sends the report and the abort at once; which one is sent first alternates by round. */
async function race(
  context: TestContext,
  arranged: OfferedDeployment,
  { status, round }: { readonly status: RacedStatus; readonly round: number },
): Promise<HttpResponse> {
  const abort = (): Promise<void> => context.admin.abort(arranged.deploymentId);
  if (round % 2 === 0) {
    const [response] = await Promise.all([report(arranged, { status }), abort()]);
    return response;
  }
  const [, response] = await Promise.all([abort(), report(arranged, { status })]);
  return response;
}

/** Asserts that the final state is possible with the response to the report: see `outcomes`. */
async function expectConsistentState(
  context: TestContext,
  arranged: OfferedDeployment,
  { status, response }: { readonly status: RacedStatus; readonly response: HttpResponse },
): Promise<void> {
  if (response.status !== 204 && response.status !== 409) {
    throw new ExpectationFailure(`204 or 409 for ${status}`, responseSummary(response));
  }
  const allowedStates: readonly string[] = outcomes[status][response.status];
  const state = await shownStatus(context, arranged, ...allowedStates);
  const expected = `${allowedStates.join(' or ')} after a report that was answered with ${response.status}`;
  expectThat(allowedStates.includes(state), expected, state);
}

const againstAbort = defineScenario({
  area: 'races',
  name: 'A report during an abort',
  start: 'a device that is offered a deployment in each round',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => deviceAndArtifact(context, 'plain'),
  cases: [
    ...(['installing', 'success'] as const).map((status) => ({
      id: `report-of-${status}-against-abort`,
      title: `A report of ${status} that is concurrent with an abort leaves a state that matches its response.`,
      requirements: ['status.abort-is-one-moment'] as const,
      run: async (arranged: DeviceAndArtifact, context: TestContext) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const activeRound = await nextRound(context, arranged);
          const response = await race(context, activeRound, { status, round });
          await expectConsistentState(context, activeRound, { status, response });
        }
      },
    })),
    {
      id: 'report-after-confirmed-abort-is-409',
      title: 'A report that is sent right after the abort was confirmed is answered with 409.',
      requirements: ['status.aborted-is-409'],
      run: async (arranged, context) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const activeRound = await nextRound(context, arranged);
          await race(context, activeRound, { status: 'installing', round });
          expectStatus(await report(activeRound, { status: 'success' }), 409);
        }
      },
    },
  ],
});

function pollCase({ slug, label, poll, needs }: PollVariant): JudgingCase<DeviceInDeployment> {
  return {
    id: `${slug}-polls-at-once-agree`,
    title: `${label}: concurrent requests of one device get the same deployment.`,
    requirements: ['next.parallel-polls'],
    needs,
    run: async ({ device }) => {
      const polls = Array.from({ length: POLLS_AT_ONCE }, () => poll(device, factoryProvides));
      const responses = await Promise.all(polls);
      if (!responses.some(offersAny)) throw new NotObservable('no response offers the deployment');
      const ids = responses.map((each) => (offersAny(each) ? idIn(each) : responseSummary(each)));
      expectEqual('deployments', [...new Set(ids)], ids.slice(0, 1));
    },
  };
}

function idIn(response: HttpResponse): string {
  return textIn(requireInstructions(response), 'id');
}

const polls = defineScenario({
  area: 'races',
  name: 'Concurrent polls',
  start: 'a device for which a deployment is pending',
  effect: 'write',
  needs: ['user'],
  arrange: pendingDeployment,
  cases: pollVariants.map(pollCase),
});

const together = defineScenario({
  area: 'races',
  name: 'Concurrent reports of two devices',
  start: 'two devices that have been offered the same deployment',
  effect: 'write',
  needs: ['user'],
  arrange: sharedDeployment,
  cases: [
    {
      id: 'reports-of-two-devices-at-once',
      title: 'Concurrent reports of two devices do not affect each other.',
      requirements: ['status.own-part-only'],
      run: async ({ one, other }, context) => {
        const ofOne = ['downloading', 'installing', 'failure'];
        const ofOther = ['pause_before_installing', 'pause_before_rebooting', 'rebooting'];
        await Promise.all([arrangeReports(one, ...ofOne), arrangeReports(other, ...ofOther)]);
        const status = await shownStatus(context, one, 'failure');
        const seenOfOther = await shownStatus(context, other, 'rebooting');
        expectThat(!ofOther.includes(status), 'no status of the other device', status);
        expectThat(!ofOne.includes(seenOfOther), 'no status of the first device', seenOfOther);
      },
    },
    {
      id: 'abort-reaches-both-devices',
      title: 'After an abort, concurrent reports of both devices are answered with 409.',
      requirements: ['status.aborted-is-409'],
      run: async ({ one, other }, context) => {
        await context.admin.abort(one.deploymentId);
        const responses = await Promise.all(
          [one, other].map((arranged) => report(arranged, { status: 'success' })),
        );
        for (const response of responses) expectStatus(response, 409);
      },
    },
  ],
});

const logAndStatus = defineScenario({
  area: 'races',
  name: 'A log during a report',
  start: 'a device that is offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => nextRound(context, await deviceAndArtifact(context, 'plain')),
  cases: [
    {
      id: 'log-beside-a-report-is-kept',
      title: 'A log that is uploaded while the device reports is kept.',
      requirements: ['log.is-kept'],
      run: async (arranged, context) => {
        await logBesideReport(arranged);
        const readLog = () =>
          context.admin.deploymentLog(arranged.deploymentId, arranged.device.id);
        const log = await context.eventually(readLog, (text) => text?.includes('at once') ?? false);
        expectThat(log?.includes('at once') ?? false, 'the log', log ?? 'no log');
      },
    },
    {
      id: 'report-beside-a-log-becomes-the-state',
      title: 'A status that is reported while the device uploads its log becomes the state.',
      requirements: ['status.becomes-the-state'],
      run: async (arranged, context) => {
        await logBesideReport(arranged);
        expectEqual('status', await shownStatus(context, arranged, 'failure'), 'failure');
      },
    },
  ],
});

/** Sends a log and a report concurrently, and requires that the target accepts both. */
async function logBesideReport(arranged: OfferedDeployment): Promise<void> {
  const path = { id: arranged.id };
  const messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message: 'at once' }];
  const [logResponse, reportResponse] = await Promise.all([
    arranged.device.call('put-deployment-log', { path, body: { messages } }),
    report(arranged, { status: 'failure' }),
  ]);
  requireResponse('put-deployment-log', logResponse, 204);
  requireResponse('put-deployment-status', reportResponse, 204);
}

export const raceCases = [...againstAbort, ...polls, ...together, ...logAndStatus];
