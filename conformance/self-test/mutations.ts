/** Ready-made mutations for defects that are common: a row then needs no function of its own. */
import {
  changedAt,
  changedJson,
  isSuccess,
  ownAnswer,
  withHeaders,
  withQuery,
  withStatus,
} from './alter.ts';
import type { Ask, Mutation, ProxiedAnswer, ProxiedRequest } from './defect.ts';
import { requestFor } from './requests.ts';

/** Whether a defect shows on a request. */
type Picks = (request: ProxiedRequest) => boolean;

const everyRequest: Picks = () => true;

/** Answers of one status are given another one: `statusBecomes(409, 204)` accepts a conflict. */
export function statusBecomes(
  from: number,
  to: number,
  picks: Picks = everyRequest,
): () => Mutation {
  return answerBecomes(
    (answer) => (answer.status === from ? withStatus(answer, to) : answer),
    picks,
  );
}

/** A refusal of any status becomes a success. */
export function refusalBecomes(to: number, picks: Picks = everyRequest): () => Mutation {
  return answerBecomes((answer) => (answer.status >= 400 ? withStatus(answer, to) : answer), picks);
}

/** Successful answers lack the member at the path (see `changedAt`). */
export function fieldLeftOut(path: string, picks: Picks = everyRequest): () => Mutation {
  return fieldBecomes(path, () => undefined, picks);
}

/** Successful answers hold another value at the path (see `changedAt`). */
export function fieldBecomes(
  path: string,
  change: (value: unknown) => unknown,
  picks: Picks = everyRequest,
): () => Mutation {
  return bodyBecomes((value) => changedAt(value, path, change), picks);
}

/** The JSON of successful answers is changed. */
export function bodyBecomes(
  change: (value: unknown) => unknown,
  picks: Picks = everyRequest,
): () => Mutation {
  return answerBecomes(
    (answer) => (isSuccess(answer) ? changedJson(answer, change) : answer),
    picks,
  );
}

/** Headers of answers are set, or taken away where the value is undefined. */
export function headersBecome(
  changes: Readonly<Record<string, string | undefined>>,
  picks: Picks = everyRequest,
): () => Mutation {
  return answerBecomes((answer) => withHeaders(answer, changes), picks);
}

/** Answers are changed. */
export function answerBecomes(
  change: (
    answer: ProxiedAnswer,
    request: ProxiedRequest,
    ask: Ask,
  ) => ProxiedAnswer | Promise<ProxiedAnswer>,
  picks: Picks = everyRequest,
): () => Mutation {
  return () => ({
    answer: (answer, request, ask) => (picks(request) ? change(answer, request, ask) : answer),
  });
}

/** Requests are changed before the target sees them. */
export function requestBecomes(
  change: (request: ProxiedRequest) => ProxiedRequest,
  picks: Picks = everyRequest,
): () => Mutation {
  return () => ({ request: (request) => (picks(request) ? change(request) : request) });
}

/** The target gets to see a parameter of the query with another value, or without one. */
export function parameterBecomes(
  name: string,
  value: string | undefined,
  picks: Picks = everyRequest,
): () => Mutation {
  return requestBecomes((request) => withQuery(request, { [name]: value }), picks);
}

/** The target gets to see another value at a path of the JSON body, or none (see `changedAt`). */
export function sentFieldBecomes(
  path: string,
  change: (value: unknown) => unknown,
  picks: Picks = everyRequest,
): () => Mutation {
  return requestBecomes(
    (request) => changedJson(request, (value) => changedAt(value, path, change)),
    picks,
  );
}

/**
 * A write is dropped although it is answered as if it were done. The target is not asked about it,
 * so pick only requests that are in order; whether their token is good is looked up first.
 */
export function dropped(status: number, picks: Picks = everyRequest): () => Mutation {
  return () => ({
    request: async (request, ask) => {
      if (!picks(request) || !(await isAuthorized(request, ask))) return request;
      return ownAnswer(status);
    },
  });
}

/** Whether the target takes the token of a request, asked by an operation that changes nothing. */
export async function isAuthorized({ headers }: ProxiedRequest, ask: Ask): Promise<boolean> {
  const { authorization = '' } = headers;
  for (const id of ['get-configuration', 'list-devices'] as const) {
    const request = requestFor(id);
    const { status } = await ask({ ...request, headers: { authorization } });
    if (status === 200) return true;
  }
  return false;
}
