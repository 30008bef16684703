/**
 * Defects in writes beside others: updates that are lost, mixed or misdirected when requests
 * overlap, and writes that change another resource.
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { bearer } from '../../target/call.ts';
import { membersOf } from '../../target/json-members.ts';
import { listOf, objectOf, ownResponse, tokenOf, withJson } from '../alter.ts';
import { responseBecomes } from '../alterations.ts';
import type {
  Alteration,
  Defect,
  ProxiedOperation,
  ProxiedRequest,
  ProxiedResponse,
} from '../defect.ts';
import { callerOf } from '../own-deployment.ts';
import { requestFor } from '../requests.ts';

/** Returns the key by which requests count as overlapping, such as the device. */
type KeyOf = (request: ProxiedRequest) => string;

/** Handles a request during another one with the same key; `firstRequest` is the earliest. */
type WhileBusy = (
  request: ProxiedRequest,
  firstRequest: ProxiedRequest,
) => ProxiedRequest | ProxiedResponse;

/** Applies `change` to each request that arrives while another with the same key is answered. */
function whileBusy(keyOf: KeyOf, change: WhileBusy): () => Alteration {
  return () => {
    const openRequests = new Map<string, ProxiedRequest[]>();
    return {
      needsOverlap: true,
      request: (request) => {
        const otherRequests = openRequests.get(keyOf(request)) ?? [];
        openRequests.set(keyOf(request), [...otherRequests, request]);
        const [firstRequest] = otherRequests;
        if (firstRequest === undefined) return request;
        const changedRequest = change(request, firstRequest);
        // A request that the proxy answers has no response of the target that would end it.
        if ('status' in changedRequest) openRequests.set(keyOf(request), otherRequests);
        return changedRequest;
      },
      response: (response, request) => {
        const [, ...remainingRequests] = openRequests.get(keyOf(request)) ?? [];
        openRequests.set(keyOf(request), remainingRequests);
        return response;
      },
    };
  };
}

interface Overlap {
  readonly id: string;
  readonly title: string;
  readonly operations: readonly ProxiedOperation[];
  readonly keyOf?: KeyOf;
  readonly change: WhileBusy;
  readonly also?: readonly RequirementId[];
}

function entriesKept(request: ProxiedRequest): ProxiedRequest {
  const entries = Object.entries(objectOf(request));
  return withJson(request, Object.fromEntries(entries.slice(0, Math.ceil(entries.length / 2))));
}

function sharesBuffer(request: ProxiedRequest, firstRequest: ProxiedRequest): ProxiedRequest {
  const isEqual = request.body.length === firstRequest.body.length;
  return isEqual ? { ...request, body: firstRequest.body } : request;
}

const overlaps: readonly Overlap[] = [
  {
    id: 'setting-during-a-setting-is-lost',
    title: 'A configuration that arrives while another of the device is written is lost.',
    operations: ['put-configuration'],
    change: () => ownResponse(204),
  },
  {
    id: 'setting-during-a-setting-is-torn',
    title: 'Half of a configuration that arrives while another is written is lost.',
    operations: ['put-configuration'],
    change: entriesKept,
  },
  {
    id: 'patch-during-a-patch-is-lost',
    title: 'A PATCH of attributes that arrives while another of the device is written is lost.',
    operations: ['patch-attributes'],
    change: () => ownResponse(200),
    also: ['inventory.patch-adds', 'inventory.patch-keeps'],
  },
  {
    id: 'patch-during-a-patch-is-torn',
    title: 'Of a PATCH that arrives during another, only the first attribute is written.',
    operations: ['patch-attributes'],
    change: (request) => withJson(request, listOf(request).slice(0, 1)),
  },
  {
    id: 'put-during-a-put-is-merged',
    title: 'A PUT of attributes that arrives during another replaces no attribute.',
    operations: ['put-attributes'],
    change: (request) => ({ ...request, method: 'PATCH', operation: 'patch-attributes' }),
  },
  {
    id: 'put-and-patch-at-once-lose-an-attribute',
    title: 'Of a PUT or PATCH that arrives during the other, the last attribute is lost.',
    operations: ['put-attributes', 'patch-attributes'],
    change: (request, firstRequest) =>
      request.method === firstRequest.method
        ? request
        : withJson(request, listOf(request).slice(0, -1)),
  },
  {
    id: 'alerts-during-alerts-are-lost',
    title: 'Alerts that arrive while others of the device are written are lost.',
    operations: ['post-alerts'],
    change: () => ownResponse(204),
    also: ['alerts.are-shown'],
  },
  {
    id: 'monitors-during-monitors-are-merged',
    title: 'A monitor configuration that arrives during another is added to it.',
    operations: ['post-monitor-configuration'],
    change: (request, firstRequest) =>
      withJson(request, [...listOf(firstRequest), ...listOf(request)]),
  },
  {
    id: 'setting-during-attributes-is-lost',
    title: 'A configuration that arrives while attributes of the device are written is lost.',
    operations: ['put-configuration', 'patch-attributes'],
    change: (request, firstRequest) =>
      request.operation === 'put-configuration' && firstRequest.operation === 'patch-attributes'
        ? ownResponse(204)
        : request,
  },
  {
    id: 'settings-of-two-devices-are-swapped',
    title: 'A configuration is replaced by one of equal length that another device is writing.',
    operations: ['put-configuration'],
    keyOf: () => 'all devices',
    change: sharesBuffer,
  },
  {
    id: 'logs-of-two-devices-are-swapped',
    title: 'A log is replaced by one of equal length that another device is uploading.',
    operations: ['put-deployment-log'],
    keyOf: () => 'all devices',
    change: sharesBuffer,
    also: ['log.is-kept'],
  },
];

/** Hides from users the alerts that a device sent before its last monitor configuration. */
function configurationClearsAlerts(): Alteration {
  const sentSince = new Map<string, Set<unknown>>();
  return {
    request: (request) => {
      const device = callerOf(request);
      if (request.operation === 'post-monitor-configuration') sentSince.set(device, new Set());
      if (request.operation === 'post-alerts') {
        for (const alert of listOf(request)) sentSince.get(device)?.add(membersOf(alert).name);
      }
      return request;
    },
    response: (response, request) => {
      const since = sentSince.get(request.parameters.id ?? '');
      if (request.operation !== 'list-alerts' || !since) return response;
      const remainingAlerts = listOf(response).filter((alert) => since.has(membersOf(alert).name));
      return remainingAlerts.length < listOf(response).length
        ? withJson(response, remainingAlerts)
        : response;
    },
  };
}

/** Defects in which a request changes another resource than the one that it writes. */
const sideEffects: readonly Defect[] = [
  {
    id: 'monitor-configuration-clears-the-alerts',
    title: 'A monitor configuration removes the alerts that the device sent before.',
    violates: ['service.writes-keep-apart'],
    operations: ['post-monitor-configuration', 'post-alerts', 'list-alerts'],
    alter: configurationClearsAlerts,
  },
  {
    id: 'new-token-clears-the-configuration',
    title: 'A new token of a device removes its configuration.',
    violates: ['service.writes-keep-apart'],
    operations: ['post-auth-request'],
    alter: responseBecomes(async (response, request, send) => {
      if (response.status !== 200) return response;
      const headers = bearer(response.body.toString());
      const parameters = { id: callerOf({ ...request, headers }) };
      const token = send.userToken;
      await send(requestFor('set-configuration', { parameters, token, json: {} }));
      return response;
    }),
  },
];

export const atOnceDefects: readonly Defect[] = [
  ...overlaps.map(
    ({ keyOf = tokenOf, change, also = [], ...row }): Defect => ({
      ...row,
      violates: ['service.concurrent-writes', ...also],
      alter: whileBusy(keyOf, change),
    }),
  ),
  ...sideEffects,
];
