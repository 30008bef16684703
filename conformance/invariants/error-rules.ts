/** Invariants on refusals: the Error body and its request id. Spec: Error; Errors */
import { shown, shownAnswer } from '../target/expectations.ts';
import type { Fault, Invariant } from './invariant.ts';
import type { JudgedExchange } from './judged-exchange.ts';

/** After so many refusals none of which names its request, an operation is taken to name none. */
const UNNAMED_MAX = 16;

/** Ids that every server takes as they are; which others it takes is left open. */
const ordinaryId = /^[\x21-\x7e]{1,128}$/;

/**
 * Whether an Error body must come. Refusals that no row names come from what stands before a server,
 * as do those of a request that is hardly one of HTTP; for a few the contract shows no body.
 */
export function hasErrorBody({ row, hasBody, isNamedRefusal, isOrdinary, status }: JudgedExchange) {
  if (!hasBody || !isNamedRefusal || row.bodilessRefusals?.includes(status)) return false;
  // The conflict of a management operation may show what it conflicts with.
  if (row.authorization === 'user' && status === 409) return false;
  return isOrdinary || status === 401;
}

function memberFault({ status }: JudgedExchange, name: string, rest: Omit<Fault, 'where'>): Fault {
  return { where: `${status} body: /${name}`, ...rest };
}

function hasMember(name: string): Invariant['applies'] {
  return (exchange) => hasErrorBody(exchange) && exchange.object?.[name] !== undefined;
}

function mustBeText(name: string): Invariant['fault'] {
  return (exchange) => {
    const value = exchange.object?.[name];
    if (typeof value === 'string') return undefined;
    return memberFault(exchange, name, { must: 'be a text', seen: shown(value) });
  };
}

function requestIdIn({ object }: JudgedExchange): string | undefined {
  const id = object?.request_id;
  return typeof id === 'string' ? id : undefined;
}

const hasRequestId: Invariant['applies'] = (exchange) =>
  hasErrorBody(exchange) && exchange.object !== undefined;

function idFault(exchange: JudgedExchange, must: string): Fault {
  return memberFault(exchange, 'request_id', {
    must,
    seen: shown(requestIdIn(exchange) ?? 'none'),
  });
}

/** Spec: Error; Errors */
export const errorInvariants: readonly Invariant[] = [
  {
    id: 'error-body',
    requirement: 'errors.body-is-error',
    applies: hasErrorBody,
    fault: ({ object, status, answer }) => {
      if (object !== undefined) return undefined;
      return { where: `${status} body`, must: 'be a JSON object', seen: shownAnswer(answer) };
    },
  },
  {
    id: 'error-is-a-text',
    requirement: 'errors.error-is-a-text',
    applies: hasMember('error'),
    fault: mustBeText('error'),
  },
  {
    id: 'error-says-why',
    requirement: 'errors.says-why',
    applies: (exchange) => hasErrorBody(exchange) && exchange.object !== undefined,
    fault: (exchange) => {
      const error = exchange.object?.error;
      if (error !== undefined && error !== '') return undefined;
      return memberFault(exchange, 'error', {
        must: 'say why',
        seen: error === '' ? 'an empty text' : 'none',
      });
    },
  },
  {
    id: 'request-id-is-a-text',
    requirement: 'errors.request-id-is-a-text',
    applies: hasMember('request_id'),
    fault: mustBeText('request_id'),
  },
  {
    id: 'request-id-of-the-caller',
    requirement: 'errors.request-id-of-the-caller',
    applies: (exchange) => hasRequestId(exchange) && ordinaryId.test(exchange.requestId ?? ''),
    fault: (exchange) => {
      const id = requestIdIn(exchange);
      if (id === undefined || id === exchange.requestId) return undefined;
      return idFault(exchange, `be the caller's, ${shown(exchange.requestId)}`);
    },
  },
  {
    id: 'request-id-of-the-server',
    requirement: 'errors.request-id-of-the-server',
    applies: (exchange) => hasRequestId(exchange) && exchange.requestId === undefined,
    fault: (exchange, memory) => {
      const id = requestIdIn(exchange);
      if (id === undefined) return undefined;
      if (id === '') return idFault(exchange, 'not be empty');
      return memory.isNewRequestId(id)
        ? undefined
        : idFault(exchange, 'be another for each request');
    },
  },
  {
    id: 'request-id-equals-header',
    requirement: 'errors.request-id-equals-header',
    applies: (exchange) =>
      hasRequestId(exchange) && exchange.answer.headers[exchange.requestIdHeader] !== undefined,
    fault: (exchange) => {
      const id = requestIdIn(exchange);
      const inHeader = exchange.answer.headers[exchange.requestIdHeader];
      if (id === undefined || id === inHeader) return undefined;
      return idFault(exchange, `be that of the header, ${shown(inHeader)}`);
    },
  },
  {
    id: 'names-the-request',
    requirement: 'errors.names-the-request',
    applies: hasRequestId,
    fault: (exchange, memory) => {
      const isNamed = exchange.object?.request_id !== undefined;
      const unnamed = memory.unnamedRefusals(exchange.row.id, isNamed);
      if (unnamed < UNNAMED_MAX) return undefined;
      return idFault(exchange, `be there in one of ${unnamed} refusals`);
    },
  },
];
