/** The kinds of defects that `generated.ts` gives to each operation that can make them. */
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { requirementOn } from '../../passive/response-parts.ts';
import {
  changedAt,
  changedJson,
  isSuccess,
  ownResponse,
  withHeaders,
  withStatus,
  withText,
} from '../alter.ts';
import { responseBecomes } from '../alterations.ts';
import type { Alteration, ProxiedRequest, ProxiedResponse } from '../defect.ts';

/** Number of affected cases to run; a generated defect is so visible that any few must kill it. */
export const SAMPLE = 12;
/** Larger sample for request IDs that are always missing, which only many refusals can show. */
const LARGE_SAMPLE = 60;
/** One in this many valid requests is answered with a server error. */
const FAULT_EACH = 3;

/** Returns true for a listed refusal that must have a body. */
function isJudgedRefusal({ status }: ProxiedResponse, row: Operation): boolean {
  const namedStatuses = [...row.refusals, 400, 401, 403];
  return status >= 400 && namedStatuses.includes(status) && !row.bodilessRefusals?.includes(status);
}

export interface DefectKind {
  readonly kind: string;
  /** The defect, phrased to follow the name of the operation. */
  readonly says: string;
  readonly violates: (id: OperationId) => readonly [RequirementId, ...RequirementId[]];
  readonly alter: (row: Operation) => () => Alteration;
  /** Returns true if an operation can have the defect; every operation can when absent. */
  readonly appliesTo?: (row: Operation) => boolean;
  readonly sample?: number;
}

/** Changes listed refusals of an operation. */
function refusalBecomes(
  change: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse,
): DefectKind['alter'] {
  return (row) =>
    responseBecomes((response, request) =>
      isJudgedRefusal(response, row) ? change(response, request) : response,
    );
}

function memberBecomes(name: string, change: (value: unknown) => unknown): DefectKind['alter'] {
  return refusalBecomes((response) =>
    changedJson(response, (body) => changedAt(body, name, change)),
  );
}

function requestIdHeader({ headers }: ProxiedResponse | ProxiedRequest): string | undefined {
  return Object.keys(headers).find((name) => name.endsWith('-requestid'));
}

function withRequestId(response: ProxiedResponse, id: string): ProxiedResponse {
  const name = requestIdHeader(response);
  const inBody = changedJson(response, (body) => changedAt(body, 'request_id', () => id));
  return name === undefined ? inBody : withHeaders(inBody, { [name]: id });
}

const requirementOfPart =
  (part: string) =>
  (id: OperationId): readonly [RequirementId] => [requirementOn(id, [part])];

export const refusalKinds: readonly DefectKind[] = [
  {
    kind: 'unlisted-status',
    says: 'refuses with 422 instead of its own status',
    violates: () => ['errors.statuses-are-listed'],
    alter: refusalBecomes((response) => withStatus(response, 422)),
  },
  {
    kind: 'error-is-a-page',
    says: 'refuses with an HTML page',
    violates: () => ['errors.body-is-error', 'service.bodies-are-json'],
    alter: refusalBecomes((response) =>
      withText(withHeaders(response, { 'content-type': 'text/html' }), '<p>no</p>'),
    ),
  },
  {
    kind: 'error-is-empty',
    says: 'refuses without a body',
    violates: () => ['errors.body-is-error', 'service.bodies-are-json'],
    alter: refusalBecomes((response) => withText(response, '')),
  },
  {
    kind: 'error-in-an-object',
    says: 'refuses with an error that is an object',
    violates: () => ['errors.error-is-string'],
    alter: memberBecomes('error', (message) => ({ message })),
  },
  {
    kind: 'error-without-words',
    says: 'refuses without an error text',
    violates: () => ['errors.says-why'],
    alter: memberBecomes('error', () => undefined),
  },
  {
    kind: 'request-id-is-a-number',
    says: 'refuses with a request_id that is a number',
    violates: () => ['errors.request-id-is-string'],
    alter: memberBecomes('request_id', () => 17),
  },
  {
    kind: 'request-id-is-constant',
    says: 'refuses with the same request ID each time',
    violates: () => ['errors.request-id-of-the-server'],
    alter: refusalBecomes((response, request) =>
      requestIdHeader(request) === undefined ? withRequestId(response, 'the-only-one') : response,
    ),
  },
  {
    kind: 'request-id-is-replaced',
    says: 'refuses with a generated request ID although the caller sent one',
    violates: () => ['errors.request-id-of-the-caller'],
    alter: refusalBecomes((response, request) =>
      requestIdHeader(request) === undefined ? response : withRequestId(response, 'another'),
    ),
  },
  {
    kind: 'request-ids-differ',
    says: 'refuses with different request IDs in the header and the body',
    violates: () => ['errors.request-id-equals-header'],
    alter: refusalBecomes((response) => {
      const name = requestIdHeader(response);
      return name === undefined ? response : withHeaders(response, { [name]: 'another' });
    }),
  },
  {
    kind: 'request-id-is-missing',
    says: 'always refuses without a request ID',
    violates: () => ['errors.names-the-request'],
    alter: memberBecomes('request_id', () => undefined),
    // Links have too few refusals to show that the ID is always missing.
    appliesTo: ({ authorization }) => authorization !== 'link',
    sample: LARGE_SAMPLE,
  },
  {
    kind: 'refusal-label',
    says: 'labels the JSON of refusals as plain text',
    violates: () => ['service.json-is-labelled'],
    alter: refusalBecomes((response) => withHeaders(response, { 'content-type': 'text/plain' })),
  },
];

/** Answers one in `FAULT_EACH` valid requests with a server error. */
export function nowAndThen(): Alteration {
  let validCount = 0;
  return {
    response: (response) => {
      if (!isSuccess(response) && response.status !== 101) return response;
      validCount += 1;
      const error = { error: 'internal error', request_id: `fault-${validCount}` };
      return validCount % FAULT_EACH === 1 ? ownResponse(500, error) : response;
    },
  };
}

/** The 2xx status that replaces each success; clients give up early on other classes. */
const wrongSuccess: Readonly<Record<number, number>> = { 101: 200, 200: 206, 204: 202 };

export const successKinds: readonly DefectKind[] = [
  {
    kind: 'fault-now-and-then',
    says: 'answers one valid request of three with 500',
    violates: (id) => ['errors.no-needless-fault', ...requirementOfPart('status')(id)],
    alter: () => nowAndThen,
  },
  {
    kind: 'wrong-success',
    says: 'answers with another success status',
    violates: requirementOfPart('status'),
    alter: () =>
      responseBecomes((response) => {
        const status = wrongSuccess[response.status];
        return status === undefined ? response : withStatus(response, status);
      }),
  },
  {
    kind: 'needless-body',
    says: 'answers with a body where none is documented',
    violates: requirementOfPart('body'),
    alter: () =>
      responseBecomes((response) =>
        response.status === 200 ? ownResponse(200, { status: 'ok' }) : response,
      ),
    appliesTo: ({ success }) => success[200] !== undefined && isBodiless(success[200]),
  },
  {
    kind: 'cut-json',
    says: 'answers with JSON that is cut off',
    violates: () => ['service.bodies-are-json'],
    alter: () =>
      responseBecomes((response) =>
        response.status === 200 ? { ...response, body: response.body.subarray(0, -1) } : response,
      ),
    appliesTo: ({ success }) => isJson(success[200]),
  },
  {
    kind: 'success-label',
    says: 'labels its JSON as HTML',
    violates: () => ['service.json-is-labelled'],
    alter: () => labelled('text/html'),
    appliesTo: ({ success }) => isJson(success[200]),
  },
  {
    kind: 'foreign-label',
    says: 'labels what is not JSON as JSON',
    violates: (id) =>
      id === 'export-audit-logs' ? ['audit.export-media-type'] : ['service.other-media-types'],
    alter: () => labelled('application/json'),
    appliesTo: ({ success }) => success[200]?.mediaType !== undefined,
  },
  {
    kind: 'sunset-is-no-date',
    says: 'announces its end with an invalid date',
    violates: () => ['versioning.deprecation-headers'],
    alter: () => responseBecomes((response) => withHeaders(response, { sunset: 'next year' })),
  },
];

function labelled(type: string): () => Alteration {
  return responseBecomes((response) =>
    response.status === 200 ? withHeaders(response, { 'content-type': type }) : response,
  );
}

function isBodiless({ shape, mediaType }: Operation['success'][number] = {}): boolean {
  return shape === undefined && mediaType === undefined;
}

function isJson({ shape, mediaType }: Operation['success'][number] = {}): boolean {
  return shape !== undefined && mediaType === undefined;
}
