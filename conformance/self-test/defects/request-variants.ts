/**
 * Defects: the server accepts a request in one of its equivalent variants only, or a token in
 * another place.
 */
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import { ownResponse, queryOf, withHeaders } from '../alter.ts';
import { requestBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';
import type { RequestFilter } from '../sent.ts';

/** Refuses the requests that `appliesTo` selects. */
export function refuseRequests(status: number, appliesTo: RequestFilter): () => Alteration {
  return () => ({
    request: (request) =>
      appliesTo(request)
        ? ownResponse(status, { error: 'refused', request_id: 'defect' })
        : request,
  });
}

/** A variant of a valid request that a server may not handle. */
interface VariantDefect {
  readonly id: string;
  readonly title: string;
  readonly status: number;
  readonly appliesTo: RequestFilter;
  readonly violates?: Defect['violates'];
}

export const equivalence = ['service.equal-forms'] as const;

const variantDefects: readonly VariantDefect[] = [
  {
    id: 'refuses-chunks',
    title: 'refuses a body without Content-Length',
    status: 411,
    appliesTo: ({ headers }) => headers['transfer-encoding'] !== undefined,
    violates: ['service.chunked-bodies', 'service.equal-forms'],
  },
  {
    id: 'refuses-a-charset',
    title: 'refuses JSON that is labelled with a charset',
    status: 415,
    appliesTo: ({ headers }) => /charset/i.test(headers['content-type'] ?? ''),
  },
  {
    id: 'compares-media-types-exactly',
    title: 'refuses a media type in capital letters',
    status: 415,
    appliesTo: ({ headers }) => /[A-Z]/.test(headers['content-type'] ?? ''),
  },
  {
    id: 'reads-a-body-that-is-announced',
    title: 'refuses a request that has a Content-Type and no body',
    status: 400,
    appliesTo: ({ headers, body, method }) =>
      method === 'GET' && headers['content-type'] !== undefined && body.length === 0,
  },
  {
    id: 'compares-queries-as-text',
    title: 'refuses a query with percent-encoded letters',
    status: 400,
    appliesTo: ({ query }) => /%[46][1-9a-f]|%[57][0-9a]/i.test(query),
  },
  {
    id: 'compares-accept-exactly',
    title: 'answers 406 to an Accept with several types',
    status: 406,
    appliesTo: ({ headers }) => /;q=/.test(headers.accept ?? ''),
  },
  {
    id: 'refuses-cookies',
    title: 'refuses a request with an unrelated cookie',
    violates: ['service.equal-forms', 'connect.cookie-among-others'],
    status: 400,
    appliesTo: ({ headers }) => headers.cookie?.includes('theme=') ?? false,
  },
];

/** The operations that the cases on request variants call. */
const calledIds = (Object.keys(operations) as OperationId[]).filter(
  (id) => !['connect', 'download-configuration', 'get-update-control-map'].includes(id),
);

function isSentSo({ id }: VariantDefect, operation: OperationId): boolean {
  const { method } = operations[operation];
  const takesQuery = [
    'list-artifacts',
    'get-next-deployment',
    'list-audit-logs',
    'export-audit-logs',
  ];
  if (id === 'compares-queries-as-text') return takesQuery.includes(operation);
  if (id === 'reads-a-body-that-is-announced') return method === 'GET';
  const isOfBodies = ['refuses-chunks', 'refuses-a-charset', 'compares-media-types-exactly'];
  return !isOfBodies.includes(id) || method !== 'GET';
}

/** The operations that cases call in other variants. Tokens in other places are sent to fewer. */
const calledInVariants: readonly OperationId[] = [
  ...calledIds,
  'connect',
  'get-update-control-map',
];

/** A defect for each variant on each operation that can be called in the variant. */
const everyVariant: readonly Defect[] = variantDefects.flatMap((variant) =>
  calledInVariants
    .filter((operation) => isSentSo(variant, operation))
    .map((operation) => ({
      id: `${operation}-${variant.id}`,
      title: `The operation ${operation} ${variant.title}.`,
      violates: variant.violates ?? equivalence,
      operations: [operation],
      alter: refuseRequests(variant.status, variant.appliesTo),
    })),
);

/** Refuses the third equal request of a device to an operation. */
function refusesTheThird(): Alteration {
  const countsByToken = new Map<string, number>();
  return {
    request: (request) => {
      const { authorization = '' } = request.headers;
      const text = request.body.toString();
      if (!/marker|downloading|conformance-[0-9a-f]{8}-/.test(text + request.query)) return request;
      const count = (countsByToken.get(authorization) ?? 0) + 1;
      countsByToken.set(authorization, count);
      return count < 3 ? request : ownResponse(409, { error: 'again', request_id: 'defect' });
    },
  };
}

const repetitionDefects: readonly Defect[] = (
  ['put-attributes', 'patch-attributes', 'put-configuration', 'put-deployment-log'] as const
).map((operation) => ({
  id: `${operation}-a-third-time-is-refused`,
  title: `The operation ${operation} answers 409 to the third request of a device.`,
  violates: ['service.equal-forms', 'service.chunked-bodies'],
  operations: [operation],
  alter: refusesTheThird,
}));

/** Accepts a token in another place of the request: moves it to the Authorization header. */
function tokenTakenFrom(find: (request: ProxiedRequest) => string | undefined): () => Alteration {
  return requestBecomes((request) => {
    const token = request.headers.authorization === undefined ? find(request) : undefined;
    return token === undefined
      ? request
      : withHeaders(request, { authorization: `Bearer ${token}` });
  });
}

const locations: Readonly<Record<string, (request: ProxiedRequest) => string | undefined>> = {
  cookie: ({ headers }) => /(?:^|; )(?:JWT|token)=([^;]+)/.exec(headers.cookie ?? '')?.[1],
  query: (request) =>
    queryOf(request).get('access_token') ?? queryOf(request).get('token') ?? undefined,
  'other-header': ({ headers }) => headers['x-access-token'],
};

const elsewhere: readonly Defect[] = calledIds
  .filter((id) => id !== 'post-auth-request')
  .flatMap((operation) =>
    Object.entries(locations).map(([location, find]) => ({
      id: `${operation}-takes-a-token-from-${location}`,
      title: `The operation ${operation} accepts a token from another place: ${location}.`,
      violates: ['tokens.missing-is-401'] as const,
      operations: [operation],
      alter: tokenTakenFrom(find),
    })),
  );

export const requestVariantDefects = [...everyVariant, ...repetitionDefects, ...elsewhere];
