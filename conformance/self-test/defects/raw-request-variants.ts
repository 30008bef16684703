/** Defects: the server supports only those variants of HTTP that its author's client uses. */
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import { ownResponse, withHeaders } from '../alter.ts';
import { requestBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';

const rows: readonly Operation[] = Object.values(operations);

/**
 * Returns operations for these defects, without links and WebSockets, which have no such variants.
 */
function idsOf(appliesTo: (row: Operation) => boolean): readonly OperationId[] {
  const apart = ['connect', 'download-configuration'];
  return rows
    .filter(appliesTo)
    .map(({ id }) => id as OperationId)
    .filter((id) => !apart.includes(id));
}

/** Answers 400 to the requests that `appliesTo` selects. */
function refusalOf(appliesTo: (request: ProxiedRequest) => boolean): () => Alteration {
  return () => ({
    request: (request) =>
      appliesTo(request) ? ownResponse(400, { error: 'refused', request_id: 'defect' }) : request,
  });
}

const expecting: readonly Defect[] = idsOf(({ body }) => body !== undefined).map((operation) => ({
  id: `${operation}-refuses-expect`,
  title: `The operation ${operation} refuses a request with Expect: 100-continue.`,
  violates: ['service.expect-continue'],
  operations: [operation],
  alter: refusalOf(({ headers }) => headers.expect !== undefined),
}));

const http10Defects: readonly Defect[] = idsOf(() => true).map((operation) => ({
  id: `${operation}-refuses-http-1-0`,
  title: `The operation ${operation} answers 400 to an HTTP/1.0 request.`,
  violates: ['service.http-1-0'],
  operations: [operation],
  alter: refusalOf(({ version }) => version === '1.0'),
}));

const pipelined = /-pipelined-(\d+)$/;

function locationOf({ headers }: ProxiedRequest): string | undefined {
  const id = Object.entries(headers).find(([name]) => name.endsWith('-requestid'))?.[1] ?? '';
  return pipelined.exec(id)?.[1];
}

/** Swaps the request IDs in the responses to two requests on one connection. */
function idsAreMixed(): Alteration {
  return {
    response: (response, request) => {
      const location = locationOf(request);
      if (location === undefined) return response;
      const name = Object.keys(response.headers).find((each) => each.endsWith('-requestid')) ?? '';
      const otherLocation = String(Number(location) ^ 1);
      const id = response.headers[name]?.replace(pipelined, `-pipelined-${otherLocation}`);
      return withHeaders(response, { [name]: id });
    },
  };
}

const one: readonly Defect[] = [
  {
    id: 'pipelined-responses-are-mixed',
    title: 'Two pipelined requests get the response of the other request.',
    violates: ['service.pipelining'],
    operations: 'all',
    alter: idsAreMixed,
  },
  {
    id: 'pipelined-requests-are-refused',
    title: 'A request that arrives before the previous one is answered is answered with 400.',
    violates: ['service.pipelining'],
    operations: 'all',
    alter: refusalOf((request) => Number(locationOf(request)) > 0),
  },
  {
    id: 'pipelined-requests-lose-their-token',
    title: 'Of pipelined requests, only the first is authenticated by its token.',
    violates: ['service.pipelining'],
    operations: 'all',
    alter: requestBecomes(
      (request) => withHeaders(request, { authorization: undefined }),
      (request) => Number(locationOf(request)) > 0,
    ),
  },
];

/** Spec: What the service does */
export const rawRequestVariantDefects: readonly Defect[] = [...expecting, ...http10Defects, ...one];
