/** Ready-made alterations for common defects, so that a row needs no function of its own. */
import {
  changedAt,
  changedJson,
  isSuccess,
  ownResponse,
  withHeaders,
  withQuery,
  withStatus,
} from './alter.ts';
import type { Alteration, ProxiedRequest, ProxiedResponse, SendToTarget } from './defect.ts';
import { requestFor } from './requests.ts';
import type { RequestFilter } from './sent.ts';

const everyRequest: RequestFilter = () => true;

/**
 * Changes the status of responses that have `from`: `statusBecomes(409, 204)` accepts a conflict.
 */
export function statusBecomes(
  from: number,
  to: number,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return responseBecomes(
    (response) => (response.status === from ? withStatus(response, to) : response),
    appliesTo,
  );
}

/** Turns a refusal of any status into a success. */
export function refusalBecomes(
  to: number,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return responseBecomes(
    (response) => (response.status >= 400 ? withStatus(response, to) : response),
    appliesTo,
  );
}

/** Removes the member at the path from successful responses (see `changedAt`). */
export function fieldLeftOut(
  path: string,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return fieldBecomes(path, () => undefined, appliesTo);
}

/** Changes the value at the path in successful responses (see `changedAt`). */
export function fieldBecomes(
  path: string,
  change: (value: unknown) => unknown,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return bodyBecomes((value) => changedAt(value, path, change), appliesTo);
}

/** Changes the JSON of successful responses. */
export function bodyBecomes(
  change: (value: unknown) => unknown,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return responseBecomes(
    (response) => (isSuccess(response) ? changedJson(response, change) : response),
    appliesTo,
  );
}

/** Sets headers of responses; undefined removes one. */
export function headersBecome(
  changes: Readonly<Record<string, string | undefined>>,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return responseBecomes((response) => withHeaders(response, changes), appliesTo);
}

/**
 * Changes the responses to requests that `appliesTo` selects; `send` sends further ones to the
 * target.
 */
export function responseBecomes(
  change: (
    response: ProxiedResponse,
    request: ProxiedRequest,
    send: SendToTarget,
  ) => ProxiedResponse | Promise<ProxiedResponse>,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return () => ({
    response: (response, request, send) =>
      appliesTo(request) ? change(response, request, send) : response,
  });
}

/**
 * Changes one in `count` responses, starting with the first. Only responses that `change` would
 * change are counted; it returns any other response itself.
 */
export function oneResponseOf(
  count: number,
  change: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse,
): () => Alteration {
  return () => {
    let changeCount = 0;
    return {
      response: (response, request) => {
        const changedResponse = change(response, request);
        if (changedResponse === response) return response;
        changeCount += 1;
        return (changeCount - 1) % count === 0 ? changedResponse : response;
      },
    };
  };
}

/** Changes requests before the target sees them. */
export function requestBecomes(
  change: (request: ProxiedRequest) => ProxiedRequest,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return () => ({ request: (request) => (appliesTo(request) ? change(request) : request) });
}

/** Changes or removes a query parameter before the target sees it. */
export function parameterBecomes(
  name: string,
  value: string | undefined,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return requestBecomes((request) => withQuery(request, { [name]: value }), appliesTo);
}

/** Changes or removes the value at a path of the sent JSON (see `changedAt`). */
export function sentFieldBecomes(
  path: string,
  change: (value: unknown) => unknown,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return requestBecomes(
    (request) => changedJson(request, (value) => changedAt(value, path, change)),
    appliesTo,
  );
}

/**
 * Drops a write but answers as if it had succeeded, after a check of the token. The target does not
 * see the write, so `appliesTo` must select valid requests only.
 */
export function dropRequests(
  status: number,
  appliesTo: RequestFilter = everyRequest,
): () => Alteration {
  return () => ({
    request: async (request, send) => {
      if (!appliesTo(request) || !(await isAuthorized(request, send))) return request;
      return ownResponse(status);
    },
  });
}

/** Returns true when the target accepts the token of a request, using a read-only operation. */
export async function isAuthorized(
  { headers }: ProxiedRequest,
  send: SendToTarget,
): Promise<boolean> {
  const { authorization = '' } = headers;
  for (const id of ['get-configuration', 'list-devices'] as const) {
    const request = requestFor(id);
    const { status } = await send({ ...request, headers: { authorization } });
    if (status === 200) return true;
  }
  return false;
}
