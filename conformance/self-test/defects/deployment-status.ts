/** Defects in status reports of a device on its deployment. */
import { statusRequirements } from '../../../fixtures/contract/requirements/deployment-status.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { changedJson, isSuccess, objectOf, ownResponse, tokenOf, withStatus } from '../alter.ts';
import { responseBecomes, sentFieldBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { callerOf, type DeploymentRelation, relationOf } from '../own-deployment.ts';
import { requestFor } from '../requests.ts';
import {
  allOf,
  bodyMemberAt,
  isBodiless,
  isNoObject,
  isObject,
  isText,
  memberDoesNotFit,
  memberEquals,
  memberIsMissing,
  type RequestFilter,
} from '../sent.ts';

const reports = ['put-deployment-status'] as const;

const LOOKS_BEFORE_ABORT = 8;

/** A defect: a report that must be refused with 400 is accepted. */
function acceptedReport(
  what: string,
  requirement: RequirementId,
  appliesTo: RequestFilter,
): Defect {
  return {
    id: `report-with-${what.replaceAll(' ', '-')}-is-204`,
    title: `A report with ${what} is answered with 204.`,
    violates: [requirement],
    operations: reports,
    alter: statusBecomes(400, 204, appliesTo),
  };
}

/** A defect: a valid report is refused. */
function refusesValid(
  what: string,
  violates: Defect['violates'],
  appliesTo: RequestFilter,
): Defect {
  return {
    id: `report-with-${what.replaceAll(' ', '-')}-is-400`,
    title: `A report with ${what} is answered with 400.`,
    violates,
    operations: reports,
    alter: refusing(appliesTo),
  };
}

function refusing(appliesTo: RequestFilter): Defect['alter'] {
  return responseBecomes(
    (response) => (response.status === 204 ? ownResponse(400, { error: 'no' }) : response),
    appliesTo,
  );
}

/** A defect: a report on a deployment with this relation to the device is accepted. */
function acceptedOn(relation: DeploymentRelation, ...violates: Defect['violates']): Defect {
  return {
    id: `report-on-${relation}-deployment-is-204`,
    title: `A report on a deployment that is ${relation} to the device is answered with 204.`,
    violates,
    operations: reports,
    alter: responseBecomes(async (response, request, send) => {
      const isRefused = response.status === 404 || response.status === 400;
      const isInRelation = isRefused && (await relationOf(request, send)) === relation;
      return isInRelation ? withStatus(response, 204) : response;
    }),
  };
}

function isAStatus(value: unknown): boolean {
  return typeof value === 'string' && Object.hasOwn(statusRequirements, value);
}

/** Returns a key for one device deployment. */
function deviceDeploymentKey(request: ProxiedRequest): string {
  return `${tokenOf(request)} ${request.parameters.id ?? ''}`;
}

/** Refuses reports depending on the previously reported status, undefined before the first. */
function refusingAfter(
  isRefused: (lastStatus: unknown, status: unknown) => boolean,
): Defect['alter'] {
  return () => {
    const lastStatuses = new Map<string, unknown>();
    return {
      response: (response, request) => {
        if (!isSuccess(response)) return response;
        const deviceDeployment = deviceDeploymentKey(request);
        const { status } = objectOf(request);
        const refuses = isRefused(lastStatuses.get(deviceDeployment), status);
        lastStatuses.set(deviceDeployment, status);
        return refuses ? ownResponse(400, { error: 'no' }) : response;
      },
    };
  };
}

/** Shows users the status or substate of a report although the report was refused with 409. */
function refusedReportShows(member: 'status' | 'substate'): Alteration {
  const statusById = new Map<string, unknown>();
  return {
    response: (response: ProxiedResponse, request: ProxiedRequest) => {
      const { id = '' } = request.parameters;
      if (request.operation === 'put-deployment-status') {
        if (response.status === 409)
          statusById.set(`${id} ${callerOf(request)}`, objectOf(request)[member]);
        return response;
      }
      return changedJson(response, (deviceDeployments) =>
        Array.isArray(deviceDeployments)
          ? deviceDeployments.map((deviceDeployment) => {
              const value = isObject(deviceDeployment)
                ? statusById.get(`${id} ${String(deviceDeployment.id)}`)
                : undefined;
              return value === undefined
                ? deviceDeployment
                : { ...deviceDeployment, [member]: value };
            })
          : deviceDeployments,
      );
    },
  };
}

export const deploymentStatusDefects: readonly Defect[] = [
  acceptedReport('no body', 'status.body-is-required', isBodiless),
  acceptedReport('a body that is no object', 'status.malformed-is-400', isNoObject),
  acceptedReport('no status', 'status.is-required', memberIsMissing('status')),
  acceptedReport(
    'a status of another type',
    'status.is-string',
    memberDoesNotFit('status', isText),
  ),
  acceptedReport(
    'another word as status',
    'status.other-values-are-400',
    memberDoesNotFit('status', (value) => !isText(value) || isAStatus(value)),
  ),
  acceptedReport(
    'the state aborted',
    'status.other-values-are-400',
    memberEquals('status', 'aborted'),
  ),
  acceptedReport('a substate of another type', 'status.substate-is-string', (request) => {
    const { substate } = objectOf(request);
    return substate !== undefined && substate !== null && !isText(substate);
  }),
  refusesValid('a substate', ['status.substate'], memberEquals('substate', 'text')),
  refusesValid(
    'no substate',
    [
      'status.substate-is-optional',
      'status.installing',
      'status.each-value-is-accepted',
      'status.abort-is-one-moment',
    ],
    allOf(memberEquals('status', 'installing'), memberIsMissing('substate')),
  ),
  ...Object.entries(statusRequirements).map(
    ([status, requirement]): Defect =>
      refusesValid(
        `the status ${status.replaceAll('_', ' ')}`,
        [
          requirement,
          'status.each-value-is-accepted',
          'status.intermediate-is-optional',
          'status.abort-is-one-moment',
          // Cases about other requirements report the status `installing`, so they notice too.
          ...(status === 'installing'
            ? (['status.is-204', 'status.substate', 'status.substate-is-optional'] as const)
            : []),
        ],
        memberEquals('status', status),
      ),
  ),
  {
    id: 'report-is-200',
    title: 'An accepted report is answered with 200.',
    violates: ['status.is-204'],
    operations: reports,
    alter: statusBecomes(204, 200, memberEquals('substate', 'Executing script: check')),
  },
  {
    id: 'repeated-report-is-400',
    title: 'A report that repeats a status is refused.',
    violates: ['status.repeated', 'service.equal-forms'],
    operations: reports,
    alter: refusingAfter((lastStatus, status) => lastStatus === status),
  },
  {
    id: 'skipped-pause-is-400',
    title: 'A device that reports installing right after downloading is refused.',
    violates: ['status.each-value-is-accepted', 'status.intermediate-is-optional'],
    operations: reports,
    alter: refusingAfter(
      (lastStatus, status) => lastStatus === 'downloading' && status === 'installing',
    ),
  },
  {
    id: 'step-back-is-400',
    title: 'A device that reports downloading after installing is refused.',
    violates: ['status.each-value-is-accepted'],
    operations: reports,
    alter: refusingAfter(
      (lastStatus, status) => lastStatus === 'installing' && status === 'downloading',
    ),
  },
  {
    id: 'report-after-failure-is-400',
    title: 'A device that reports another status after failure is refused.',
    violates: ['status.each-value-is-accepted'],
    operations: reports,
    alter: refusingAfter((lastStatus, status) => lastStatus === 'failure' && status !== 'failure'),
  },
  {
    id: 'end-at-once-is-400',
    title: 'A device that reports already-installed directly is refused.',
    violates: [
      'status.intermediate-is-optional',
      'status.each-value-is-accepted',
      'status.already-installed',
    ],
    operations: reports,
    alter: refusingAfter(
      (lastStatus, status) => lastStatus === undefined && status === 'already-installed',
    ),
  },
  {
    id: 'status-never-goes-back',
    title:
      'A report of a status that comes before the reported one is answered with 204 and dropped.',
    violates: ['status.becomes-the-state'],
    operations: reports,
    alter: () => {
      const order = ['downloading', 'installing', 'rebooting'];
      const furthest = new Map<string, number>();
      return {
        request: (request) => {
          const key = `${tokenOf(request)} ${request.parameters.id ?? ''}`;
          const rank = order.indexOf(String(bodyMemberAt(request, 'status')));
          const furthestRank = furthest.get(key) ?? -1;
          if (rank !== -1 && rank < furthestRank) return ownResponse(204);
          furthest.set(key, Math.max(rank, furthestRank));
          return request;
        },
      };
    },
  },
  {
    id: 'report-is-kept-as-another',
    title: 'A report of pause_before_committing is stored as rebooting.',
    violates: ['status.becomes-the-state'],
    operations: reports,
    alter: sentFieldBecomes(
      'status',
      () => 'rebooting',
      memberEquals('status', 'pause_before_committing'),
    ),
  },
  {
    id: 'report-is-that-of-every-device',
    title: 'What one device reports becomes the state of all devices of the deployment.',
    violates: ['status.own-part-only'],
    operations: reports,
    alter: () => {
      const tokens = new Map<string, Set<string>>();
      return {
        response: async (response, request, send) => {
          if (!isSuccess(response)) return response;
          const { id = '' } = request.parameters;
          const { authorization = '' } = request.headers;
          const deploymentTokens = tokens.get(id) ?? new Set<string>();
          tokens.set(id, deploymentTokens.add(authorization));
          for (const otherToken of deploymentTokens) {
            if (otherToken === authorization) continue;
            await send({ ...request, headers: { ...request.headers, authorization: otherToken } });
          }
          return response;
        },
      };
    },
  },
  acceptedOn('malformed', 'status.malformed-id'),
  // A deployment of another tenant is as unknown as one that does not exist.
  acceptedOn('unknown', 'status.unknown-deployment-is-404', 'tenants.are-apart'),
  acceptedOn('foreign', 'status.foreign-deployment-is-404'),
  {
    id: 'status-report-after-abort-is-204',
    title: 'A report after the abort is answered with 204.',
    violates: ['status.aborted-is-409'],
    operations: reports,
    alter: statusBecomes(409, 204),
  },
  {
    id: 'end-after-abort-is-204',
    title: 'After the abort, only an end is accepted.',
    violates: ['status.aborted-is-409'],
    operations: reports,
    alter: statusBecomes(409, 204, memberEquals('status', 'failure')),
  },
  {
    id: 'refused-report-becomes-the-state',
    title: 'A report that is refused after the abort still becomes the state.',
    violates: ['status.aborted-stays', 'status.abort-is-one-moment'],
    operations: [...reports, 'list-deployment-devices'],
    alter: () => refusedReportShows('status'),
  },
  {
    id: 'substate-of-a-refused-report-is-kept',
    title: 'The substate of a report that is refused after the abort is still shown.',
    violates: ['status.aborted-stays'],
    operations: [...reports, 'list-deployment-devices'],
    alter: () => refusedReportShows('substate'),
  },
  {
    id: 'report-beside-an-abort-is-409-and-accepted',
    title: 'A report shortly before an abort is answered with 409.',
    violates: ['status.abort-is-one-moment'],
    operations: [...reports, 'abort-deployment'],
    alter: () => {
      const aborted = new Set<string>();
      return {
        request: async (request, send) => {
          if (request.operation !== 'abort-deployment') return request;
          const { id = '' } = request.parameters;
          aborted.add(id);
          // Without a pause a report would rarely arrive between the abort and its effect.
          const look = requestFor('list-deployment-devices', {
            parameters: { id },
            token: send.userToken,
          });
          for (let round = 0; round < LOOKS_BEFORE_ABORT; round += 1) await send(look);
          return request;
        },
        response: (response, request) => {
          const { id = '' } = request.parameters;
          const isReport = request.operation === 'put-deployment-status';
          const isBeside = isReport && isSuccess(response) && aborted.has(id);
          return isBeside ? ownResponse(409, { error: 'no' }) : response;
        },
      };
    },
  },
  {
    id: 'report-beside-an-abort-is-500',
    title: 'A report that is concurrent with an abort breaks the server.',
    violates: ['status.abort-is-one-moment', 'status.aborted-is-409'],
    operations: reports,
    alter: statusBecomes(
      409,
      500,
      allOf(memberEquals('status', 'success'), memberIsMissing('substate')),
    ),
  },
  {
    id: 'abort-is-not-passed-on',
    title: 'An abort by a user changes nothing for the device.',
    violates: [
      'status.aborted-is-409',
      'status.aborted-stays',
      'status.abort-is-one-moment',
      'next.aborted-is-over',
      'audit.deployment-aborted',
    ],
    operations: ['abort-deployment'],
    alter: () => ({
      request: (request, { userToken }) =>
        tokenOf(request) === userToken ? ownResponse(204) : request,
    }),
  },
];
