/** Steps of deployments: created and aborted by a user, requested and reported on by devices. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import type { PollVariant } from '../context/poll-variants.ts';
import { factoryProvides } from '../context/start-states.ts';
import { describeValue, responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { type ExpectedDeployment, type ExpectedState, nameOf } from './expected-state.ts';
import {
  checkTokenAccess,
  expectStatus,
  failWith,
  type ModelStep,
  type TargetDeployment,
  type TargetSide,
  targetDevice,
} from './step.ts';

const DEPLOYMENTS_MAX = 3;

/** A user creates a deployment for one device. */
export function deployStep(device: number): ModelStep {
  return {
    title: `a user creates a deployment for device ${nameOf(device)}`,
    isPossible: (expectedState) =>
      expectedState.device(device).status === 'accepted' &&
      expectedState.deployments.length < DEPLOYMENTS_MAX,
    run: async (expectedState, targetSide) => {
      const { context, deployments } = targetSide;
      const { name } = await context.artifact('plain');
      const { id } = targetDevice(targetSide, device);
      const { id: deploymentId } = await context.deploy({ artifact_name: name, devices: [id] });
      deployments.push({ deploymentId, id: deploymentId });
      expectedState.deployments.push({ device, offer: 'waiting' });
    },
  };
}

/** A user aborts a deployment that is not finished. */
export function abortStep(number: number): ModelStep {
  return {
    title: `a user aborts deployment ${number + 1}`,
    isPossible: (expectedState) => {
      const deployment = expectedState.deployments[number];
      return (
        deployment !== undefined &&
        deployment.end === undefined &&
        deployment.offer !== 'undetermined'
      );
    },
    run: async (expectedState, targetSide) => {
      const { deployment, targetDeployment } = expectedAndTargetDeployment(
        expectedState,
        targetSide,
        number,
      );
      await targetSide.context.admin.abort(targetDeployment.deploymentId);
      deployment.end = 'aborted';
      // The contract leaves open if a device may report on a deployment it was never offered.
      if (deployment.offer === 'waiting') deployment.offer = 'undetermined';
    },
  };
}

/** A device requests its next deployment. */
export function pollStep(index: number, variant: PollVariant): ModelStep {
  return {
    title: `device ${nameOf(index)} polls for an update by ${variant.label}`,
    isPossible: (expectedState) => expectedState.device(index).canCall,
    run: async (expectedState, targetSide) => {
      const response = await variant.poll(targetDevice(targetSide, index), factoryProvides);
      if (!checkTokenAccess(expectedState.device(index), response)) return;
      const active = dueDeployments(expectedState, index).find(({ offer }) => offer === 'offered');
      if (response.status === 409 && active !== undefined && active.offeredBy !== variant.slug) {
        // The contract leaves open if two variants of the request contradict each other.
        targetSide.recordObservation('polling again in another way', '409');
        active.offer = 'undetermined';
        return;
      }
      const poll = { expectedState, targetSide, index, variant, response, active };
      checkPollStatus(poll);
      if (response.status !== 200) return;
      const id = offeredId(poll);
      const offeredDeployment = expectedState.deployments[indexOfDeployment(targetSide, id)];
      if (offeredDeployment) {
        checkOffer(poll, offeredDeployment);
        applyOffer(poll, offeredDeployment);
      } else {
        checkUnknownOffer(poll);
        applyUnknownOffer(poll, id);
      }
    },
  };
}

/** An answered poll of a device, and the deployment that it was offered before. */
interface AnsweredPoll {
  readonly expectedState: ExpectedState;
  readonly targetSide: TargetSide;
  readonly index: number;
  readonly variant: PollVariant;
  readonly response: HttpResponse;
  readonly active: ExpectedDeployment | undefined;
}

const idInV1 = ['next.instructions-v1', 'next.v1-id'] as const;
const instructionsHaveId = {
  get: idInV1,
  post: idInV1,
  v2: ['next.instructions-v2', 'next.v2-id'],
} as const;

function deploymentsOf(expectedState: ExpectedState, index: number): ExpectedDeployment[] {
  return expectedState.deployments.filter(({ device }) => device === index);
}

function dueDeployments(expectedState: ExpectedState, index: number): ExpectedDeployment[] {
  return deploymentsOf(expectedState, index).filter(
    ({ offer, end }) => offer !== 'undetermined' && end === undefined,
  );
}

function checkPollStatus({ expectedState, index, variant, response, active }: AnsweredPoll): void {
  const repeatRequirements = active ? (['next.repeatable'] as const) : [];
  const hasDeployments = deploymentsOf(expectedState, index).length > 0;
  if (dueDeployments(expectedState, index).length > 0)
    expectStatus(response, [200], variant.pendingIs200, ...repeatRequirements);
  else expectStatus(response, hasDeployments ? [200, 204, 409] : [200, 204], 'next.nothing-is-204');
}

function checkOffer({ index, response, active }: AnsweredPoll, offered: ExpectedDeployment): void {
  const actual = responseSummary(response);
  if (offered.device !== index)
    failWith("none of another device's deployments", actual, 'next.own-deployments-only');
  if (offered.end === 'aborted') failWith('no aborted deployment', actual, 'next.aborted-is-over');
  // A deployment that was reported on after its end may be open again (`undetermined`). In that case the
  // model cannot know which deployment is due.
  if (offered.offer === 'undetermined') return;
  if (offered.end === 'finished')
    failWith('no finished deployment', actual, 'next.finished-is-over');
  if (active && offered !== active)
    failWith('the deployment that was offered before', actual, 'next.repeatable');
}

function applyOffer(
  { targetSide, expectedState, variant }: AnsweredPoll,
  offered: ExpectedDeployment,
): void {
  recordOfferOrder(targetSide, expectedState, offered);
  if (offered.offer === 'undetermined') return;
  if (offered.offer === 'waiting') offered.offeredBy = variant.slug;
  offered.offer = 'offered';
}

/** Version 2 may give a deployment a second ID, which works as well. */
function indexOfDeployment({ deployments }: TargetSide, id: string): number {
  return deployments.findIndex(
    (targetDeployment) => targetDeployment.id === id || targetDeployment.deploymentId === id,
  );
}

/** Checks an offer with an ID that the model does not know, which only version 2 may create. */
function checkUnknownOffer({ expectedState, index, variant, response }: AnsweredPoll): void {
  const actual = responseSummary(response);
  if (deploymentsOf(expectedState, index).length === 0)
    failWith('no update', actual, 'next.nothing-is-204');
  if (variant.slug !== 'v2') failWith("a deployment's ID", actual, 'next.id-of-the-deployment');
}

function applyUnknownOffer(
  { expectedState, targetSide, index, variant, active }: AnsweredPoll,
  id: string,
): void {
  // A finished deployment in the state `undetermined` may be the offered one.
  const candidates = deploymentsOf(expectedState, index).filter(
    ({ offer, end }) => end === undefined || (end === 'finished' && offer === 'undetermined'),
  );
  const [candidate] = active ? [active] : candidates;
  const targetDeployment =
    candidate && candidates.length === 1
      ? targetSide.deployments[expectedState.deployments.indexOf(candidate)]
      : undefined;
  // The deployment cannot be identified, so none of them is checked any more.
  if (!candidate || !targetDeployment) {
    expectedState.setUndetermined(index);
    return;
  }
  targetDeployment.id = id;
  candidate.offer = 'offered';
  candidate.offeredBy = variant.slug;
}

function recordOfferOrder(
  targetSide: TargetSide,
  expectedState: ExpectedState,
  offeredDeployment: ExpectedDeployment,
): void {
  const waitingDeployments = expectedState.deployments.filter(
    ({ device, offer, end }) => device === offeredDeployment.device && offer === 'waiting' && !end,
  );
  if (offeredDeployment.offer !== 'waiting' || waitingDeployments.length < 2) return;
  const isOldest = waitingDeployments[0] === offeredDeployment;
  targetSide.recordObservation(
    'of several pending deployments',
    isOldest ? 'the oldest first' : 'a newer first',
  );
}

function offeredId({ expectedState, index, variant, response: { text } }: AnsweredPoll): string {
  const id = /"id"\s*:\s*"([^"]+)"/.exec(withoutArtifact(text))?.[1];
  if (id !== undefined) return id;
  const isDue = dueDeployments(expectedState, index).length > 0;
  const noOfferRequirements = isDue ? [] : (['next.nothing-is-204'] as const);
  const requirements = [...instructionsHaveId[variant.slug], ...noOfferRequirements];
  return failWith('instructions with an ID', describeValue(text), ...requirements);
}

/** Returns the instructions without the artifact, which has an ID of its own. */
function withoutArtifact(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    return JSON.stringify({ ...(parsed as object), artifact: undefined });
  } catch {
    return '';
  }
}

/** A device reports a status for a deployment, its own or another's. */
export function reportStep(index: number, number: number, status: ReportableStatus): ModelStep {
  return {
    title: `device ${nameOf(index)} reports ${status} for deployment ${number + 1}`,
    isPossible: (expectedState) =>
      expectedState.device(index).canCall && number < expectedState.deployments.length,
    run: async (expectedState, targetSide) => {
      const { deployment, targetDeployment } = expectedAndTargetDeployment(
        expectedState,
        targetSide,
        number,
      );
      const response = await report(targetSide, index, targetDeployment, { status });
      if (!checkTokenAccess(expectedState.device(index), response)) return;
      if (deployment.device !== index) {
        expectStatus(response, [404], 'status.foreign-deployment-is-404');
        return;
      }
      if (deployment.offer !== 'offered') {
        expectStatus(response, [204, 404, 409], 'status.each-value-is-accepted');
        targetSide.recordObservation('a report for what was never offered', `${response.status}`);
        deployment.offer = 'undetermined';
        return;
      }
      if (deployment.end === 'aborted') {
        expectStatus(response, [409], 'status.aborted-is-409');
        return;
      }
      judgeReport(deployment, targetDeployment, { status, response });
      if (response.status === 204) applyReport(expectedState, deployment, status);
    },
  };
}

function judgeReport(
  deployment: ExpectedDeployment,
  { id, deploymentId }: TargetDeployment,
  { status, response }: { readonly status: ReportableStatus; readonly response: HttpResponse },
): void {
  const idRequirements = id === deploymentId ? [] : (['next.v2-id-is-usable'] as const);
  if (deployment.status === status) {
    expectStatus(response, [204], 'status.repeated', ...idRequirements);
    return;
  }
  const firstReportRequirements =
    deployment.status === undefined ? firstReportRequirementsOf(status) : [];
  expectStatus(
    response,
    [204],
    'status.each-value-is-accepted',
    ...firstReportRequirements,
    ...idRequirements,
  );
}

function firstReportRequirementsOf(status: ReportableStatus): readonly RequirementId[] {
  return ['success', 'failure'].includes(status) ? ['status.intermediate-is-optional'] : [];
}

function applyReport(
  expectedState: ExpectedState,
  deployment: ExpectedDeployment,
  status: ReportableStatus,
): void {
  deployment.status = status;
  const isFinal = status === 'success' || status === 'failure';
  if (isFinal && deployment.end === undefined) {
    deployment.end = 'finished';
    // The contract leaves open if an update older than the last one can still be used.
    for (const olderDeployment of expectedState.deployments.slice(
      0,
      expectedState.deployments.indexOf(deployment),
    )) {
      if (olderDeployment.device === deployment.device && olderDeployment.offer === 'waiting')
        olderDeployment.offer = 'undetermined';
    }
    return;
  }
  // The contract leaves open what may follow an end, and if `already-installed` is one.
  if (deployment.end === 'finished' && !isFinal) deployment.offer = 'undetermined';
  if (status === 'already-installed') deployment.offer = 'undetermined';
}

/** A device reports a status that the contract does not know. */
export function reportInvalidStatusStep(index: number, number: number, status: unknown): ModelStep {
  return {
    title: `device ${nameOf(index)} reports ${describeValue(status)} for deployment ${number + 1}`,
    isPossible: (expectedState) =>
      expectedState.device(index).canCall && number < expectedState.deployments.length,
    run: async (expectedState, targetSide) => {
      const { deployment, targetDeployment } = expectedAndTargetDeployment(
        expectedState,
        targetSide,
        number,
      );
      const response = await report(targetSide, index, targetDeployment, { status });
      if (!checkTokenAccess(expectedState.device(index), response)) return;
      const isActive =
        deployment.device === index &&
        deployment.offer === 'offered' &&
        deployment.end !== 'aborted';
      const requirement =
        typeof status === 'string' ? 'status.other-values-are-400' : 'status.is-string';
      expectStatus(response, isActive ? [400] : [400, 404, 409], requirement);
    },
  };
}

/** A user reads the status of a deployment on its device. */
export function readDeploymentStatusStep(number: number): ModelStep {
  return {
    title: `a user reads the status of deployment ${number + 1}`,
    isPossible: (expectedState) => {
      const deployment = expectedState.deployments[number];
      if (deployment === undefined || deployment.offer !== 'offered') return false;
      return deployment.status !== undefined || deployment.end === 'aborted';
    },
    run: async (expectedState, targetSide) => {
      const { deployment, targetDeployment } = expectedAndTargetDeployment(
        expectedState,
        targetSide,
        number,
      );
      const expected = deployment.end === 'aborted' ? 'aborted' : (deployment.status ?? '');
      const { id } = targetDevice(targetSide, deployment.device);
      const storedDeployment = await targetSide.eventually(
        () => targetSide.context.admin.deviceDeployment(targetDeployment.deploymentId, id),
        (deviceDeployment) => deviceDeployment?.status === expected,
      );
      if (storedDeployment?.status === expected) return;
      const reason = expected === 'aborted' ? 'status.aborted-stays' : 'status.becomes-the-state';
      failWith(`the state ${expected}`, describeValue(storedDeployment?.status ?? 'none'), reason);
    },
  };
}

/** A device uploads the log of a deployment. */
export function uploadLogStep(index: number, number: number, text: string): ModelStep {
  return {
    title: `device ${nameOf(index)} uploads the log "${text}" for deployment ${number + 1}`,
    isPossible: (expectedState) =>
      expectedState.device(index).canCall && number < expectedState.deployments.length,
    run: async (expectedState, targetSide) => {
      const { deployment, targetDeployment } = expectedAndTargetDeployment(
        expectedState,
        targetSide,
        number,
      );
      const messages = [{ timestamp: '2026-01-01T00:00:00Z', level: 'info', message: text }];
      const path = { id: targetDeployment.id };
      const device = targetDevice(targetSide, index);
      const response = await device.call('put-deployment-log', { path, body: { messages } });
      if (!checkTokenAccess(expectedState.device(index), response)) return;
      if (deployment.device !== index) {
        expectStatus(response, [404], 'log.foreign-deployment-is-404');
        return;
      }
      const isActive = deployment.offer === 'offered' && deployment.end !== 'aborted';
      expectStatus(response, isActive ? [204] : [204, 404, 409], 'log.is-accepted');
      if (response.status !== 204) return;
      if (deployment.log !== undefined && deployment.log !== text)
        deployment.olderLog = deployment.log;
      if (deployment.olderLog === text) delete deployment.olderLog;
      deployment.log = text;
    },
  };
}

/** A user reads the log of a deployment. */
export function readLogStep(number: number): ModelStep {
  return {
    title: `a user reads the log of deployment ${number + 1}`,
    isPossible: (expectedState) => {
      const deployment = expectedState.deployments[number];
      return deployment?.log !== undefined && deployment.offer === 'offered';
    },
    run: async (expectedState, targetSide) => {
      const { deployment, targetDeployment } = expectedAndTargetDeployment(
        expectedState,
        targetSide,
        number,
      );
      const { id } = targetDevice(targetSide, deployment.device);
      const { log = '', olderLog } = deployment;
      const containsOlderLog = (logText: string): boolean =>
        olderLog !== undefined && logText.includes(olderLog);
      const logText = await targetSide.eventually(
        async () =>
          (await targetSide.context.admin.deploymentLog(targetDeployment.deploymentId, id)) ?? '',
        (text) => text.includes(log) && !containsOlderLog(text),
      );
      if (!logText.includes(log))
        failWith(`the log "${log}"`, describeValue(logText), 'log.is-kept');
      if (containsOlderLog(logText))
        failWith(`no earlier log "${olderLog}"`, describeValue(logText), 'log.is-replaced');
    },
  };
}

function report(
  targetSide: TargetSide,
  index: number,
  { id }: TargetDeployment,
  body: { readonly status: unknown },
): Promise<HttpResponse> {
  return targetDevice(targetSide, index).call('put-deployment-status', { path: { id }, body });
}

function expectedAndTargetDeployment(
  expectedState: ExpectedState,
  targetSide: TargetSide,
  number: number,
): { deployment: ExpectedDeployment; targetDeployment: TargetDeployment } {
  const [deployment, targetDeployment] = [
    expectedState.deployments[number],
    targetSide.deployments[number],
  ];
  if (!deployment || !targetDeployment) throw new Error(`the sequence has no deployment ${number}`);
  return { deployment, targetDeployment };
}
