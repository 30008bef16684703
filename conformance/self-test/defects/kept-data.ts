/** Defects of servers that lose data or decisions, by a later decision or as time passes. */
import { changedJson, isSuccess, objectOf, ownResponse, tokenOf } from '../alter.ts';
import { requestBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { bodyMemberAt } from '../sent.ts';
import { claimIn } from './identities.ts';

const HOUR_MS = 3_600_000;
const MONTH_MS = 30 * 24 * HOUR_MS;

/** Returns the time of the response by the target's clock. */
function answeredMs({ headers }: ProxiedResponse): number {
  return Date.parse(headers.date ?? '');
}

/** Clears what `lose` changes for a device of which `isLoss` matches a decision about its keys. */
function lostBy(
  isLoss: (decision: unknown, earlierDecisions: readonly unknown[]) => boolean,
  lose: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse,
): () => Alteration {
  return () => {
    const decisions = new Map<string, readonly unknown[]>();
    const lostKeys = new Set<string>();
    return {
      response: (response, request) => {
        const { id = '', aid } = request.parameters;
        if (request.operation === 'set-auth-set-status') {
          const decision = bodyMemberAt(request, 'status');
          const earlierDecisions = decisions.get(id) ?? [];
          if (isSuccess(response) && isLoss(decision, earlierDecisions)) lostKeys.add(id);
          decisions.set(id, [...earlierDecisions, aid]);
          return response;
        }
        const device = id === '' ? String(claimIn(tokenOf(request), 'sub')) : id;
        return lostKeys.has(device) && isSuccess(response) ? lose(response, request) : response;
      },
    };
  };
}

/** Changes responses that come later than `afterMs` after the event that `since` matches. */
function laterThan(
  afterMs: number,
  keyOf: (request: ProxiedRequest) => string,
  since: (request: ProxiedRequest, response: ProxiedResponse) => boolean,
  change: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse,
): () => Alteration {
  return () => {
    const fromMs = new Map<string, number>();
    return {
      response: (response, request) => {
        const key = keyOf(request);
        const nowMs = answeredMs(response);
        const from = fromMs.get(key);
        if (from === undefined && since(request, response)) fromMs.set(key, nowMs);
        return from !== undefined && nowMs - from > afterMs ? change(response, request) : response;
      },
    };
  };
}

const idOf = ({ parameters }: ProxiedRequest): string => parameters.id ?? '';
const isEnd = (request: ProxiedRequest): boolean =>
  ['success', 'failure'].includes(String(bodyMemberAt(request, 'status')));

/** Adds a short log to the long one that was uploaded before. */
function addsToLongLogs(): Alteration {
  const longLogs = new Map<string, readonly unknown[]>();
  return {
    request: (request) => {
      const part = `${tokenOf(request)} ${idOf(request)}`;
      const { messages } = objectOf(request);
      if (!Array.isArray(messages)) return request;
      const earlierMessages = longLogs.get(part) ?? [];
      if (messages.length > 30) longLogs.set(part, messages);
      if (messages.length > 3) return request;
      return {
        ...request,
        body: Buffer.from(JSON.stringify({ messages: [...earlierMessages, ...messages] })),
      };
    },
  };
}

/** Refuses logs on deployments whose last report matches. */
function refusesLogsAfter(status: string): () => Alteration {
  return () => {
    const states = new Map<string, unknown>();
    return {
      response: (response, request) => {
        const key = `${idOf(request)} ${String(claimIn(tokenOf(request), 'sub'))}`;
        if (request.operation === 'put-deployment-status') {
          if (isSuccess(response)) states.set(key, bodyMemberAt(request, 'status'));
          return response;
        }
        const isRefused = isSuccess(response) && states.get(key) === status;
        return isRefused
          ? ownResponse(404, { error: 'not found', request_id: 'defect' })
          : response;
      },
    };
  };
}

/** Knows only the newest three deployments that a device has reported on. */
function knowsThree(): Alteration {
  const newest = new Map<string, readonly string[]>();
  return {
    request: (request) => {
      const device = String(claimIn(tokenOf(request), 'sub'));
      const deviceIds = newest.get(device) ?? [];
      const id = idOf(request);
      if (!deviceIds.includes(id)) newest.set(device, [...deviceIds, id]);
      const isOld = deviceIds.includes(id) && deviceIds.indexOf(id) < deviceIds.length - 3;
      return isOld ? ownResponse(404, { error: 'not found', request_id: 'defect' }) : request;
    },
  };
}

/** Spec: States and transitions; DeploymentLog; Device configuration; Device inventory */
export const keptDataDefects: readonly Defect[] = [
  {
    id: 'rejection-clears-the-configuration',
    title: 'The rejection of a device removes its configuration.',
    violates: ['configuration.written-is-read'],
    operations: ['set-auth-set-status', 'get-configuration'],
    alter: lostBy(
      (decision) => decision === 'rejected',
      () => ownResponse(200, {}),
    ),
  },
  {
    id: 'rejection-clears-the-inventory',
    title: 'The rejection of a device removes its attributes.',
    violates: ['inventory.put-assigns'],
    operations: ['set-auth-set-status', 'get-inventory'],
    alter: lostBy(
      (decision) => decision === 'rejected',
      (response) => changedJson(response, (body) => ({ ...Object(body), attributes: [] })),
    ),
  },
  {
    id: 'second-key-clears-the-configuration',
    title: 'The acceptance of a second key of a device removes its configuration.',
    violates: ['configuration.written-is-read'],
    operations: ['set-auth-set-status', 'get-configuration'],
    alter: lostBy(
      (decision, earlierDecisions) => decision === 'accepted' && earlierDecisions.length === 0,
      () => ownResponse(200, {}),
    ),
  },
  {
    id: 'acceptance-lapses-after-a-month',
    title: 'A device that got its first token more than a month ago gets no more tokens.',
    violates: ['tokens.expired-is-renewed', 'auth.accepted-gets-token'],
    operations: ['post-auth-request'],
    alter: laterThan(
      MONTH_MS,
      (request) => String(objectOf(request).id_data),
      (_, { status }) => status === 200,
      () => ownResponse(401, { error: 'your time is over', request_id: 'defect' }),
    ),
  },
  {
    id: 'log-is-refused-an-hour-after-the-end',
    title: 'A log is answered with 404 an hour after the end of its deployment.',
    violates: ['log.after-failure'],
    operations: ['put-deployment-status', 'put-deployment-log'],
    alter: laterThan(
      HOUR_MS,
      idOf,
      (request) => request.operation === 'put-deployment-status' && isEnd(request),
      (response, request) =>
        request.operation === 'put-deployment-log' && isSuccess(response)
          ? ownResponse(404, { error: 'not found', request_id: 'defect' })
          : response,
    ),
  },
  {
    id: 'log-after-already-installed-is-404',
    title: 'A log is answered with 404 once the device has reported already-installed.',
    violates: ['log.is-accepted'],
    operations: ['put-deployment-status', 'put-deployment-log'],
    alter: refusesLogsAfter('already-installed'),
  },
  {
    id: 'short-log-is-added-to-a-long-one',
    title: 'A short log is added to the long one that the device uploaded before.',
    violates: ['log.is-replaced'],
    operations: ['put-deployment-log'],
    alter: addsToLongLogs,
  },
  {
    id: 'levels-of-logs-are-in-small-letters',
    title: 'Users read the levels of a log in small letters.',
    violates: ['log.is-kept', 'service.legal-values-are-kept'],
    operations: ['put-deployment-log'],
    alter: requestBecomes((request) =>
      changedJson(request, (body) => {
        const { messages, ...others } = Object(body);
        if (!Array.isArray(messages)) return body;
        const small = messages.map((each) =>
          typeof each?.level === 'string' ? { ...each, level: each.level.toLowerCase() } : each,
        );
        return { ...others, messages: small };
      }),
    ),
  },
  {
    id: 'only-the-newest-deployments-take-reports',
    title:
      'Reports and logs on a deployment that is older than the newest three are answered with 404.',
    violates: ['log.is-accepted', 'status.each-value-is-accepted', 'status.is-204'],
    operations: ['put-deployment-status', 'put-deployment-log'],
    alter: knowsThree,
  },
];
