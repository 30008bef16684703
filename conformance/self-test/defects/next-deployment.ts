/** Defects in the choice of the deployment that a device is offered. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { isSuccess, objectOf, ownResponse, queryOf, tokenOf, withJson } from '../alter.ts';
import { parameterBecomes, requestBecomes, statusBecomes } from '../alterations.ts';
import type { Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { bodyMemberAt, isObject } from '../sent.ts';

export const everyPoll = [
  'get-next-deployment',
  'post-next-deployment',
  'post-next-deployment-v2',
] as const;

const checksum = 'rootfs-image.checksum';
const neededChecksum = 'f7e243f8d26f2b0609d7b22ce0d164496be619672f8a96b5b6211d78a000b630';

/** Returns what a device reports about itself, in any variant of a poll. */
export function pollDataIn(request: ProxiedRequest): Readonly<Record<string, unknown>> {
  if (request.operation === 'get-next-deployment') return Object.fromEntries(queryOf(request));
  const body = objectOf(request);
  return isObject(body.device_provides) ? body.device_provides : body;
}

/** Returns a text that is equal for equal polls of one device. */
function pollKey(request: ProxiedRequest): string {
  return `${request.operation} ${tokenOf(request)} ${JSON.stringify(pollDataIn(request))}`;
}

function saysNothingOf(name: string): (request: ProxiedRequest) => boolean {
  return (request) => pollDataIn(request)[name] === undefined;
}

/** Returns the request as if its device had the checksum that the artifact depends on. */
function withChecksum(request: ProxiedRequest): ProxiedRequest {
  const body = objectOf(request);
  const provides = body.device_provides;
  const isV1 = request.operation === 'post-next-deployment';
  const pairs = isV1 ? body : provides;
  if (!isObject(pairs) || Object.keys(pairs).length < 2) return request;
  const more = { ...pairs, [checksum]: neededChecksum };
  return withJson(request, isV1 ? more : { ...body, device_provides: more });
}

/** Repeats the last offer to a device after its deployment ended, which `over` detects. */
function offersAgain(
  over: (
    request: ProxiedRequest,
    response: ProxiedResponse,
    offers: LastOffers,
  ) => readonly string[],
): Defect['alter'] {
  return () => {
    const offers: LastOffers = new Map();
    const endedTokens = new Set<string>();
    return {
      response: (response, request) => {
        const token = tokenOf(request);
        for (const each of over(request, response, offers)) endedTokens.add(each);
        if (!everyPoll.some((poll) => poll === request.operation)) return response;
        if (response.status === 200) offers.set(token, response);
        const offer = offers.get(token);
        return response.status === 204 && offer && endedTokens.has(token) ? offer : response;
      },
    };
  };
}

/** The last offer, by device token. */
type LastOffers = Map<string, ProxiedResponse>;

/**
 * Answers 204 once more to a request that was answered with 204 before, as a cache of seconds does.
 */
function keepsIts204(operation: (typeof everyPoll)[number], requirement: RequirementId): Defect {
  return {
    id: `${operation}-keeps-its-204`,
    title:
      'A poll that found nothing is answered with 204 once more, whatever is deployed meanwhile.',
    violates: [requirement],
    operations: [operation],
    alter: () => {
      const idle = new Set<string>();
      return {
        response: (response, request) => {
          const poll = pollKey(request);
          if (response.status === 204) idle.add(poll);
          const isStale = response.status === 200 && idle.delete(poll);
          return isStale ? ownResponse(204) : response;
        },
      };
    },
  };
}

export const nextDeploymentDefects: readonly Defect[] = [
  keepsIts204('get-next-deployment', 'next.get-pending-is-200'),
  keepsIts204('post-next-deployment', 'next.post-pending-is-200'),
  keepsIts204('post-next-deployment-v2', 'next.v2-pending-is-200'),
  {
    id: 'no-update-outlives-a-configuration-deployment',
    title: 'A poll that found nothing is never offered a configuration deployment.',
    violates: ['next.get-pending-is-200', 'next.post-pending-is-200', 'next.v2-pending-is-200'],
    operations: everyPoll,
    alter: () => {
      const idle = new Set<string>();
      return {
        response: (response, request) => {
          const poll = pollKey(request);
          if (response.status === 204) idle.add(poll);
          const isStale = idle.has(poll) && response.body.includes('/download/configuration');
          return isStale ? ownResponse(204) : response;
        },
      };
    },
  },
  {
    id: 'get-hides-a-pending-deployment',
    title: 'GET v1 reports no update although a deployment is pending.',
    violates: ['next.get-pending-is-200', 'next.all-devices', 'next.repeatable'],
    operations: ['get-next-deployment'],
    alter: statusBecomes(200, 204),
  },
  {
    id: 'post-hides-a-pending-deployment',
    title: 'POST v1 reports no update although a deployment is pending.',
    violates: ['next.post-pending-is-200'],
    operations: ['post-next-deployment'],
    alter: statusBecomes(200, 204, saysNothingOf(checksum)),
  },
  {
    id: 'v2-hides-a-pending-deployment',
    title: 'POST v2 reports no update although a deployment is pending.',
    violates: ['next.v2-pending-is-200'],
    operations: ['post-next-deployment-v2'],
    alter: statusBecomes(200, 204, saysNothingOf(checksum)),
  },
  {
    id: 'pending-is-201',
    title: 'A pending deployment is answered with 201.',
    violates: [
      'next.get-pending-is-200',
      'next.post-pending-is-200',
      'next.v2-pending-is-200',
      'next.all-devices',
    ],
    operations: everyPoll,
    alter: statusBecomes(200, 201, saysNothingOf(checksum)),
  },
  {
    id: 'nothing-is-202',
    title: 'A device without a pending deployment is answered with 202.',
    violates: ['next.nothing-is-204'],
    operations: everyPoll,
    alter: statusBecomes(204, 202),
  },
  {
    id: 'changed-request-is-204',
    title: 'A device that describes itself differently during a deployment is answered with 204.',
    violates: ['next.conflict-is-409'],
    operations: everyPoll,
    alter: statusBecomes(409, 204),
  },
  {
    id: 'changed-device-type-is-204',
    title: 'A device that names another type during a deployment is answered with 204.',
    violates: ['next.conflict-is-409'],
    operations: everyPoll,
    alter: statusBecomes(
      409,
      204,
      (request) => pollDataIn(request).device_type === 'conformance-changed',
    ),
  },
  {
    id: 'foreign-deployment-is-offered',
    title: 'A device is offered what another device was offered earlier.',
    violates: ['next.own-deployments-only'],
    operations: everyPoll,
    alter: () => {
      let lastOffer: ProxiedResponse | undefined;
      return {
        response: (response, request) => {
          if (response.status === 200) lastOffer = response;
          const isOther = pollDataIn(request).artifact_name === 'conformance-stranger';
          return isOther && response.status === 204 && lastOffer ? lastOffer : response;
        },
      };
    },
  },
  {
    id: 'device-type-is-not-looked-at-by-get',
    title: 'GET offers an artifact to devices of types that it does not list.',
    violates: ['next.compatible-types-only'],
    operations: ['get-next-deployment'],
    alter: parameterBecomes(
      'device_type',
      'conformance-board',
      (request) => pollDataIn(request).device_type === 'another-board',
    ),
  },
  {
    id: 'depends-are-not-looked-at',
    title: 'POST v1 offers an artifact whatever the device provides.',
    violates: ['next.depends', 'next.post-pending-is-200'],
    operations: ['post-next-deployment'],
    alter: requestBecomes(withChecksum),
  },
  {
    id: 'depends-are-not-looked-at-in-v2',
    title: 'POST v2 offers an artifact whatever the device provides.',
    violates: ['next.v2-depends', 'next.v2-pending-is-200'],
    operations: ['post-next-deployment-v2'],
    alter: requestBecomes(withChecksum),
  },
  {
    id: 'met-depends-are-204',
    title: 'A device that satisfies the dependencies of an artifact is offered nothing.',
    violates: ['next.depends', 'next.v2-depends'],
    operations: ['post-next-deployment', 'post-next-deployment-v2'],
    alter: statusBecomes(200, 204, (request) => pollDataIn(request)[checksum] === neededChecksum),
  },
  {
    id: 'finished-deployment-is-offered-again',
    title: 'A deployment is offered again after the device has reported its end.',
    violates: ['next.finished-is-over'],
    operations: [...everyPoll, 'put-deployment-status'],
    alter: offersAgain((request, response) => {
      const isEnd = ['success', 'failure'].includes(String(bodyMemberAt(request, 'status')));
      const isReport = request.operation === 'put-deployment-status' && isSuccess(response);
      return isReport && isEnd ? [tokenOf(request)] : [];
    }),
  },
  {
    id: 'aborted-deployment-is-offered-again',
    title: 'A deployment is offered again after a user has aborted it.',
    violates: ['next.aborted-is-over'],
    operations: [...everyPoll, 'abort-deployment'],
    alter: offersAgain((request, response, offers) => {
      if (request.operation !== 'abort-deployment' || !isSuccess(response)) return [];
      const { id } = request.parameters;
      const isOfIt = ([, offer]: [string, ProxiedResponse]) => objectOf(offer).id === id;
      return [...offers].filter(isOfIt).map(([token]) => token);
    }),
  },
  {
    id: 'second-poll-is-204',
    title: 'A device is offered its deployment only once.',
    violates: ['next.repeatable', 'next.parallel-polls'],
    operations: everyPoll,
    alter: () => {
      const offeredIds = new Set<string>();
      return {
        response: (response, request) => {
          if (response.status !== 200) return response;
          const offer = `${tokenOf(request)} ${String(objectOf(response).id)}`;
          if (offeredIds.has(offer)) return ownResponse(204);
          offeredIds.add(offer);
          return response;
        },
      };
    },
  },
];
