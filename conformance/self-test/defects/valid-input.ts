/** Defects: the server accepts valid requests only in the variant that its author has tested. */
import {
  changedAt,
  changedJson,
  jsonOf,
  listOf,
  objectOf,
  queryOf,
  withHeaders,
  withJson,
} from '../alter.ts';
import { requestBecomes, responseBecomes } from '../alterations.ts';
import type { Alteration, Defect } from '../defect.ts';
import { equivalence, refuseRequests } from './request-variants.ts';

/** Truncates a list in the body to its first entries before the target sees it. */
function cutTo(count: number, path?: string): () => Alteration {
  const cut = (value: unknown): unknown => (Array.isArray(value) ? value.slice(0, count) : value);
  return requestBecomes((request) =>
    changedJson(request, (value) =>
      path === undefined ? cut(value) : changedAt(value, path, cut),
    ),
  );
}

function withoutEqualNeighbours(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const texts = value.map((each) => JSON.stringify(each));
  return value.filter((_, index) => texts[index] !== texts[index - 1]);
}

/** Changes the device type in requests, as a server does that compares device types loosely. */
function typeBecomes(change: (type: string) => string): () => Alteration {
  const changeText = (value: unknown): unknown =>
    typeof value === 'string' ? change(value) : value;
  return requestBecomes((request) => {
    const query = queryOf(request);
    const type = query.get('device_type');
    if (type !== null) {
      query.set('device_type', change(type));
      return { ...request, query: query.toString() };
    }
    if (jsonOf(request) === undefined) return request;
    const outer = changedJson(request, (value) => changedAt(value, 'device_type', changeText));
    return changedJson(outer, (value) =>
      changedAt(value, 'device_provides.device_type', changeText),
    );
  });
}

const polls = ['get-next-deployment', 'post-next-deployment', 'post-next-deployment-v2'] as const;

const near: readonly Defect[] = [...polls, 'list-artifacts' as const].flatMap((operation) =>
  Object.entries({
    // Types that mix capital and small letters are those of other cases.
    'without-regard-to-case': (type: string) =>
      type === type.toUpperCase() ? type.toLowerCase() : type,
    'by-its-beginning': (type: string) => type.replace(/-2$/, ''),
  }).map(([how, change]) => ({
    id: `${operation}-compares-types-${how}`,
    title: `The operation ${operation} compares device types ${how.replaceAll('-', ' ')}.`,
    violates: ['next.compatible-types-only', 'artifacts.list-selects'] as const,
    operations: [operation],
    alter: typeBecomes(change),
  })),
);

/** Removes the named members before the target sees the body. */
function withoutMembers(names: readonly string[]): () => Alteration {
  const keepMembers = (value: object): object =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
  return requestBecomes((request) => {
    if (listOf(request).length > 0) {
      const otherEntries = listOf(request).filter(
        (each) => !names.includes(String(Object(each).name)),
      );
      return withJson(request, otherEntries);
    }
    return Object.keys(objectOf(request)).length > 0
      ? withJson(request, keepMembers(objectOf(request)))
      : request;
  });
}

/** Grants a token to a key other than the preauthorized one. */
function trustsEveryKey(): Alteration {
  const trusted = new Map<string, string>();
  const identityOf = (text: unknown): string => {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : text;
    return String(Object(value).serial ?? '');
  };
  return {
    response: (response, request) => {
      const { identity_data: identity, pubkey, id_data: identityText } = objectOf(request);
      if (request.operation === 'preauthorize-device') {
        trusted.set(identityOf(identity), String(pubkey));
        return response;
      }
      if (typeof identityText !== 'string' || response.status !== 401) return response;
      try {
        const trustedKey = trusted.get(identityOf(identityText));
        return trustedKey === undefined || trustedKey === pubkey
          ? response
          : { ...response, status: 200, body: Buffer.from('e30.e30.e30') };
      } catch {
        return response;
      }
    },
  };
}

const singleDefects: readonly Defect[] = [
  {
    id: 'percent-encoded-paths-are-404',
    title: 'A path with a percent-encoded letter is not found.',
    violates: equivalence,
    operations: 'all',
    alter: refuseRequests(404, ({ path }) => /%[67][0-9a-f]/i.test(path)),
  },
  {
    id: 'log-is-cut-at-1000-messages',
    title: 'Only the first thousand messages of a log are kept.',
    violates: ['log.is-kept'],
    operations: ['put-deployment-log'],
    alter: cutTo(1000, 'messages'),
  },
  {
    id: 'log-is-cut-at-50-messages',
    title: 'Only the first fifty messages of a log are kept.',
    violates: ['log.level-is-required', 'log.is-kept'],
    operations: ['put-deployment-log'],
    alter: cutTo(50, 'messages'),
  },
  {
    id: 'log-loses-repeated-messages',
    title: 'Of consecutive equal messages only one is kept.',
    violates: ['log.is-kept'],
    operations: ['put-deployment-log'],
    alter: requestBecomes((request) =>
      changedJson(request, (value) => changedAt(value, 'messages', withoutEqualNeighbours)),
    ),
  },
  {
    id: 'attributes-are-cut-at-30',
    title: 'Only the first thirty attributes of a request are kept.',
    violates: ['inventory.patch-adds', 'inventory.put-replaces', 'inventory.put-assigns'],
    operations: ['patch-attributes', 'put-attributes'],
    alter: cutTo(30),
  },
  {
    id: 'attributes-lose-names-of-javascript',
    title: 'Attributes with names such as constructor are lost.',
    violates: ['inventory.patch-adds', 'inventory.patch-upserts', 'inventory.string'],
    operations: ['patch-attributes'],
    alter: withoutMembers(['__proto__', 'constructor', 'toString']),
  },
  {
    id: 'settings-lose-names-of-javascript',
    title: 'Configuration keys such as __proto__ are lost.',
    violates: ['configuration.any-name'],
    operations: ['put-configuration'],
    alter: withoutMembers(['__proto__']),
  },
  {
    id: 'many-settings-are-refused',
    title: 'More than fifty configuration keys at once are refused.',
    violates: ['configuration.read-all'],
    operations: ['put-configuration'],
    alter: refuseRequests(400, (request) => {
      const { length } = Object.keys(objectOf(request));
      return length > 50 && length < 100;
    }),
  },
  {
    id: 'many-alerts-are-refused',
    title: 'More than twelve alerts at once are refused.',
    violates: ['alerts.are-accepted'],
    operations: ['post-alerts'],
    alter: refuseRequests(400, (request) => listOf(request).length > 12),
  },
  {
    id: 'monitors-are-cut-at-20',
    title: 'Only the first twenty monitors of a device are stored.',
    violates: ['monitor.is-stored'],
    operations: ['post-monitor-configuration'],
    alter: cutTo(20),
  },
  {
    id: 'large-deployments-are-cut',
    title: 'A deployment reaches only the first fifty devices that it lists.',
    violates: ['next.get-pending-is-200'],
    operations: ['create-deployment'],
    alter: cutTo(50, 'devices'),
  },
  {
    id: 'every-key-of-a-preauthorized-identity-is-trusted',
    title: 'A pre-authorized identity is accepted with any key that signs its request.',
    violates: [
      'auth.preauthorized-must-sign',
      'auth.new-key-waits',
      'auth.identity-is-the-content',
    ],
    operations: ['preauthorize-device', 'post-auth-request'],
    alter: trustsEveryKey,
  },
  {
    id: 'if-modified-since-is-compared-exactly',
    title: 'If-Modified-Since is honoured only if it equals Last-Modified.',
    violates: ['link.later-modified-since'],
    operations: ['download-artifact'],
    alter: () => {
      const changedTexts = new Map<string, string>();
      return {
        request: (request) => {
          const since = request.headers['if-modified-since'];
          const last = changedTexts.get(request.path);
          const isLater = Date.parse(since ?? '') > Date.parse(last ?? '');
          return isLater ? withHeaders(request, { 'if-modified-since': undefined }) : request;
        },
        response: (response, { path }) => {
          const last = response.headers['last-modified'];
          if (last !== undefined) changedTexts.set(path, last);
          return response;
        },
      };
    },
  },
  {
    id: 'total-ignores-the-type-of-the-actor',
    title: 'X-Total-Count includes entries that a filter by actor type excludes.',
    violates: ['audit.total'],
    operations: ['list-audit-logs'],
    alter: responseBecomes(
      (response) => {
        const total = Number(response.headers['x-total-count'] ?? 0) + 1;
        return withHeaders(response, { 'x-total-count': String(total) });
      },
      (request) => queryOf(request).has('actor_type'),
    ),
  },
];

/** Spec: What the service does; Authentication */
export const validInputDefects: readonly Defect[] = [...near, ...singleDefects];
