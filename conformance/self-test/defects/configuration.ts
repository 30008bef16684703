/** Defects in the configuration store of a device. */
import { isMap, type Members, membersOf } from '../../target/json-members.ts';
import { jsonOf, objectOf, ownResponse, tokenOf, withJson, withStatus } from '../alter.ts';
import {
  bodyBecomes,
  isAuthorized,
  requestBecomes,
  responseBecomes,
  statusBecomes,
} from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';
import { requestFor } from '../requests.ts';

const get = ['get-configuration'] as const;
const putOnly = ['put-configuration'] as const;

/** Matches valid requests that set pairs. */
export function setsPairs(request: ProxiedRequest): boolean {
  const values = Object.values(objectOf(request));
  return values.length > 0 && values.every((value) => typeof value === 'string');
}

function hasOtherValue(request: ProxiedRequest): boolean {
  return Object.values(objectOf(request)).some((value) => typeof value !== 'string');
}

function isNoMap(request: ProxiedRequest): boolean {
  return request.body.length > 0 && !isMap(jsonOf(request));
}

/** Changes the sent pairs before the target sees them. */
export function pairsBecome(
  change: (name: string, value: unknown) => readonly (readonly [string, unknown])[],
) {
  return (): Alteration => ({
    request: (request) => {
      if (!setsPairs(request)) return request;
      const pairs = Object.entries(objectOf(request)).flatMap(([name, value]) =>
        change(name, value),
      );
      return withJson(request, Object.fromEntries(pairs));
    },
  });
}

/** Drops pairs whose key already exists. */
function keepsFirst(): Alteration {
  return {
    request: async (request, send) => {
      if (!setsPairs(request)) return request;
      const configuration = objectOf(
        await send(requestFor('get-configuration', { token: tokenOf(request) })),
      );
      const changedPairs = Object.entries(objectOf(request)).filter(
        ([name, value]) => value === '' || !(name in configuration),
      );
      return withJson(request, Object.fromEntries(changedPairs));
    },
  };
}

/** Lets a device also read what other devices set. */
function sharesStores(): Alteration {
  const pairsByToken = new Map<string, Members>();
  return {
    response: (response, request) => {
      const token = tokenOf(request);
      if (request.method === 'PUT') {
        if (response.status === 204)
          pairsByToken.set(token, { ...pairsByToken.get(token), ...objectOf(request) });
        return response;
      }
      const otherPairs = [...pairsByToken]
        .filter(([writer]) => writer !== token)
        .map(([, pairs]) => pairs);
      if (response.status !== 200) return response;
      return withJson(response, Object.assign({}, ...otherPairs, membersOf(jsonOf(response))));
    },
  };
}

/** All defects of this area. */
export const configurationDefects: readonly Defect[] = [
  {
    id: 'configuration-is-an-array',
    title: 'The configuration store is read as a list of names and values.',
    violates: ['configuration.read'],
    operations: get,
    alter: bodyBecomes((pairs) => Object.entries(membersOf(pairs))),
  },
  {
    id: 'configuration-lacks-a-pair',
    title: 'Of two pairs in the store, only the second one is read.',
    violates: ['configuration.read-all', 'configuration.written-is-read', 'configuration.update'],
    operations: get,
    alter: bodyBecomes((pairs) => {
      const entries = Object.entries(membersOf(pairs));
      return Object.fromEntries(entries.length === 2 ? entries.slice(1) : entries);
    }),
  },
  {
    id: 'configuration-value-is-wrapped',
    title: 'One of two values in the store is read as an object.',
    violates: ['configuration.read-strings'],
    operations: get,
    alter: bodyBecomes((pairs) => {
      const { colour, ...others } = membersOf(pairs);
      return colour === undefined ? others : { ...others, colour: { value: colour } };
    }),
  },
  {
    id: 'configuration-write-is-200',
    title: 'Setting pairs is answered with 200.',
    violates: ['configuration.write'],
    operations: putOnly,
    alter: responseBecomes((response, request) =>
      response.status === 204 && objectOf(request).timezone === 'UTC' ? ownResponse(200) : response,
    ),
  },
  {
    id: 'configuration-write-returns-the-pairs',
    title: 'Setting pairs is answered with 200 and the pairs.',
    violates: ['configuration.write', 'configuration.write-has-no-body'],
    operations: putOnly,
    alter: responseBecomes((response, request) =>
      response.status === 204 && objectOf(request).timezone === 'UTC'
        ? ownResponse(200, objectOf(request))
        : response,
    ),
  },
  {
    id: 'configuration-write-is-dropped',
    title: 'Pairs that a device sets are not stored.',
    violates: [
      'configuration.empty-removes',
      'configuration.written-is-read',
      'configuration.any-name',
      'configuration.any-string',
      'configuration.read-all',
      'configuration.concurrent-writes',
    ],
    operations: putOnly,
    alter: requestBecomes((request) => withJson(request, {}), setsPairs),
  },
  {
    id: 'configuration-keeps-the-first-value',
    title: 'A key that is set again keeps its old value.',
    violates: ['configuration.update', 'service.equal-forms', 'configuration.any-name'],
    operations: putOnly,
    alter: keepsFirst,
  },
  {
    id: 'configuration-keeps-emptied-keys',
    title: 'A key that is set to the empty string keeps its value.',
    violates: ['configuration.empty-removes'],
    operations: putOnly,
    alter: pairsBecome((name, value) => (value === '' ? [] : [[name, value]])),
  },
  {
    id: 'configuration-body-is-required',
    title: 'Setting without a body is answered with 400.',
    violates: ['configuration.body-is-optional'],
    operations: putOnly,
    alter: responseBecomes((response, { body }) =>
      response.status === 204 && body.length === 0 ? ownResponse(400) : response,
    ),
  },
  {
    id: 'configuration-names-lose-their-dots',
    title: 'Dots in names become underscores.',
    violates: ['configuration.any-name'],
    operations: putOnly,
    alter: pairsBecome((name, value) => [[name.replaceAll('.', '_'), value]]),
  },
  {
    id: 'configuration-values-are-one-line',
    title: 'Only the first line of a value is kept.',
    violates: ['configuration.any-string'],
    operations: putOnly,
    alter: pairsBecome((name, value) => [[name, String(value).split('\n')[0]]]),
  },
  {
    id: 'configuration-takes-other-values',
    title: 'Values that are not strings are answered with 204.',
    violates: ['configuration.values-are-strings'],
    operations: putOnly,
    alter: statusBecomes(400, 204, hasOtherValue),
  },
  {
    id: 'configuration-takes-null',
    title: 'A value that is null is answered with 204.',
    violates: ['configuration.values-are-strings'],
    operations: putOnly,
    alter: statusBecomes(400, 204, (request) => Object.values(objectOf(request)).includes(null)),
  },
  {
    id: 'configuration-is-set-in-part',
    title: 'A refused request still sets its valid values.',
    violates: ['configuration.refused-changes-nothing', 'errors.refused-changes-nothing'],
    operations: putOnly,
    alter: responseBecomes(async (response, request, send) => {
      const texts = Object.entries(objectOf(request)).filter(
        ([, value]) => typeof value === 'string',
      );
      const isInPart = response.status === 400 && texts.length > 0;
      if (isInPart) await send(withJson(request, Object.fromEntries(texts)));
      return response;
    }),
  },
  {
    id: 'configuration-takes-any-json',
    title: 'A body that is not a JSON object is answered with 204.',
    violates: ['configuration.malformed-is-400'],
    operations: putOnly,
    alter: statusBecomes(400, 204, isNoMap),
  },
  {
    id: 'configuration-faults-at-cut-json',
    title: 'A body that is not JSON is answered with 500.',
    violates: ['configuration.malformed-is-400'],
    operations: putOnly,
    alter: responseBecomes((response, request) =>
      response.status === 400 && request.body.length > 0 && jsonOf(request) === undefined
        ? withStatus(response, 500)
        : response,
    ),
  },
  {
    id: 'configuration-is-shared',
    title: 'A device reads what other devices set.',
    violates: [
      'configuration.own-store',
      'configuration.empty-removes',
      'configuration.remove-unknown',
      'configuration.set-by-user',
      'configuration.read-all',
      'configuration.any-name',
    ],
    operations: [...get, ...putOnly],
    alter: sharesStores,
  },
  {
    id: 'configuration-removal-of-nothing-is-404',
    title: 'Removing a key that does not exist is answered with 404.',
    violates: ['configuration.remove-unknown'],
    operations: putOnly,
    alter: () => ({
      request: async (request, send) => {
        const values = Object.values(objectOf(request));
        const isRemoval = values.length > 0 && values.every((value) => value === '');
        if (!isRemoval || !(await isAuthorized(request, send))) return request;
        const token = tokenOf(request);
        const configuration = objectOf(await send(requestFor('get-configuration', { token })));
        const isKnown = Object.keys(objectOf(request)).some((name) => name in configuration);
        return isKnown ? request : ownResponse(404);
      },
    }),
  },
];
