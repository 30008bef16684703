/**
 * Checks on errors, and on responses that can be judged without earlier ones. Spec: Error; Errors
 */
import * as v from 'valibot';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { describeValue } from '../../target/expectations.ts';
import { passiveChecks } from '../catalogue.ts';
import { type ExchangeHistory, type PassiveCheck, statusViolation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { requirementOn } from '../response-parts.ts';

/** Bodies up to this size are not refused as too large, although the contract sets no limit. */
const SMALL_BODY_BYTES = 4096;

/** The operations of devices whose responses, if they have a body, are JSON. */
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

/** Operations whose successful response must have no body. */
const bodiless = [
  'post-alerts',
  'post-monitor-configuration',
  'put-configuration',
  'put-attributes',
  'patch-attributes',
] as const satisfies readonly OperationId[];

/** Returns a passive check limited to some operations, optionally for another requirement. */
export function passiveCheckOn(
  name: string,
  ids: readonly OperationId[],
  requirement?: RequirementId,
): PassiveCheck {
  const check = passiveChecks.find(({ id }) => id === name);
  if (!check) throw new Error(`there is no passive check ${name}`);
  return { ...check, operations: ids, ...(requirement && { requirement }) };
}

/** The passive checks of errors that hold even if a proxy is in front of the server. */
const proxiedErrorChecks: readonly PassiveCheck[] = [
  passiveCheckOn('error-body', deviceOperations),
  passiveCheckOn('error-body', ['post-auth-request'], 'auth.refusals-are-errors'),
  ...[
    ...['error-is-string', 'request-id-is-string', 'request-id-of-the-server'],
    ...['request-id-equals-header', 'body-is-json'],
  ].map((name) => passiveCheckOn(name, deviceOperations)),
];

const configurationChecks: readonly PassiveCheck[] = [
  succeedsWith(204, 'put-configuration', 'configuration.write'),
  {
    requirement: 'configuration.read',
    operations: ['get-configuration'],
    applies: ({ isSuccess, hasBody }) => isSuccess && hasBody,
    violation: ({ response, status, responseObject }) => {
      if (status === 200 && responseObject !== undefined) return undefined;
      const actual = `${status} with ${describeValue(response.text)}`;
      return { part: 'the response', expected: 'be status 200 with a JSON object', actual };
    },
  },
  {
    requirement: 'configuration.read-strings',
    operations: ['get-configuration'],
    applies: ({ isSuccess, responseObject }) => isSuccess && responseObject !== undefined,
    violation: ({ responseObject = {}, status }) => {
      const wrongMember = Object.entries(responseObject).find(
        ([, value]) => typeof value !== 'string',
      );
      if (wrongMember === undefined) return undefined;
      const [name, value] = wrongMember;
      return {
        part: `${status} body: /${name}`,
        expected: 'be a string',
        actual: describeValue(value),
      };
    },
  },
];

/** Checks on errors of every operation, and on configuration, monitor and inventory. */
export const responseChecks: readonly PassiveCheck[] = [
  ...proxiedErrorChecks,
  ...bodiless.map((id) => passiveCheckOn('no-body', [id], requirementOn(id, ['body']))),
  ...configurationChecks,
  succeedsWith(204, 'post-alerts', 'alerts.are-accepted'),
  succeedsWith(204, 'post-monitor-configuration', 'monitor.is-accepted'),
  succeedsWith(200, 'put-attributes', 'inventory.put-is-200'),
  succeedsWith(200, 'patch-attributes', 'inventory.patch-is-200'),
];

/**
 * Returns true if the request was refused with 400 although its body has the contract's shape, is
 * small, and is no longer than a body that the server accepted from this device before.
 */
export function isWronglyRefused(exchange: JudgedExchange, { device }: ExchangeHistory): boolean {
  const { contractOperation: operation, status, request, requestJson } = exchange;
  if (status !== 400 || operation === undefined) return false;
  const acceptedBytes = device.acceptedBytes.get(operation);
  if (acceptedBytes === undefined) return false;
  if (request.bodyBytes > Math.min(acceptedBytes, SMALL_BODY_BYTES)) return false;
  const { body } = operations[operation] as { readonly body?: v.GenericSchema };
  return body === undefined || v.is(body, requestJson);
}

/** Returns a check: a well-formed request is accepted, and the response has this status. */
export function succeedsWith(
  status: number,
  operation: OperationId,
  requirement: RequirementId,
): PassiveCheck {
  return {
    requirement,
    operations: [operation],
    applies: (exchange, history) => exchange.isSuccess || isWronglyRefused(exchange, history),
    violation: (exchange) => statusViolation(exchange, status),
  };
}
