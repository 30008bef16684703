/**
 * Checks on deployments: offers, status reports, control maps, links.
 * Spec: Device deployments v1, v2
 */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { isObject } from '../../../fixtures/base/json.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { statusRequirements } from '../../../fixtures/contract/requirements/deployment-status.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { deploymentStatusShape } from '../../../fixtures/contract/resources.ts';
import { instructionFields, instructionTypes } from '../../suite/instruction-fields.ts';
import { describeValue, responseSummary } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import {
  type ExchangeHistory,
  type PassiveCheck,
  statusViolation,
  type Violation,
} from '../check.ts';
import { type ObservedDeployment, SOURCE } from '../device-history.ts';
import { intermediateStatuses } from '../intermediate-statuses.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { memberAt, timeOf } from '../response-parts.ts';
import { isWronglyRefused, succeedsWith } from './device-responses.ts';

const polls = ['get-next-deployment', 'post-next-deployment', 'post-next-deployment-v2'] as const;
const pollsV1 = ['get-next-deployment', 'post-next-deployment'] as const;
const pollsV2 = ['post-next-deployment-v2'] as const;

function isInstructed({ status, responseObject }: JudgedExchange): boolean {
  return status === 200 && responseObject !== undefined;
}

/** Bodies that servers send with 200, instead of 204, when there is no update. */
const emptyUpdateBodies = ['', 'null', '{}', '[]'];

const fieldChecks: readonly PassiveCheck[] = instructionFields.flatMap(
  ({ field, type, isRequired, requirements: { v1, v2 } }) => {
    const steps = field.split('.');
    const rows = [
      [pollsV1, v1],
      [pollsV2, v2],
    ] as const;
    return rows.flatMap(([operations, requirement]) => {
      if (requirement === undefined) return [];
      return {
        requirement,
        operations,
        // Another requirement covers the presence of the parent object.
        applies: (exchange) =>
          isInstructed(exchange) && isObject(memberAt(exchange.responseJson, steps.slice(0, -1))),
        violation: ({ responseJson }) => {
          const value = memberAt(responseJson, steps);
          if (value === undefined ? !isRequired : instructionTypes[type](value)) return undefined;
          return {
            part: `200 body: /${steps.join('/')}`,
            expected: `be ${type}`,
            actual: describeValue(value),
          };
        },
      } satisfies PassiveCheck;
    });
  },
);

function areInstructions(
  requirement: RequirementId,
  operations: readonly OperationId[],
): PassiveCheck {
  return {
    requirement,
    operations,
    applies: ({ status, response }) =>
      status === 200 && !emptyUpdateBodies.includes(response.text.trim()),
    violation: ({ response, responseObject }) =>
      responseObject === undefined
        ? { part: '200 body', expected: 'be a JSON object', actual: responseSummary(response) }
        : undefined,
  };
}

function pendingIs200(requirement: RequirementId, operation: OperationId): PassiveCheck {
  return {
    requirement,
    operations: [operation],
    applies: ({ isSuccess, responseObject }) => isSuccess && isObject(responseObject?.artifact),
    violation: (exchange) => statusViolation(exchange, 200),
  };
}

/** Returns a check: a request is not malformed if `acceptsCount` accepts its number of keys. */
function acceptsKeys(
  requirement: RequirementId,
  operation: OperationId,
  acceptsCount: (keys: number) => boolean,
): PassiveCheck {
  return {
    requirement,
    operations: [operation],
    applies: (exchange, history) => {
      const { status, requestJson } = exchange;
      const { device_provides: provides = requestJson } = membersOf(requestJson);
      const isJudged = status === 200 || status === 204 || isWronglyRefused(exchange, history);
      return isJudged && acceptsCount(Object.keys(membersOf(provides)).length);
    },
    violation: (exchange) => statusViolation(exchange, 200, 204),
  };
}

type EndTimeOf = (deployment: ObservedDeployment) => number | undefined;

/** Returns the IDs of the deployments that, by `endMs`, ended before the device polled. */
function endedBefore(
  sentMs: number,
  { device }: ExchangeHistory,
  endMs: EndTimeOf,
): readonly string[] {
  return [...device.deployments].flatMap(([id, deployment]) => {
    const atMs = endMs(deployment);
    return atMs !== undefined && atMs <= sentMs ? [id] : [];
  });
}

function notOfferedAfter(
  requirement: RequirementId,
  event: string,
  endMs: EndTimeOf,
): PassiveCheck {
  return {
    requirement,
    operations: polls,
    applies: (exchange, history) => {
      const isAnswered = exchange.status === 204 || isInstructed(exchange);
      return isAnswered && endedBefore(exchange.request.sentMs, history, endMs).length > 0;
    },
    violation: ({ responseObject, request }, history) => {
      const endedIds = endedBefore(request.sentMs, history, endMs);
      const id = endedIds.find((each) => each === responseObject?.id);
      if (id === undefined) return undefined;
      const expected = `not be offered any more, since ${event}`;
      return { part: `deployment ${describeValue(id)}`, expected, actual: 'it is offered again' };
    },
  };
}

function finishMs({ lastReport }: ObservedDeployment): number | undefined {
  const isOver = lastReport?.status === 'success' || lastReport?.status === 'failure';
  return isOver ? lastReport.atMs : undefined;
}

const pollChecks: readonly PassiveCheck[] = [
  {
    requirement: 'next.nothing-is-204',
    operations: polls,
    applies: ({ isSuccess, hasBody, response }) =>
      isSuccess && hasBody && emptyUpdateBodies.includes(response.text.trim()),
    violation: (exchange) => statusViolation(exchange, 204),
  },
  pendingIs200('next.get-pending-is-200', 'get-next-deployment'),
  pendingIs200('next.post-pending-is-200', 'post-next-deployment'),
  pendingIs200('next.v2-pending-is-200', 'post-next-deployment-v2'),
  acceptsKeys('next.get-parameters', 'get-next-deployment', () => true),
  acceptsKeys('next.post-keys', 'post-next-deployment', (keys) => keys <= 2),
  acceptsKeys('next.free-pairs', 'post-next-deployment', (keys) => keys > 2),
  acceptsKeys('next.v2-keys', 'post-next-deployment-v2', (keys) => keys <= 2),
  acceptsKeys('next.v2-free-pairs', 'post-next-deployment-v2', (keys) => keys > 2),
  areInstructions('next.instructions-v1', pollsV1),
  areInstructions('next.instructions-v2', pollsV2),
  ...fieldChecks,
  {
    requirement: 'next.source-expires-later',
    operations: polls,
    applies: (exchange) => {
      const source = memberAt(exchange.responseJson, ['artifact', 'source']);
      const isReadable = ['undefined', 'string'].includes(typeof membersOf(source).expire);
      return isInstructed(exchange) && isObject(source) && isReadable;
    },
    violation: ({ responseJson, serverNowMs }) => {
      const expire = memberAt(responseJson, ['artifact', 'source', 'expire']);
      // Another requirement covers an expiry that is not a date-time.
      const endMs = timeOf(expire);
      if (endMs === undefined || endMs > serverNowMs) return undefined;
      return {
        part: '200 body: /artifact/source/expire',
        expected: 'be in the future',
        actual: describeValue(expire),
      };
    },
  },
  {
    requirement: 'next.control-map-id',
    operations: pollsV2,
    applies: ({ status, responseJson }) =>
      status === 200 && isObject(memberAt(responseJson, ['artifact', 'update_control_map'])),
    violation: ({ responseObject, responseJson }) =>
      otherMapId(
        memberAt(responseJson, ['artifact', 'update_control_map', 'id']),
        responseObject?.id,
      ),
  },
  notOfferedAfter('next.finished-is-over', 'its end was reported and accepted', finishMs),
  notOfferedAfter(
    'next.aborted-is-over',
    'a report was answered with 409',
    ({ abortedMs }) => abortedMs,
  ),
];

/** Returns a violation if the ID of an update control map is not `expectedId`. */
function otherMapId(id: unknown, expectedId: unknown): Violation | undefined {
  if (isDeepStrictEqual(id, expectedId)) return undefined;
  return {
    part: 'ID of the map',
    expected: `be ${describeValue(expectedId)}`,
    actual: describeValue(id),
  };
}

function deploymentOf(
  { deploymentId }: JudgedExchange,
  { device }: ExchangeHistory,
): ObservedDeployment | undefined {
  return device.deployments.get(deploymentId);
}

const finalByContract: readonly unknown[] = ['success', 'failure'];

/**
 * Returns true if a server must accept the report although the contract leaves the order of
 * statuses open: the report is the first one, repeats the recorded status, or advances from it.
 */
function isInOrder(exchange: JudgedExchange, history: ExchangeHistory): boolean {
  const { reports = 1, lastReport } = deploymentOf(exchange, history) ?? {};
  const { status } = membersOf(exchange.requestJson);
  if (reports === 0 || lastReport?.status === status) return true;
  const position = intermediateStatuses.indexOf(String(lastReport?.status));
  return (
    position >= 0 &&
    (finalByContract.includes(status) || intermediateStatuses.indexOf(String(status)) > position)
  );
}

type ReceivedReport = v.InferOutput<typeof deploymentStatusShape>;

/** Returns the report if it is valid and the server accepted it or should have accepted it. */
function judgedReport(
  exchange: JudgedExchange,
  history: ExchangeHistory,
): ReceivedReport | undefined {
  const { requestJson, isSuccess, status } = exchange;
  if (!v.is(deploymentStatusShape, requestJson)) return undefined;
  return isSuccess || (status === 400 && isInOrder(exchange, history)) ? requestJson : undefined;
}

function accepts(
  requirement: RequirementId,
  appliesTo: (report: ReceivedReport, lastReport: ObservedDeployment['lastReport']) => boolean,
): PassiveCheck {
  return {
    requirement,
    operations: ['put-deployment-status'],
    applies: (exchange, history) => {
      const report = judgedReport(exchange, history);
      return report !== undefined && appliesTo(report, deploymentOf(exchange, history)?.lastReport);
    },
    violation: ({ response, status }) =>
      status === 400
        ? { part: 'the report', expected: 'be accepted', actual: responseSummary(response) }
        : undefined,
  };
}

const reportChecks: readonly PassiveCheck[] = [
  {
    requirement: 'status.is-204',
    operations: ['put-deployment-status'],
    applies: ({ isSuccess }) => isSuccess,
    violation: (exchange) => statusViolation(exchange, 204),
  },
  accepts('status.each-value-is-accepted', () => true),
  ...Object.entries(statusRequirements).map(([name, requirement]) =>
    accepts(requirement, ({ status }) => status === name),
  ),
  accepts('status.substate', ({ substate }) => substate !== undefined),
  accepts('status.substate-is-optional', ({ substate }) => substate === undefined),
  accepts('status.repeated', ({ status }, lastReport) => lastReport?.status === status),
  {
    requirement: 'status.aborted-is-409',
    operations: ['put-deployment-status'],
    applies: (exchange, history) => {
      const { isSuccess, status, request } = exchange;
      const { abortedMs = Number.POSITIVE_INFINITY } = deploymentOf(exchange, history) ?? {};
      return abortedMs <= request.sentMs && (isSuccess || status === 409);
    },
    violation: (exchange) => statusViolation(exchange, 409),
  },
  {
    requirement: 'next.v2-id-is-usable',
    operations: ['put-deployment-status'],
    applies: (exchange, history) => {
      const { isSuccess, status } = exchange;
      const { operation, reports } = deploymentOf(exchange, history) ?? {};
      const isFirst = operation === 'post-next-deployment-v2' && reports === 0;
      return isFirst && (isSuccess || status === 404 || status === 409);
    },
    violation: ({ response, status }) =>
      status === 404
        ? {
            part: 'the deployment of that ID',
            expected: 'exist',
            actual: responseSummary(response),
          }
        : undefined,
  },
  succeedsWith(204, 'put-deployment-log', 'log.is-accepted'),
];

function mapIn({ status, responseObject }: JudgedExchange): unknown {
  return status === 200 ? responseObject?.update_control_map : undefined;
}

const mapChecks: readonly PassiveCheck[] = [
  {
    requirement: 'map.is-wrapped',
    operations: ['get-update-control-map'],
    applies: (exchange) => mapIn(exchange) !== undefined,
    violation: (exchange) => {
      if (isObject(mapIn(exchange))) return undefined;
      const actual = responseSummary(exchange.response);
      return { part: '200 body', expected: 'be an object with a map', actual };
    },
  },
  {
    requirement: 'map.id-is-the-deployment',
    operations: ['get-update-control-map'],
    applies: (exchange) => isObject(mapIn(exchange)),
    violation: (exchange) => otherMapId(membersOf(mapIn(exchange)).id, exchange.deploymentId),
  },
];

/** Statuses that reject the link itself; others may mean that the server is busy. */
const brokenLinkStatuses = [400, 401, 403, 404, 410];

const sourceCheck: PassiveCheck = {
  requirement: 'next.source-gives-the-artifact',
  operations: [SOURCE],
  applies: ({ request, serverNowMs, isSuccess, status }, { device }) => {
    const source = device.sourceOf(new URL(request.url).href);
    if (source === undefined) return false;
    const { expire } = source;
    const isOver = expire !== undefined && !(Date.parse(expire) > serverNowMs);
    return isSuccess || (!isOver && brokenLinkStatuses.includes(status));
  },
  violation: ({ status }) =>
    status < 300
      ? undefined
      : { part: 'the link', expected: 'return the artifact', actual: `status ${status}` },
};

/** Spec: Device deployments v1, v2; States and transitions; UpdateControlMap */
export const deploymentChecks: readonly PassiveCheck[] = [
  ...pollChecks,
  ...reportChecks,
  ...mapChecks,
  sourceCheck,
];
