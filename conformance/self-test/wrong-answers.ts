/**
 * Wrong answers to the requests of a case, each a mistake that any answer can have: refused, granted,
 * emptied, altered, without effect, out of date. A case that passes with all of them cannot fail.
 */

import { isObject } from '../../fixtures/base/json.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { changedJson, isSuccess, ownAnswer, withStatus, withText } from './alter.ts';
import { answerBecomes, requestBecomes } from './alterations.ts';
import type { Alteration, Defect, ProxiedAnswer, ProxiedRequest } from './defect.ts';

const contractIds = Object.keys(operations) as OperationId[];
/** Everything that the contract describes; acts of users are left right, since they arrange. */
const judged = [...contractIds, storageOperations['download-artifact'].id];

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

function emptied(answer: ProxiedAnswer): ProxiedAnswer {
  if (!isSuccess(answer)) return answer;
  const json = changedJson(answer, (value) => (Array.isArray(value) ? [] : {}));
  return json === answer ? withText(answer, '') : json;
}

function doubled(answer: ProxiedAnswer): ProxiedAnswer {
  return changedJson(answer, (value) =>
    Array.isArray(value) ? [...value, ...value].toReversed() : value,
  );
}

/** Answers each operation as it was first answered, whatever was requested since. */
function outOfDate(): Alteration {
  const first = new Map<unknown, ProxiedAnswer>();
  return {
    answer: (answer, { operation }) => {
      const known = first.get(operation) ?? answer;
      first.set(operation, known);
      return known;
    },
  };
}

/** Acknowledges changes without making them. */
function withoutEffect(): Alteration {
  return {
    request: (request) => (request.method === 'GET' ? request : ownAnswer(successOf(request))),
  };
}

const rows: readonly (readonly [title: string, alter: () => Alteration])[] = [
  [
    'Every request is refused with 400.',
    () => ({ request: () => ownAnswer(400, { error: 'wrong' }) }),
  ],
  [
    'Every refusal becomes a success without a body.',
    answerBecomes((answer, request) =>
      answer.status >= 400
        ? { ...withStatus(answer, successOf(request)), body: Buffer.alloc(0) }
        : answer,
    ),
  ],
  [
    'Every value in a JSON body is another one.',
    answerBecomes((answer) => changedJson(answer, altered)),
  ],
  ['Every successful response is empty.', answerBecomes(emptied)],
  ['Changes are acknowledged and not made.', withoutEffect],
  ['Each operation is answered as it was the first time.', outOfDate],
  ['Lists hold every entry twice, in reverse order.', answerBecomes(doubled)],
  ['Answers have no headers.', answerBecomes((answer) => ({ ...answer, headers: {} }))],
  ['The query of a request is ignored.', requestBecomes((request) => ({ ...request, query: '' }))],
  ['Every request is answered 404.', () => ({ request: () => ownAnswer(404, { error: 'wrong' }) })],
  ['Every request is answered 500.', () => ({ request: () => ownAnswer(500, { error: 'wrong' }) })],
  [
    'Every response is a web page with status 200.',
    answerBecomes((answer) => ({ ...answer, status: 200, body: Buffer.from('<p>wrong</p>') })),
  ],
  ['Frames on /connect are not passed on.', () => ({ frame: () => [], ended: () => false })],
];

/** A mistake in every answer of the operations. */
export interface WrongAnswer extends Pick<Defect, 'operations' | 'alter'> {
  /** A full sentence that states the mistake. */
  readonly title: string;
}

export const wrongAnswers: readonly WrongAnswer[] = rows.map(([title, alter]) => ({
  ...{ title, alter, operations: judged },
}));
