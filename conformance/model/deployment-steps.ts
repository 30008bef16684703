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
  type RealDeployment,
  realDevice,
  type TargetSide,
} from './step.ts';

const DEPLOYMENTS_MAX = 3;

/** A user creates a deployment for one device. */
export function deployStep(device: number): ModelStep {
  return {
    title: `a user creates a deployment for device ${nameOf(device)}`,
    isPossible: (expectedState) =>
      expectedState.device(device).identity === 'accepted' &&
      expectedState.deployments.length < DEPLOYMENTS_MAX,
    run: async (expectedState, targetSide) => {
      const { context, deployments } = targetSide;
      const { name } = await context.artifact('plain');
      const { id } = realDevice(targetSide, device);
      const { id: deploymentId } = await context.deploy({ artifact_name: name, devices: [id] });
      deployments.push({ deploymentId, id: deploymentId });
      expectedState.deployments.push({ device, offer: 'waiting' });
    },
  };
}

/** A user aborts a deployment that has not ended. */
export function abortStep(number: number): ModelStep {
  return {
    title: `a user aborts deployment ${number + 1}`,
    isPossible: (expectedState) => {
      const deployment = expectedState.deployments[number];
      return (
        deployment !== undefined &&
        deployment.over === undefined &&
        deployment.offer !== 'undetermined'
      );
    },
    run: async (expectedState, targetSide) => {
      const { deployment, real } = both(expectedState, targetSide, number);
      await targetSide.context.admin.abort(real.deploymentId);
      deployment.over = 'aborted';
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
      const response = await variant.poll(realDevice(targetSide, index), factoryProvides);
      if (!checkTokenAccess(expectedState.device(index), response)) return;
      const own = expectedState.deployments.filter(({ device }) => device === index);
      const active = own.find(({ offer, over }) => offer === 'offered' && over === undefined);
      if (response.status === 409 && active !== undefined && active.offeredBy !== variant.slug) {
        // The contract leaves open if two variants of the request contradict each other.
        targetSide.recordObservation('polling again in another way', '409');
        active.offer = 'undetermined';
        return;
      }
      judgeOffer({ expectedState, targetSide, index, variant, response, active });
    },
  };
}

interface OfferCheck {
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

function judgeOffer({
  expectedState,
  targetSide,
  index,
  variant,
  response,
  active,
}: OfferCheck): void {
  const own = expectedState.deployments.filter(({ device }) => device === index);
  const due = own.filter(({ offer, over }) => offer !== 'undetermined' && over === undefined);
  const again = active ? (['next.repeatable'] as const) : [];
  if (due.length > 0) expectStatus(response, [200], variant.pendingIs200, ...again);
  else expectStatus(response, own.length > 0 ? [200, 204, 409] : [200, 204], 'next.nothing-is-204');
  if (response.status !== 200) return;
  const unoffered = due.length === 0 ? (['next.nothing-is-204'] as const) : [];
  const id = offeredId(response, ...instructionsHaveId[variant.slug], ...unoffered);
  const offered = expectedState.deployments[indexOfDeployment(targetSide, id)];
  if (!offered) {
    judgeUnknownId({ expectedState, targetSide, index, variant, response, active }, id);
    return;
  }
  const seen = responseSummary(response);
  if (offered.device !== index) {
    failWith("none of another device's deployments", seen, 'next.own-deployments-only');
  }
  if (offered.over === 'aborted') failWith('no aborted deployment', seen, 'next.aborted-is-over');
  if (offered.over === 'finished' && offered.offer !== 'undetermined') {
    failWith('no finished deployment', seen, 'next.finished-is-over');
  }
  // A deployment that was reported on after its end may be open again (`undetermined`). In that case the
  // model cannot know which deployment is due.
  if (active?.offer === 'offered' && offered !== active && offered.offer !== 'undetermined') {
    failWith('the deployment that was offered before', seen, 'next.repeatable');
  }
  note(targetSide, expectedState, offered);
  if (offered.offer === 'undetermined') return;
  if (offered.offer === 'waiting') offered.offeredBy = variant.slug;
  offered.offer = 'offered';
}

/** Version 2 may give a deployment a second ID, which works as well. */
function indexOfDeployment({ deployments }: TargetSide, id: string): number {
  return deployments.findIndex((real) => real.id === id || real.deploymentId === id);
}

/** Judges an offer with an ID that the model does not know, which only version 2 may create. */
function judgeUnknownId(
  { expectedState, targetSide, index, variant, response, active }: OfferCheck,
  id: string,
): void {
  const own = expectedState.deployments.filter(({ device }) => device === index);
  if (own.length === 0) failWith('no update', responseSummary(response), 'next.nothing-is-204');
  if (variant.slug !== 'v2') {
    failWith("a deployment's ID", responseSummary(response), 'next.id-of-the-deployment');
  }
  // A finished deployment in the state `undetermined` may be the offered one.
  const possible = own.filter(
    ({ offer, over }) => over === undefined || (over === 'finished' && offer === 'undetermined'),
  );
  const [only] = active ? [active] : possible;
  const real =
    only && possible.length === 1
      ? targetSide.deployments[expectedState.deployments.indexOf(only)]
      : undefined;
  // The deployment cannot be identified, so none of them is checked any more.
  if (!only || !real) {
    expectedState.setUndetermined(index);
    return;
  }
  real.id = id;
  only.offer = 'offered';
  only.offeredBy = variant.slug;
}

function note(
  targetSide: TargetSide,
  expectedState: ExpectedState,
  offered: ExpectedDeployment,
): void {
  const waiting = expectedState.deployments.filter(
    ({ device, offer, over }) => device === offered.device && offer === 'waiting' && !over,
  );
  if (offered.offer !== 'waiting' || waiting.length < 2) return;
  const isOldest = waiting[0] === offered;
  targetSide.recordObservation(
    'of several pending deployments',
    isOldest ? 'the oldest first' : 'a newer first',
  );
}

function offeredId({ text }: HttpResponse, ...reason: readonly RequirementId[]): string {
  const id = /"id"\s*:\s*"([^"]+)"/.exec(withoutArtifact(text))?.[1];
  return id ?? failWith('instructions with an ID', describeValue(text), ...reason);
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
export function reports(index: number, number: number, status: ReportableStatus): ModelStep {
  return {
    title: `device ${nameOf(index)} reports ${status} for deployment ${number + 1}`,
    isPossible: (expectedState) =>
      expectedState.device(index).canCall && number < expectedState.deployments.length,
    run: async (expectedState, targetSide) => {
      const { deployment, real } = both(expectedState, targetSide, number);
      const response = await report(targetSide, index, real, { status });
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
      if (deployment.over === 'aborted') {
        expectStatus(response, [409], 'status.aborted-is-409');
        return;
      }
      judgeReport(deployment, real, { status, response });
      if (response.status === 204) become(expectedState, deployment, status);
    },
  };
}

function judgeReport(
  deployment: ExpectedDeployment,
  { id, deploymentId }: RealDeployment,
  { status, response }: { readonly status: ReportableStatus; readonly response: HttpResponse },
): void {
  const ofId = id === deploymentId ? [] : (['next.v2-id-is-usable'] as const);
  if (deployment.status === status) {
    expectStatus(response, [204], 'status.repeated', ...ofId);
    return;
  }
  const first = deployment.status === undefined ? optional(status) : [];
  expectStatus(response, [204], 'status.each-value-is-accepted', ...first, ...ofId);
}

function optional(status: ReportableStatus): readonly RequirementId[] {
  return ['success', 'failure'].includes(status) ? ['status.intermediate-is-optional'] : [];
}

function become(
  expectedState: ExpectedState,
  deployment: ExpectedDeployment,
  status: ReportableStatus,
): void {
  deployment.status = status;
  const isFinal = status === 'success' || status === 'failure';
  if (isFinal && deployment.over === undefined) {
    deployment.over = 'finished';
    // The contract leaves open if an update older than the last one can still be used.
    for (const older of expectedState.deployments.slice(
      0,
      expectedState.deployments.indexOf(deployment),
    )) {
      if (older.device === deployment.device && older.offer === 'waiting')
        older.offer = 'undetermined';
    }
    return;
  }
  // The contract leaves open what may follow an end, and if `already-installed` is one.
  if (deployment.over === 'finished' && !isFinal) deployment.offer = 'undetermined';
  if (status === 'already-installed') deployment.offer = 'undetermined';
}

/** A device reports a status that the contract does not know. */
export function reportsWrongly(index: number, number: number, status: unknown): ModelStep {
  return {
    title: `device ${nameOf(index)} reports ${describeValue(status)} for deployment ${number + 1}`,
    isPossible: (expectedState) =>
      expectedState.device(index).canCall && number < expectedState.deployments.length,
    run: async (expectedState, targetSide) => {
      const { deployment, real } = both(expectedState, targetSide, number);
      const response = await report(targetSide, index, real, { status });
      if (!checkTokenAccess(expectedState.device(index), response)) return;
      const isPlain =
        deployment.device === index &&
        deployment.offer === 'offered' &&
        deployment.over !== 'aborted';
      const requirement =
        typeof status === 'string' ? 'status.other-values-are-400' : 'status.is-string';
      expectStatus(response, isPlain ? [400] : [400, 404, 409], requirement);
    },
  };
}

/** A user reads the status of a deployment on its device. */
export function showDeploymentStep(number: number): ModelStep {
  return {
    title: `a user reads the status of deployment ${number + 1}`,
    isPossible: (expectedState) => {
      const deployment = expectedState.deployments[number];
      if (deployment === undefined || deployment.offer !== 'offered') return false;
      return deployment.status !== undefined || deployment.over === 'aborted';
    },
    run: async (expectedState, targetSide) => {
      const { deployment, real } = both(expectedState, targetSide, number);
      const expected = deployment.over === 'aborted' ? 'aborted' : (deployment.status ?? '');
      const { id } = realDevice(targetSide, deployment.device);
      const found = await targetSide.eventually(
        () => targetSide.context.admin.deviceDeployment(real.deploymentId, id),
        (shownDeviceDeployment) => shownDeviceDeployment?.status === expected,
      );
      if (found?.status === expected) return;
      const reason = expected === 'aborted' ? 'status.aborted-stays' : 'status.becomes-the-state';
      failWith(`the state ${expected}`, describeValue(found?.status ?? 'none'), reason);
    },
  };
}

/** A device uploads the log of a deployment. */
export function uploadsLog(index: number, number: number, text: string): ModelStep {
  return {
    title: `device ${nameOf(index)} uploads the log "${text}" for deployment ${number + 1}`,
    isPossible: (expectedState) =>
      expectedState.device(index).canCall && number < expectedState.deployments.length,
    run: async (expectedState, targetSide) => {
      const { deployment, real } = both(expectedState, targetSide, number);
      const messages = [{ timestamp: '2026-01-01T00:00:00Z', level: 'info', message: text }];
      const path = { id: real.id };
      const device = realDevice(targetSide, index);
      const response = await device.call('put-deployment-log', { path, body: { messages } });
      if (!checkTokenAccess(expectedState.device(index), response)) return;
      if (deployment.device !== index) {
        expectStatus(response, [404], 'log.foreign-deployment-is-404');
        return;
      }
      const isPlain = deployment.offer === 'offered' && deployment.over !== 'aborted';
      expectStatus(response, isPlain ? [204] : [204, 404, 409], 'log.is-accepted');
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
      const { deployment, real } = both(expectedState, targetSide, number);
      const { id } = realDevice(targetSide, deployment.device);
      const { log = '', olderLog } = deployment;
      const isOld = (found: string): boolean => olderLog !== undefined && found.includes(olderLog);
      const found = await targetSide.eventually(
        async () => (await targetSide.context.admin.deploymentLog(real.deploymentId, id)) ?? '',
        (text) => text.includes(log) && !isOld(text),
      );
      if (!found.includes(log)) failWith(`the log "${log}"`, describeValue(found), 'log.is-kept');
      if (isOld(found))
        failWith(`no earlier log "${olderLog}"`, describeValue(found), 'log.is-replaced');
    },
  };
}

function report(
  targetSide: TargetSide,
  index: number,
  { id }: RealDeployment,
  body: { readonly status: unknown },
): Promise<HttpResponse> {
  return realDevice(targetSide, index).call('put-deployment-status', { path: { id }, body });
}

function both(
  expectedState: ExpectedState,
  targetSide: TargetSide,
  number: number,
): { deployment: ExpectedDeployment; real: RealDeployment } {
  const [deployment, real] = [expectedState.deployments[number], targetSide.deployments[number]];
  if (!deployment || !real) throw new Error(`the sequence has no deployment ${number}`);
  return { deployment, real };
}
