/** Defects of a device's reports on one deployment after another. */
import { isSuccess, jsonOf, objectOf, ownResponse, tokenOf, withJson } from '../alter.ts';
import { requestBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, SendToTarget } from '../defect.ts';
import { requestFor } from '../requests.ts';
import { bodyMemberAt } from '../sent.ts';
import { everyPoll } from './next-deployment.ts';

/** The IDs of the deployments that each device was offered, by its token, in order. */
type OfferedIds = Map<string, readonly string[]>;

/** Passes requests with the IDs of the deployments that their device was offered before. */
function alterByHistory(
  alter: (offeredIds: OfferedIds) => Pick<Alteration, 'request'> & Pick<Alteration, 'response'>,
): () => Alteration {
  return () => {
    const offeredIds: OfferedIds = new Map();
    const { request, response } = alter(offeredIds);
    return {
      ...(request && { request }),
      response: async (targetResponse, request, send) => {
        const { id } = objectOf(targetResponse);
        const token = tokenOf(request);
        const deviceIds = offeredIds.get(token) ?? [];
        const isOffer =
          everyPoll.some((poll) => poll === request.operation) && targetResponse.status === 200;
        if (isOffer && typeof id === 'string' && !deviceIds.includes(id)) {
          offeredIds.set(token, [...deviceIds, id]);
        }
        return response ? response(targetResponse, request, send) : targetResponse;
      },
    };
  };
}

async function repeatReportFor(
  id: string,
  request: ProxiedRequest,
  send: SendToTarget,
): Promise<void> {
  const { operation } = request;
  if (operation !== 'put-deployment-status') return;
  const requestParts = { parameters: { id }, token: tokenOf(request), json: jsonOf(request) };
  await send(requestFor(operation, requestParts));
}

/** Repeats each accepted report for another deployment of the device, which `appliesTo` selects. */
function alsoFor(
  appliesTo: (offeredIds: readonly string[], id: string) => string | undefined,
): () => Alteration {
  return alterByHistory((offeredIds) => ({
    response: async (response, request, send) => {
      const { id = '' } = request.parameters;
      const otherId = appliesTo(offeredIds.get(tokenOf(request)) ?? [], id);
      if (isSuccess(response) && otherId !== undefined && otherId !== id) {
        await repeatReportFor(otherId, request, send);
      }
      return response;
    },
  }));
}

const operations = [...everyPoll, 'put-deployment-status'] as const;

/** Changes the substate of valid reports with one of the statuses. */
function substateBecomes(
  change: (substate: string) => string | undefined,
  appliesTo: (status: unknown) => boolean = () => true,
): () => Alteration {
  return requestBecomes((request) => {
    const { substate, ...otherMembers } = objectOf(request);
    if (typeof substate !== 'string' || !appliesTo(otherMembers.status)) return request;
    const changedSubstate = change(substate);
    return withJson(
      request,
      changedSubstate === undefined ? otherMembers : { ...otherMembers, substate: changedSubstate },
    );
  });
}

/** Forgets the deployments that wait while a device updates, once it has reported its end. */
function waitingIsForgotten(): Alteration {
  const forgotten = new Set<string>();
  return {
    response: async (response, request, send) => {
      if (request.operation !== 'put-deployment-status') {
        return forgotten.has(String(objectOf(response).id)) ? ownResponse(204) : response;
      }
      const isEnd = ['success', 'failure'].includes(String(bodyMemberAt(request, 'status')));
      if (!isEnd || !isSuccess(response)) return response;
      const query = { artifact_name: 'conformance-factory', device_type: 'conformance-board' };
      const requestParts = { query, token: tokenOf(request) };
      const { id } = objectOf(await send(requestFor('get-next-deployment', requestParts)));
      if (typeof id === 'string') forgotten.add(id);
      return response;
    },
  };
}

export const deploymentInTurnDefects: readonly Defect[] = [
  {
    id: 'late-report-lands-on-the-next-deployment',
    title: 'A report on a former deployment also changes the deployment that follows it.',
    violates: ['status.only-the-named-deployment'],
    operations,
    alter: alsoFor((offeredIds) => offeredIds.at(-1)),
  },
  {
    id: 'report-lands-on-the-former-deployment-too',
    title: 'A report on a deployment also changes the one that the device ended before.',
    violates: ['status.only-the-named-deployment', 'next.repeatable'],
    operations,
    alter: alsoFor((offeredIds, id) => offeredIds[offeredIds.indexOf(id) - 1]),
  },
  {
    id: 'waiting-deployment-is-forgotten',
    title:
      'A deployment that waits while a device updates is not offered once the device has finished.',
    violates: ['next.get-pending-is-200'],
    operations,
    alter: waitingIsForgotten,
  },
  {
    id: 'late-report-is-dropped',
    title: 'A report on a former deployment is answered with 204, but changes nothing.',
    violates: ['status.becomes-the-state'],
    operations,
    alter: alterByHistory((offeredIds) => ({
      request: (request) => {
        const deviceIds = offeredIds.get(tokenOf(request)) ?? [];
        const { id = '' } = request.parameters;
        const isReport = request.operation === 'put-deployment-status';
        const isLate = deviceIds.includes(id) && deviceIds.at(-1) !== id;
        return isReport && isLate && bodyMemberAt(request, 'status') !== undefined
          ? ownResponse(204)
          : request;
      },
    })),
  },
  {
    id: 'log-lands-on-the-newest-deployment',
    title: 'A log is kept for the newest deployment of the device, whichever it names.',
    violates: ['log.only-the-named-deployment'],
    operations: [...everyPoll, 'put-deployment-log'],
    alter: alterByHistory((offeredIds) => ({
      request: (request) => {
        const deviceIds = offeredIds.get(tokenOf(request)) ?? [];
        const [newest, { id = '' }] = [deviceIds.at(-1), request.parameters];
        const isLog = request.operation === 'put-deployment-log';
        if (!isLog || newest === undefined || !deviceIds.includes(id)) return request;
        const path = request.path.replace(id, newest);
        return { ...request, path, parameters: { id: newest } };
      },
    })),
  },
  {
    id: 'abort-ends-later-deployments-of-its-devices',
    title: 'An abort of a deployment ends every deployment of the devices that had ended it.',
    violates: ['next.repeatable', 'next.get-pending-is-200'],
    operations: [...operations, 'abort-deployment'],
    alter: () => {
      const aborted = new Set<string>();
      return alterByHistory((offeredIds) => ({
        response: (response, request) => {
          const { id = '' } = request.parameters;
          if (request.operation === 'abort-deployment' && isSuccess(response)) aborted.add(id);
          const [former = '', ...laterIds] = offeredIds.get(tokenOf(request)) ?? [];
          const isOver = laterIds.length > 0 && aborted.has(former);
          return isOver && everyPoll.some((poll) => poll === request.operation)
            ? ownResponse(204)
            : response;
        },
      }))();
    },
  },
  {
    id: 'substate-of-an-end-is-dropped',
    title: 'The substate that comes with success or failure is not kept.',
    violates: ['status.substate-is-the-last', 'status.substate'],
    operations: ['put-deployment-status'],
    alter: substateBecomes(
      () => undefined,
      (status) => status === 'success' || status === 'failure',
    ),
  },
  {
    id: 'substate-of-a-pause-is-dropped',
    title: 'The substate that comes with a pause is not kept.',
    violates: ['status.substate-is-the-last', 'status.substate'],
    operations: ['put-deployment-status'],
    alter: substateBecomes(
      () => undefined,
      (status) => String(status).startsWith('pause_'),
    ),
  },
  {
    id: 'substate-is-kept-in-ascii',
    title: 'Letters beyond ASCII in a substate are replaced by question marks.',
    violates: ['status.substate-is-the-last', 'status.substate'],
    operations: ['put-deployment-status'],
    alter: substateBecomes((substate) => substate.replaceAll(/[^ -~]/g, '?')),
  },
  {
    id: 'substate-is-cut',
    title: 'Only the first 64 characters of a substate are kept.',
    violates: ['status.substate-is-the-last', 'status.substate'],
    operations: ['put-deployment-status'],
    alter: substateBecomes((substate) =>
      substate.length <= 100 ? substate.slice(0, 64) : substate,
    ),
  },
  {
    id: 'substate-reaches-every-device',
    title: 'A substate that one device reports is stored for every device of the deployment.',
    violates: ['status.own-part-only'],
    operations: ['put-deployment-status'],
    alter: () => {
      const statuses = new Map<string, Map<string, unknown>>();
      return {
        response: async (response, request, send) => {
          const { id = '' } = request.parameters;
          const { status, substate } = objectOf(request);
          if (!isSuccess(response)) return response;
          const statusByToken = statuses.get(id) ?? new Map<string, unknown>();
          for (const [token, reportedStatus] of statusByToken) {
            if (token === tokenOf(request) || substate === undefined) continue;
            const requestParts = {
              parameters: { id },
              token,
              json: { status: reportedStatus, substate },
            };
            await send(requestFor('put-deployment-status', requestParts));
          }
          statuses.set(id, statusByToken.set(tokenOf(request), status));
          return response;
        },
      };
    },
  },
  {
    id: 'abort-reaches-one-device-only',
    title: 'After an abort only the device that was offered the deployment first is refused.',
    violates: ['status.aborted-is-409'],
    operations: [...operations],
    alter: () => {
      const firstTokens = new Map<string, string>();
      return {
        response: (response, request) => {
          const token = tokenOf(request);
          const { id: offeredIds } = objectOf(response);
          if (request.operation !== 'put-deployment-status') {
            if (typeof offeredIds === 'string' && !firstTokens.has(offeredIds))
              firstTokens.set(offeredIds, token);
            return response;
          }
          const owner = firstTokens.get(request.parameters.id ?? '') ?? token;
          return response.status === 409 && owner !== token ? ownResponse(204) : response;
        },
      };
    },
  },
  {
    id: 'failure-ends-the-deployment-for-those-who-have-not-polled',
    title:
      'After a failure of one device, devices that poll for the first time are offered nothing.',
    violates: ['next.get-pending-is-200', 'status.own-part-only'],
    operations,
    alter: () => {
      const polled = new Map<string, Set<string>>();
      const failedIds = new Set<string>();
      return {
        response: (response, request) => {
          const token = tokenOf(request);
          if (request.operation === 'put-deployment-status') {
            const isEnd = isSuccess(response) && bodyMemberAt(request, 'status') === 'failure';
            if (isEnd) failedIds.add(request.parameters.id ?? '');
            return response;
          }
          const id = String(objectOf(response).id);
          const tokens = polled.get(id) ?? new Set<string>();
          if (failedIds.has(id) && !tokens.has(token)) return ownResponse(204);
          polled.set(id, tokens.add(token));
          return response;
        },
      };
    },
  },
  {
    id: 'end-of-one-device-ends-the-deployment',
    title: 'A failure of one device ends the deployment for all of its devices.',
    violates: ['next.repeatable', 'next.get-pending-is-200', 'status.own-part-only'],
    operations,
    alter: () => {
      const failures = new Map<string, string>();
      return {
        response: (response, request) => {
          const { id } = request.parameters;
          const token = tokenOf(request);
          if (request.operation === 'put-deployment-status') {
            const isEnd = isSuccess(response) && bodyMemberAt(request, 'status') === 'failure';
            if (isEnd && id !== undefined) failures.set(id, token);
            return response;
          }
          const owner = failures.get(String(objectOf(response).id)) ?? token;
          return owner === token ? response : ownResponse(204);
        },
      };
    },
  },
];
