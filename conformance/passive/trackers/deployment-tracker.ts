/**
 * Tracks the deployments that a case creates: what devices report, what users abort, and which
 * states and offers may follow. Spec: States and transitions
 */
import { describeValue } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import { intermediateStatuses } from '../intermediate-statuses.ts';
import { type JudgedExchange, segmentOf } from '../judged-exchange.ts';
import { type KnownDevices, locationOf } from './known-devices.ts';
import { type Span, TrackedValue, withUnknownEnd } from './tracked-value.ts';
import type { TrackedViolation, Tracker } from './tracker.ts';

const finalReports = ['success', 'failure', 'already-installed'];
const ABORTED = 'aborted';

/** Tracks the deployments of one case. */
export class DeploymentTracker implements Tracker {
  readonly #devices: KnownDevices;
  /** The state of each tracked deployment on each of its devices, by device ID. */
  readonly #deployments = new Map<string, Map<string, TrackedValue<string>>>();

  constructor(devices: KnownDevices) {
    this.#devices = devices;
  }

  judge(exchange: JudgedExchange): readonly TrackedViolation[] {
    switch (exchange.operation.id) {
      case 'create-deployment':
        return this.#judgeCreation(exchange);
      case 'abort-deployment':
        return this.#judgeAbort(exchange);
      case 'decommission-device':
        return this.#judgeDecommission(exchange.pathParameter('id'), exchange.request);
      case 'put-deployment-status':
        return this.#judgeReport(exchange);
      case 'get-next-deployment':
      case 'post-next-deployment':
      case 'post-next-deployment-v2':
        return this.#judgePoll(exchange);
      case 'list-deployment-devices':
        return this.#judgeList(exchange);
      default:
        return [];
    }
  }

  recordNoResponse(exchange: JudgedExchange): void {
    const { operation, requestJson } = exchange;
    const span = withUnknownEnd(exchange.request);
    if (operation.id === 'put-deployment-status') {
      const { status } = membersOf(requestJson);
      const value = typeof status === 'string' ? status : undefined;
      this.#stateFor(exchange)?.mayWrite(value, span);
    }
    if (operation.id === 'abort-deployment') {
      const states = this.#deployments.get(exchange.deploymentId)?.values() ?? [];
      for (const state of states) state.mayWrite(undefined, span);
    }
    const mayEndDeployments =
      operation.id.includes('next-deployment') || operation.id === 'decommission-device';
    const deviceId =
      operation.id === 'decommission-device'
        ? exchange.pathParameter('id')
        : this.#devices.idOf(exchange);
    if (!mayEndDeployments || deviceId === undefined) return;
    for (const states of this.#deployments.values()) {
      states.get(deviceId)?.mayWrite(undefined, span);
    }
  }

  /** A deployment that is repeated after a failure is not tracked. */
  #judgeCreation(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { devices, retries } = membersOf(exchange.requestJson);
    const id = locationOf(exchange);
    if (!exchange.isSuccess || id === undefined || !Array.isArray(devices)) return [];
    if (retries !== undefined) return [];
    this.#deployments.set(id, new Map(devices.map((each) => [each, new TrackedValue()])));
    return [];
  }

  #judgeAbort(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { isSuccess, request, status } = exchange;
    const states = this.#deployments.get(exchange.deploymentId)?.values() ?? [];
    for (const state of states) {
      // The contract leaves open what an abort changes after the end.
      const possibleStatuses = state.possibleAt(request);
      const isActive = possibleStatuses?.every((each) => !finalReports.includes(each)) ?? false;
      if (isSuccess) state.mayWrite(isActive ? ABORTED : undefined, withUnknownEnd(request));
      else if (status >= 500) state.mayWrite(undefined, request);
    }
    return [];
  }

  #judgeDecommission(deviceId: string, span: Span): readonly TrackedViolation[] {
    for (const states of this.#deployments.values())
      states.get(deviceId)?.mayWrite(undefined, span);
    return [];
  }

  #stateFor(exchange: JudgedExchange): TrackedValue<string> | undefined {
    const deviceId = this.#devices.idOf(exchange);
    const states = this.#deployments.get(exchange.deploymentId);
    return deviceId === undefined ? undefined : states?.get(deviceId);
  }

  #judgeReport(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { request, isSuccess, requestJson, status: responseStatus } = exchange;
    const state = this.#stateFor(exchange);
    const { status } = membersOf(requestJson);
    if (state === undefined || typeof status !== 'string') return [];
    const possibleStatuses = state.possibleAt(request);
    if (isSuccess) state.write(followsAll(status, possibleStatuses) ? status : undefined, request);
    else if (responseStatus >= 500) state.mayWrite(undefined, request);
    else if (responseStatus === 409) recordAbort(state, request);
    if (!isSuccess || !isOnly(possibleStatuses, [ABORTED])) return [];
    const requirement = 'status.aborted-is-409';
    return [
      {
        part: 'the report after the abort',
        expected: 'be answered with 409',
        actual: String(responseStatus),
        requirement,
      },
    ];
  }

  #judgePoll(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { request, status, responseObject } = exchange;
    const deviceId = this.#devices.idOf(exchange);
    if (deviceId === undefined) return [];
    const violations: TrackedViolation[] = [];
    for (const [id, states] of this.#deployments) {
      const state = states.get(deviceId);
      if (state === undefined) continue;
      const possibleStatuses = state.possibleAt(request);
      const isOver = isOnly(possibleStatuses, [ABORTED, 'success', 'failure']);
      const isOffered = status === 200 && responseObject?.id === id;
      if (isOffered && isOver) violations.push(offeredAgain(id, possibleStatuses ?? []));
      // A server may end a deployment that does not fit what the device says of itself.
      if (!isOffered && !isOver) state.mayWrite(undefined, request);
    }
    return violations;
  }

  #judgeList(exchange: JudgedExchange): readonly TrackedViolation[] {
    const { responseJson, request, status } = exchange;
    const id = segmentOf(request.url, 2);
    const states = this.#deployments.get(id);
    if (status !== 200 || !Array.isArray(responseJson) || states === undefined) return [];
    return responseJson.flatMap((each, index) => {
      const { id: deviceId, status: shownStatus } = membersOf(each);
      const state = states.get(String(deviceId));
      const allowedStatuses = state?.possibleAt(request);
      if (state !== undefined && shownStatus === ABORTED) recordAbort(state, request);
      if (allowedStatuses === undefined || allowedStatuses.includes(String(shownStatus))) return [];
      const requirement = isOnly(allowedStatuses, [ABORTED])
        ? ('status.aborted-stays' as const)
        : ('status.becomes-the-state' as const);
      const part = `200 body: /${index}/status`;
      const expected = `be ${allowedStatuses.join(' or ')}, by what was reported and aborted`;
      return [
        {
          part,
          expected,
          actual: describeValue(shownStatus),
          requirement,
          operation: 'put-deployment-status',
        },
      ];
    });
  }
}

/** Records that an abort has taken effect, if one was possible. */
function recordAbort(state: TrackedValue<string>, span: Span): void {
  if (state.possibleAt(span)?.includes(ABORTED)) state.write(ABORTED, span);
}

function offeredAgain(id: string, possibleStatuses: readonly string[]): TrackedViolation {
  const requirement = possibleStatuses.includes(ABORTED)
    ? 'next.aborted-is-over'
    : 'next.finished-is-over';
  const expected = `not be offered any more, since it is ${possibleStatuses.join(' or ')}`;
  return {
    part: `deployment ${describeValue(id)}`,
    expected,
    actual: 'it is offered again',
    requirement,
  };
}

function isOnly(
  values: readonly string[] | undefined,
  allowedStatuses: readonly string[],
): boolean {
  return (
    values !== undefined &&
    values.length > 0 &&
    values.every((each) => allowedStatuses.includes(each))
  );
}

/** Returns true if the report advances from, or repeats, every possible state before it. */
function followsAll(status: string, possibleStatuses: readonly string[] | undefined): boolean {
  return (possibleStatuses ?? []).every((each) => {
    if (each === status) return true;
    if (finalReports.includes(each) || each === ABORTED) return false;
    return (
      finalReports.includes(status) ||
      intermediateStatuses.indexOf(status) > intermediateStatuses.indexOf(each)
    );
  });
}
