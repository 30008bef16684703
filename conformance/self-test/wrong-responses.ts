/**
 * Wrong responses to the requests of a case, each wrong in a way that any response can be: refused,
 * granted, emptied, altered, without effect, out of date. A case that passes with all of them
 * cannot fail.
 */
import { isObject } from '../../fixtures/base/json.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { changedJson, isSuccess, ownResponse, withStatus, withText } from './alter.ts';
import { requestBecomes, responseBecomes } from './alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from './defect.ts';

const contractIds = Object.keys(operations) as OperationId[];
/** Everything that the contract describes; acts of users are left right, since they arrange. */
const judgedIds = [...contractIds, storageOperations['download-artifact'].id];

/** Returns the success that the contract documents for an operation; 200 for any other request. */
function successOf({ operation }: ProxiedRequest): number {
  const row = contractIds.find((id) => id === operation);
  return row === undefined ? 200 : Number(Object.keys(operations[row].success)[0]);
}

/** Returns a value with another value in place of each text, number and boolean. */
function altered(value: unknown): unknown {
  if (typeof value === 'string') return `${value}?`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return value.map(altered);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, altered(each)]));
}

function emptied(response: ProxiedResponse): ProxiedResponse {
  if (!isSuccess(response)) return response;
  const json = changedJson(response, (value) => (Array.isArray(value) ? [] : {}));
  return json === response ? withText(response, '') : json;
}

function doubled(response: ProxiedResponse): ProxiedResponse {
  return changedJson(response, (value) =>
    Array.isArray(value) ? [...value, ...value].toReversed() : value,
  );
}

/** Answers each operation as it was first answered, whatever was requested since. */
function outOfDate(): Alteration {
  const firstResponses = new Map<unknown, ProxiedResponse>();
  return {
    response: (response, { operation }) => {
      const firstResponse = firstResponses.get(operation) ?? response;
      firstResponses.set(operation, firstResponse);
      return firstResponse;
    },
  };
}

/** Acknowledges changes without making them. */
function withoutEffect(): Alteration {
  return {
    request: (request) => (request.method === 'GET' ? request : ownResponse(successOf(request))),
  };
}

const rows: readonly (readonly [title: string, alter: () => Alteration])[] = [
  [
    'Every request is refused with 400.',
    () => ({ request: () => ownResponse(400, { error: 'wrong' }) }),
  ],
  [
    'Every refusal becomes a success without a body.',
    responseBecomes((response, request) =>
      response.status >= 400
        ? { ...withStatus(response, successOf(request)), body: Buffer.alloc(0) }
        : response,
    ),
  ],
  [
    'Every value in a JSON body is another one.',
    responseBecomes((response) => changedJson(response, altered)),
  ],
  ['Every successful response is empty.', responseBecomes(emptied)],
  ['Changes are acknowledged and not made.', withoutEffect],
  ['Each operation is answered as it was the first time.', outOfDate],
  ['Lists hold every entry twice, in reverse order.', responseBecomes(doubled)],
  ['Responses have no headers.', responseBecomes((response) => ({ ...response, headers: {} }))],
  ['The query of a request is ignored.', requestBecomes((request) => ({ ...request, query: '' }))],
  [
    'Every request is answered with 404.',
    () => ({ request: () => ownResponse(404, { error: 'wrong' }) }),
  ],
  [
    'Every request is answered with 500.',
    () => ({ request: () => ownResponse(500, { error: 'wrong' }) }),
  ],
  [
    'Every response is a web page with status 200.',
    responseBecomes((response) => ({
      ...response,
      status: 200,
      body: Buffer.from('<p>wrong</p>'),
    })),
  ],
  ['Frames on /connect are not passed on.', () => ({ frame: () => [], ended: () => false })],
];

/** A wrong response to every request of the operations. */
export interface WrongResponse extends Pick<Defect, 'operations' | 'alter'> {
  /** A full sentence that states what is wrong. */
  readonly title: string;
}

export const wrongResponses: readonly WrongResponse[] = rows.map(([title, alter]) => ({
  title,
  alter,
  operations: judgedIds,
}));
