/** Alterations of the status of responses. */
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { jsonOf, ownResponse, withJson, withStatus } from '../alter.ts';
import type { ProxiedResponse } from '../defect.ts';
import {
  type Alteration,
  aboutPart,
  ofStatus,
  refusalsOf,
  type ViolatedLevel,
} from './alteration.ts';

/** Statuses of refusals that cases provoke without control over the server. */
const provoked = [400, 401, 403, 404, 409];
/** A status that the contract lists for no operation. */
const UNLISTED = 422;
const SERVER_ERROR = 500;
const error = { error: 'fuzz', request_id: 'fuzz' };

export function statusAlterations(id: OperationId, row: Operation): readonly Alteration[] {
  return [...successAlterations(id, row), ...refusalAlterations(id, row)];
}

function successesOf({ success }: Operation): readonly number[] {
  return Object.keys(success).map(Number);
}

function successAlterations(id: OperationId, row: Operation): readonly Alteration[] {
  const about = aboutPart(id, 'status');
  return successesOf(row).flatMap((from) => {
    const otherStatuses = [200, 202, 204, 206].filter((to) => to !== from && from !== 101);
    const refusals = [400, 401, 404, 409, UNLISTED, SERVER_ERROR].filter(
      (to) => !isOpen(row, from, to),
    );
    return [
      ...otherStatuses.map((to) => ({
        kind: 'success-of-another-kind',
        says: `${to} instead of ${from}`,
        violatedLevel: 'must' as const,
        about,
        change: ofStatus(from, (response) => withStatus(response, to)),
      })),
      ...refusals.map((to) => ({
        kind: 'success-refused',
        says: `${to} instead of ${from}`,
        violatedLevel: 'must' as const,
        about,
        change: ofStatus(from, (response) =>
          isEmptyList(response) ? response : refusalResponse(response, to),
        ),
      })),
    ];
  });
}

/** Returns true for 404 instead of 204 at the next deployment, which is an open point. */
function isOpen({ deploymentRole }: Operation, from: number, to: number): boolean {
  return deploymentRole === 'offers' && from === 204 && to === 404;
}

/** Returns true for an empty list; the status of such a response is an open point. */
function isEmptyList(response: ProxiedResponse): boolean {
  const value = jsonOf(response);
  return Array.isArray(value) && value.length === 0;
}

/**
 * Returns a refusal that keeps the request ID of the response, so that only the status is wrong.
 */
function refusalResponse(response: ProxiedResponse, status: number): ProxiedResponse {
  const { headers } = ownResponse(status, error);
  const requestIdEntry = Object.entries(response.headers).find(([name]) =>
    name.endsWith('-requestid'),
  );
  const requestIdHeader =
    requestIdEntry === undefined ? {} : { [requestIdEntry[0]]: requestIdEntry[1] };
  const body = requestIdEntry === undefined ? error : { ...error, request_id: requestIdEntry[1] };
  return withJson({ ...response, status, headers: { ...requestIdHeader, ...headers } }, body);
}

function refusalAlterations(id: OperationId, row: Operation): readonly Alteration[] {
  const documentedStatuses = provoked.filter((from) => row.refusals.includes(from) || from === 401);
  return documentedStatuses.flatMap((from) => {
    const otherStatuses = [400, 401, 403, 404, 409, UNLISTED, SERVER_ERROR].filter(
      (to) => to !== from,
    );
    return [
      ...otherStatuses.flatMap((to): readonly Alteration[] => {
        const violatedLevel = violatedLevelOf(id, from, to);
        if (violatedLevel === 'unclear') return [];
        return [
          {
            kind: 'refusal-of-another-kind',
            says: `${to} instead of ${from}`,
            violatedLevel,
            about: aboutPart(id, 'status'),
            change: refusalsOf(row, from, (response) => withStatus(response, to)),
          },
        ];
      }),
      ...successesOf(row)
        .filter((to) => to !== 101)
        .map((to) => ({
          kind: 'refusal-succeeds',
          says: `${to} instead of ${from}`,
          violatedLevel: isShould(id, from) ? ('should' as const) : ('must' as const),
          about: aboutPart(id, 'status'),
          change: refusalsOf(row, from, (response) => withStatus(response, to)),
        })),
    ];
  });
}

/** Returns true for 409 on conflicting requests, which clients rely on but no MUST demands. */
function isShould(id: OperationId, from: number): boolean {
  return from === 409 && id !== 'put-deployment-status';
}

/** Returns the level that a changed status violates; `unclear` if the contract does not say. */
function violatedLevelOf(id: OperationId, from: number, to: number): ViolatedLevel | 'unclear' {
  if (to === UNLISTED || to === SERVER_ERROR) return 'must';
  // These operations send only an ID, and a malformed ID may be answered with 404 as well as 400.
  const isById = ['get-artifact', 'get-artifact-link', 'get-update-control-map'].includes(id);
  if (isById && from === 400 && to === 404) return 'nothing';
  if (id === 'download-configuration' && to === 404) return 'unclear';
  return isShould(id, from) ? 'should' : 'must';
}
