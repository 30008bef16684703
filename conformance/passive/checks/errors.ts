/** Passive checks of refusals: the Error body and its request ID. Spec: Error; Errors */
import { describeValue, responseSummary } from '../../target/expectations.ts';
import type { PassiveCheck, Violation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';

/** After this many refusals without a request ID, an operation is assumed never to send one. */
const UNNAMED_MAX = 16;

/** Request IDs that every server must accept unchanged; the contract leaves others open. */
const ordinaryId = /^[\x21-\x7e]{1,128}$/;

/**
 * Returns true if the response must have an Error body. Statuses that the contract does not list,
 * and refusals of requests in unusual forms, may come from a gateway in front of the server. For a
 * few refusals the contract shows no body.
 */
export function hasErrorBody({
  operation,
  hasBody,
  isNamedRefusal,
  isOrdinary,
  status,
}: JudgedExchange) {
  if (!hasBody || !isNamedRefusal || operation.bodilessRefusals?.includes(status)) return false;
  // A management operation may answer 409 with the conflicting resource.
  if (operation.authorization === 'user' && status === 409) return false;
  return isOrdinary || status === 401;
}

function memberViolation(
  { status }: JudgedExchange,
  name: string,
  details: Omit<Violation, 'part'>,
): Violation {
  return { part: `${status} body: /${name}`, ...details };
}

function hasMember(name: string): PassiveCheck['applies'] {
  return (exchange) => hasErrorBody(exchange) && exchange.responseObject?.[name] !== undefined;
}

function mustBeText(name: string): PassiveCheck['violation'] {
  return (exchange) => {
    const value = exchange.responseObject?.[name];
    if (typeof value === 'string') return undefined;
    return memberViolation(exchange, name, {
      expected: 'be a string',
      actual: describeValue(value),
    });
  };
}

function requestIdIn({ responseObject }: JudgedExchange): string | undefined {
  const id = responseObject?.request_id;
  return typeof id === 'string' ? id : undefined;
}

function hasRequestId(exchange: JudgedExchange): boolean {
  return hasErrorBody(exchange) && exchange.responseObject !== undefined;
}

function idViolation(exchange: JudgedExchange, expected: string): Violation {
  return memberViolation(exchange, 'request_id', {
    expected,
    actual: describeValue(requestIdIn(exchange) ?? 'none'),
  });
}

export const errorChecks: readonly PassiveCheck[] = [
  {
    id: 'error-body',
    requirement: 'errors.body-is-error',
    applies: hasErrorBody,
    violation: ({ responseObject, status, response }) => {
      if (responseObject !== undefined) return undefined;
      return {
        part: `${status} body`,
        expected: 'be a JSON object',
        actual: responseSummary(response),
      };
    },
  },
  {
    id: 'error-is-string',
    requirement: 'errors.error-is-string',
    applies: hasMember('error'),
    violation: mustBeText('error'),
  },
  {
    id: 'error-says-why',
    requirement: 'errors.says-why',
    applies: (exchange) => hasErrorBody(exchange) && exchange.responseObject !== undefined,
    violation: (exchange) => {
      const error = exchange.responseObject?.error;
      if (error !== undefined && error !== '') return undefined;
      return memberViolation(exchange, 'error', {
        expected: 'say why',
        actual: error === '' ? 'an empty string' : 'none',
      });
    },
  },
  {
    id: 'request-id-is-string',
    requirement: 'errors.request-id-is-string',
    applies: hasMember('request_id'),
    violation: mustBeText('request_id'),
  },
  {
    id: 'request-id-of-the-caller',
    requirement: 'errors.request-id-of-the-caller',
    applies: (exchange) => hasRequestId(exchange) && ordinaryId.test(exchange.requestId ?? ''),
    violation: (exchange) => {
      const id = requestIdIn(exchange);
      if (id === undefined || id === exchange.requestId) return undefined;
      return idViolation(exchange, `be the caller's, ${describeValue(exchange.requestId)}`);
    },
  },
  {
    id: 'request-id-of-the-server',
    requirement: 'errors.request-id-of-the-server',
    applies: (exchange) => hasRequestId(exchange) && exchange.requestId === undefined,
    violation: (exchange, { run }) => {
      const id = requestIdIn(exchange);
      if (id === undefined) return undefined;
      if (id === '') return idViolation(exchange, 'not be empty');
      return run.isNewRequestId(id)
        ? undefined
        : idViolation(exchange, 'be different for each request');
    },
  },
  {
    id: 'request-id-equals-header',
    requirement: 'errors.request-id-equals-header',
    applies: (exchange) =>
      hasRequestId(exchange) && exchange.response.headers[exchange.requestIdHeader] !== undefined,
    violation: (exchange) => {
      const id = requestIdIn(exchange);
      const inHeader = exchange.response.headers[exchange.requestIdHeader];
      if (id === undefined || id === inHeader) return undefined;
      return idViolation(exchange, `equal that of the header, ${describeValue(inHeader)}`);
    },
  },
  {
    id: 'names-the-request',
    requirement: 'errors.names-the-request',
    applies: hasRequestId,
    violation: (exchange, { run }) => {
      const hasId = exchange.responseObject?.request_id !== undefined;
      const withoutId = run.refusalsWithoutId(exchange.operation.id, hasId);
      if (withoutId < UNNAMED_MAX) return undefined;
      return idViolation(exchange, `be present in one of ${withoutId} refusals`);
    },
  },
];
