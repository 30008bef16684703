/** Rules on errors, and on the answers of operations that stand alone. Spec: Error; Errors */
import * as v from 'valibot';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { isObject } from '../context/instructions.ts';
import {
  expectEqual,
  expectJson,
  expectShape,
  expectThat,
  shown,
  shownAnswer,
} from '../target/expectations.ts';
import type { Seen } from './observed.ts';
import { succeedsWith, succeedsWithoutBody, type WatchRule } from './rule.ts';

/** The operations by which devices talk to a server and get JSON, where they get anything. */
export const deviceOperations = [
  'post-auth-request',
  'get-next-deployment',
  'post-next-deployment',
  'post-next-deployment-v2',
  'put-deployment-status',
  'put-deployment-log',
  'get-update-control-map',
  'get-configuration',
  'put-configuration',
  'post-alerts',
  'post-monitor-configuration',
  'patch-attributes',
  'put-attributes',
] as const satisfies readonly OperationId[];

const commonErrors = [401, 403, 429, 500];
/** Refusals for which the contract shows no body. */
const bodyless: Readonly<Partial<Record<string, number>>> = {
  'put-deployment-status': 409,
  'patch-attributes': 401,
  'put-attributes': 401,
};

/**
 * Whether the answer is an error that the contract names for its operation. Others come from what
 * stands before a server, or from one that does not know the path, and have bodies of their own.
 */
function isContractError({ operation, status, hasWholeBody }: Seen): boolean {
  if (status < 400 || !hasWholeBody || bodyless[operation] === status) return false;
  const named: readonly number[] = operations[operation as OperationId].refusals;
  return commonErrors.includes(status) || named.includes(status);
}

function expectErrorBody({ answer, received }: Seen): void {
  expectThat(isObject(received), 'a JSON object, an Error body', shownAnswer(answer));
}

function errorRule(
  requirement: RequirementId,
  expect: WatchRule['expect'],
  applies: WatchRule['applies'] = (seen) => isObject(seen.received),
): WatchRule {
  return {
    requirement,
    operations: deviceOperations,
    applies: (seen) => isContractError(seen) && applies(seen),
    expect,
  };
}

function idIn({ received }: Seen): unknown {
  return isObject(received) ? received.request_id : undefined;
}

const always = (): boolean => true;

const errorRules: readonly WatchRule[] = [
  errorRule('errors.body-is-error', expectErrorBody, always),
  errorRule('service.bodies-are-json', ({ answer }) => void expectJson(answer), always),
  errorRule('errors.error-is-a-text', ({ answer }) => {
    expectShape(answer, v.looseObject({ error: v.optional(v.string()) }));
  }),
  errorRule('errors.request-id-is-a-text', ({ answer }) => {
    expectShape(answer, v.looseObject({ request_id: v.optional(v.string()) }));
  }),
  errorRule(
    'errors.request-id-equals-header',
    (seen) =>
      expectEqual(
        'request_id',
        idIn(seen),
        seen.answer.headers[seen.names.requestId.toLowerCase()],
      ),
    (seen) =>
      typeof idIn(seen) === 'string' &&
      seen.answer.headers[seen.names.requestId.toLowerCase()] !== undefined,
  ),
  errorRule(
    'errors.request-id-of-the-server',
    (seen) => {
      const id = idIn(seen);
      const isOwn = id !== '' && id !== seen.device.requestId;
      expectThat(isOwn, 'a request id of its own for each request', `again ${shown(id)}`);
    },
    (seen) => typeof idIn(seen) === 'string' && seen.header(seen.names.requestId) === undefined,
  ),
  {
    requirement: 'auth.refusals-are-errors',
    operations: ['post-auth-request'],
    applies: isContractError,
    expect: expectErrorBody,
  },
];

const configurationRules: readonly WatchRule[] = [
  succeedsWith(204, 'put-configuration', 'configuration.write'),
  succeedsWithoutBody('put-configuration', 'configuration.write-has-no-body'),
  {
    requirement: 'configuration.read',
    operations: ['get-configuration'],
    applies: ({ isSuccess, hasWholeBody }) => isSuccess && hasWholeBody,
    expect: ({ answer, received }) =>
      expectThat(
        answer.status === 200 && isObject(received),
        'status 200 with a JSON object',
        `${answer.status} with ${shown(answer.text)}`,
      ),
  },
  {
    requirement: 'configuration.read-texts',
    operations: ['get-configuration'],
    applies: ({ isSuccess, received }) => isSuccess && isObject(received),
    expect: ({ answer }) => void expectShape(answer, v.record(v.string(), v.string())),
  },
];

/** Errors of every operation; configuration, monitor and inventory. */
export const answerRules: readonly WatchRule[] = [
  ...errorRules,
  ...configurationRules,
  succeedsWith(204, 'post-alerts', 'alerts.are-accepted'),
  succeedsWithoutBody('post-alerts', 'alerts.answer-has-no-body'),
  succeedsWith(204, 'post-monitor-configuration', 'monitor.is-accepted'),
  succeedsWithoutBody('post-monitor-configuration', 'monitor.answer-has-no-body'),
  succeedsWith(200, 'put-attributes', 'inventory.put-is-200'),
  succeedsWithoutBody('put-attributes', 'inventory.put-has-no-body'),
  succeedsWith(200, 'patch-attributes', 'inventory.patch-is-200'),
  succeedsWithoutBody('patch-attributes', 'inventory.patch-has-no-body'),
];
