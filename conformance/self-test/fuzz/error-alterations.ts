/** Alterations of the Error body of refusals, and of the ID of the request. */
import { isObject, type JsonObject } from '../../../fixtures/base/json.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { changedJson, withHeaders, withJson, withText } from '../alter.ts';
import type { ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { type Alteration, refusalsOf, type ViolatedLevel } from './alteration.ts';

const errorStatuses = [400, 401, 403, 404, 409];

type AlterationChange = Alteration['change'];

/** Returns the alterations of those refusals for which the contract shows an Error body. */
export function errorAlterations(_: OperationId, row: Operation): readonly Alteration[] {
  const statuses = errorStatuses.filter(
    (status) =>
      (row.refusals.includes(status) || status === 401) && !row.bodilessRefusals?.includes(status),
  );
  return statuses.flatMap((status) =>
    rows.map(({ kind, says, violatedLevel, about, change }) => ({
      kind,
      says: `${status} ${says}`,
      violatedLevel,
      about,
      change: refusalsOf(row, status, change),
    })),
  );
}

function member(name: string, value: unknown): AlterationChange {
  return withError((body) => (Object.hasOwn(body, name) ? { ...body, [name]: value } : body));
}

function withError(change: (body: JsonObject) => unknown): AlterationChange {
  return (response) => changedJson(response, (body) => (isObject(body) ? change(body) : body));
}

function requestIdHeader({ headers }: ProxiedResponse | ProxiedRequest): string | undefined {
  return Object.keys(headers).find((name) => name.endsWith('-requestid'));
}

/** Replaces the request ID consistently in body and header, so that only the caller can notice. */
const anotherId: AlterationChange = (response, request) => {
  const name = requestIdHeader(response);
  if (name === undefined || requestIdHeader(request) === undefined) return response;
  return withHeaders(member('request_id', 'fuzz')(response, request), { [name]: 'fuzz' });
};

function header(value: string | undefined): AlterationChange {
  return (response) => {
    const name = requestIdHeader(response);
    return name === undefined ? response : withHeaders(response, { [name]: value });
  };
}

interface ErrorAlteration {
  readonly kind: string;
  readonly says: string;
  readonly violatedLevel: ViolatedLevel;
  readonly about: RequirementId;
  readonly change: AlterationChange;
}

const text = 'errors.error-is-string';
const isError = 'errors.body-is-error';
const sameId = 'errors.request-id-equals-header';

const rows: readonly ErrorAlteration[] = [
  must('error-of-another-type', 'with a number as /error', text, member('error', 7)),
  must('error-of-another-type', 'with an object as /error', text, member('error', { text: 'no' })),
  must('error-of-another-type', 'with null as /error', text, member('error', null)),
  must(
    'request-id-of-another-type',
    'with a number as /request_id',
    'errors.request-id-is-string',
    member('request_id', 7),
  ),
  must(
    'request-id-altered',
    'with a /request_id that differs from the header',
    sameId,
    member('request_id', 'fuzz'),
  ),
  must(
    'request-id-altered',
    'with an ID in the header that differs from /request_id',
    sameId,
    header('fuzz'),
  ),
  must(
    'request-id-altered',
    "with a request ID other than the caller's",
    'errors.request-id-of-the-caller',
    anotherId,
  ),
  must('error-body-cut', 'with a body without its last byte', isError, (response) => ({
    ...response,
    body: response.body.subarray(0, -1),
  })),
  must('error-body-empty', 'without a body', isError, (response) => withText(response, '')),
  must('error-body-is-none', 'with a JSON string as its body', isError, (response) =>
    withJson(response, 'no'),
  ),
  must('error-body-is-none', 'with its body in an array', isError, (response) =>
    changedJson(response, (body) => [body]),
  ),
  must('error-body-is-none', 'with an HTML page', isError, (response) =>
    withText(response, '<p>no</p>'),
  ),
  other(
    'error-without-words',
    'without /error',
    'should',
    'errors.says-why',
    withError(({ error: _, ...rest }) => rest),
  ),
  other(
    'error-without-words',
    'with an empty /error',
    'should',
    'errors.says-why',
    member('error', ''),
  ),
  other(
    'request-id-missing',
    'without /request_id',
    'should',
    'errors.names-the-request',
    withError(({ request_id: _, ...rest }) => rest),
  ),
  other(
    'error-reworded',
    'with other words in /error',
    'nothing',
    'errors.catalogue',
    member('error', 'fuzz'),
  ),
  other(
    'member-added',
    'with a member that the contract does not know',
    'nothing',
    isError,
    withError((body) => ({ ...body, fuzz: 1 })),
  ),
];

function must(
  kind: string,
  says: string,
  about: RequirementId,
  change: AlterationChange,
): ErrorAlteration {
  return other(kind, says, 'must', about, change);
}

function other(
  kind: string,
  says: string,
  violatedLevel: ViolatedLevel,
  about: RequirementId,
  change: AlterationChange,
): ErrorAlteration {
  return { kind, says, violatedLevel, about, change };
}
