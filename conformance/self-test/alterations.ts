/** Ready-made alterations for common defects, so that a row needs no function of its own. */
import {
  changedAt,
  changedJson,
  isSuccess,
  ownAnswer,
  withHeaders,
  withQuery,
  withStatus,
} from './alter.ts';
import type { Alteration, AskTarget, ProxiedAnswer, ProxiedRequest } from './defect.ts';
import { requestFor } from './requests.ts';
import type { RequestFilter } from './sent.ts';

const everyRequest: RequestFilter = () => true;

/** Changes the status of answers that have `from`: `statusBecomes(409, 204)` accepts a conflict. */
export function statusBecomes(
  from: number,
  to: number,
  picks: RequestFilter = everyRequest,
): () => Alteration {
  return answerBecomes(
    (answer) => (answer.status === from ? withStatus(answer, to) : answer),
    picks,
  );
}

/** Turns a refusal of any status into a success. */
export function refusalBecomes(to: number, picks: RequestFilter = everyRequest): () => Alteration {
  return answerBecomes((answer) => (answer.status >= 400 ? withStatus(answer, to) : answer), picks);
}

/** Removes the member at the path from successful answers (see `changedAt`). */
export function fieldLeftOut(path: string, picks: RequestFilter = everyRequest): () => Alteration {
  return fieldBecomes(path, () => undefined, picks);
}

/** Changes the value at the path in successful answers (see `changedAt`). */
export function fieldBecomes(
  path: string,
  change: (value: unknown) => unknown,
  picks: RequestFilter = everyRequest,
): () => Alteration {
  return bodyBecomes((value) => changedAt(value, path, change), picks);
}

/** Changes the JSON of successful answers. */
export function bodyBecomes(
  change: (value: unknown) => unknown,
  picks: RequestFilter = everyRequest,
): () => Alteration {
  return answerBecomes(
    (answer) => (isSuccess(answer) ? changedJson(answer, change) : answer),
    picks,
  );
}

/** Sets headers of answers; undefined removes one. */
export function headersBecome(
  changes: Readonly<Record<string, string | undefined>>,
  picks: RequestFilter = everyRequest,
): () => Alteration {
  return answerBecomes((answer) => withHeaders(answer, changes), picks);
}

/** Changes the answers to requests that `picks` selects; `ask` sends further ones to the target. */
export function answerBecomes(
  change: (
    answer: ProxiedAnswer,
    request: ProxiedRequest,
    ask: AskTarget,
  ) => ProxiedAnswer | Promise<ProxiedAnswer>,
  picks: RequestFilter = everyRequest,
): () => Alteration {
  return () => ({
    answer: (answer, request, ask) => (picks(request) ? change(answer, request, ask) : answer),
  });
}

/**
 * Changes one in `count` answers, starting with the first. Only answers that `change` would change
 * are counted; it returns any other answer itself.
 */
export function oneAnswerOf(
  count: number,
  change: (answer: ProxiedAnswer, request: ProxiedRequest) => ProxiedAnswer,
): () => Alteration {
  return () => {
    let seen = 0;
    return {
      answer: (answer, request) => {
        const made = change(answer, request);
        if (made === answer) return answer;
        seen += 1;
        return (seen - 1) % count === 0 ? made : answer;
      },
    };
  };
}

/** Changes requests before the target sees them. */
export function requestBecomes(
  change: (request: ProxiedRequest) => ProxiedRequest,
  picks: RequestFilter = everyRequest,
): () => Alteration {
  return () => ({ request: (request) => (picks(request) ? change(request) : request) });
}

/** Changes or removes a query parameter before the target sees it. */
export function parameterBecomes(
  name: string,
  value: string | undefined,
  picks: RequestFilter = everyRequest,
): () => Alteration {
  return requestBecomes((request) => withQuery(request, { [name]: value }), picks);
}

/** Changes or removes the value at a path of the sent JSON (see `changedAt`). */
export function sentFieldBecomes(
  path: string,
  change: (value: unknown) => unknown,
  picks: RequestFilter = everyRequest,
): () => Alteration {
  return requestBecomes(
    (request) => changedJson(request, (value) => changedAt(value, path, change)),
    picks,
  );
}

/**
 * Drops a write but answers as if it had succeeded, after a check of the token. The target does not
 * see the write, so `picks` must select valid requests only.
 */
export function dropped(status: number, picks: RequestFilter = everyRequest): () => Alteration {
  return () => ({
    request: async (request, ask) => {
      if (!picks(request) || !(await isAuthorized(request, ask))) return request;
      return ownAnswer(status);
    },
  });
}

/** Returns true when the target accepts the token of a request, using a read-only operation. */
export async function isAuthorized({ headers }: ProxiedRequest, ask: AskTarget): Promise<boolean> {
  const { authorization = '' } = headers;
  for (const id of ['get-configuration', 'list-devices'] as const) {
    const request = requestFor(id);
    const { status } = await ask({ ...request, headers: { authorization } });
    if (status === 200) return true;
  }
  return false;
}
