import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import {
  type InventedExchange,
  type InventedParts,
  violationsIn,
} from '../testing/invented-exchanges.ts';

const date = 'Sat, 31 Jan 2026 12:00:00 GMT';
const id = '0f4a1c52-6f0e-4d4b-9d51-0e9a8f0c7b11';
const artifact = {
  id,
  name: 'release-1',
  device_types_compatible: ['board', 'other'],
  size: 8192,
  updates: [{ files: [{ name: 'a', size: 1 }], meta_data: { any: 1 } }],
  modified: '2026-01-31T12:00:00Z',
};
const controlMap = { id: 'd-1', priority: 1 };
const instructed = {
  id: 'd-1',
  artifact: {
    id,
    artifact_name: 'release-1',
    source: { uri: 'https://files.example/a', expire: '2026-02-01T12:00:00Z' },
    device_types_compatible: ['other', 'board'],
  },
};

function entryAt(time: string, type = 'device', more: object = {}) {
  const device = { identity_data: '{}' };
  const actor = { id: 'u-1', type: 'user', email: 'A@example.com' };
  return { actor, time, action: 'create', object: { id: 'o-1', type, device }, ...more };
}

const early = entryAt('2026-01-30T12:00:00Z');
const late = entryAt('2026-01-31T11:00:00Z');

function pathTo(operation: OperationId, value: string): string {
  return operations[operation].path.replace('{id}', value);
}

function one(body: object, given: InventedParts = {}): InventedExchange {
  return ['get-artifact', 200, { body, path: pathTo('get-artifact', id), ...given }];
}

function listExchange(query: string, body: readonly object[]): InventedExchange {
  return ['list-artifacts', 200, { body, path: `${operations['list-artifacts'].path}?${query}` }];
}

function log(
  query: string,
  body: readonly object[],
  headers: InventedParts['headers'] = {},
): InventedExchange {
  const path = `${operations['list-audit-logs'].path}?${query}`;
  const plainHeaders = { 'x-total-count': '2', link: '<http://host/>; rel="first"', date };
  return ['list-audit-logs', 200, { body, path, headers: { ...plainHeaders, ...headers } }];
}

function exported(times: readonly string[]): InventedParts {
  const body = ['action,time', ...times.map((time) => `create,${time}`), ''].join('\r\n');
  return { body, headers: { 'content-type': 'text/csv' } };
}

function next(artifactPart: object, given: InventedParts = {}): InventedExchange {
  const body = { ...instructed, artifact: { ...instructed.artifact, ...artifactPart } };
  return ['get-next-deployment', 200, { body, headers: { date }, ...given }];
}

function upgraded(headers: Readonly<Record<string, string>>): InventedExchange {
  return ['connect', 101, { sent: { 'Sec-WebSocket-Key': 'a key' }, headers }];
}

function mapped(mapId: string): InventedExchange {
  return [
    'get-update-control-map',
    200,
    { body: { update_control_map: { ...controlMap, id: mapId } } },
  ];
}

function instructedWith(mapId: string): InventedExchange {
  const { id: _, ...others } = instructed.artifact;
  const artifactPart = { ...others, update_control_map: { id: mapId } };
  return ['post-next-deployment-v2', 200, { body: { ...instructed, artifact: artifactPart } }];
}

const accept = createHash('sha1')
  .update('a key258EAFA5-E914-47DA-95CA-C5AB0DC85B11')
  .digest('base64');

describe('the requirements on the meaning of a response', () => {
  it.each<[string, string, readonly InventedExchange[]]>([
    ['another artifact', 'artifacts.fields', [one({ ...artifact, id: id.replace('0', '1') })]],
    [
      'another release',
      'artifacts.list-selects-release',
      [listExchange('release_name=x', [artifact])],
    ],
    ['another device type', 'artifacts.list-selects', [listExchange('device_type=x', [artifact])]],
    ['a long list', 'artifacts.list-bound', [listExchange('', Array(101).fill(artifact))]],
    ['the map of another deployment', 'map.id-is-the-deployment', [mapped('d-1'), mapped('d-2')]],
    [
      'a map of another ID in the next instructions',
      'next.control-map-id',
      [instructedWith('d-2'), instructedWith('d-3')],
    ],
    [
      'an artifact ID in version 2',
      'next.artifact-id-in-v2',
      [['post-next-deployment-v2', 200, { body: instructed }]],
    ],
    [
      'a source that has expired',
      'next.source-expires-later',
      [next({ source: { uri: 'https://files.example/a', expire: '2026-01-31T12:00:00Z' } })],
    ],
    [
      'a link that has expired',
      'link.expire-is-later',
      [
        [
          'get-artifact-link',
          200,
          { body: { uri: 'https://host/', expire: '2020-01-31T12:00:00Z' }, headers: { date } },
        ],
      ],
    ],
    [
      'an empty configuration',
      'download.gives-the-configuration',
      [['download-configuration', 200, { body: '' }]],
    ],
    ['no accept', 'connect.accept-matches-the-key', [upgraded({ upgrade: 'websocket' })]],
    [
      'another protocol',
      'connect.response-upgrade',
      [upgraded({ upgrade: 'h2c', 'sec-websocket-accept': accept })],
    ],
    ['another actor', 'audit.actor-filters', [log('actor_id=u-2', [late, early])]],
    ['another email', 'audit.actor-email-filter', [log('actor_email=b@example.com', [late])]],
    ['an entry too old', 'audit.time-bounds', [log('created_after=1769860000', [early])]],
    [
      'an entry too new',
      'audit.created-before',
      [log('created_before=1769770000', [late], { 'x-total-count': '1' })],
    ],
    [
      'an entry of half a second after created_before',
      'audit.created-before',
      [
        log('created_before=1769770000', [entryAt('2026-01-30T10:46:40.500Z')], {
          'x-total-count': '1',
        }),
      ],
    ],
    ['the oldest first', 'audit.newest-first', [log('', [early, late])]],
    ['the newest first', 'audit.sort-asc', [log('sort=asc', [late, early])]],
    [
      'an export of the oldest first',
      'audit.export-newest-first',
      [['export-audit-logs', 200, exported([early.time, late.time])]],
    ],
    [
      'the member of another type',
      'audit.object-fields-by-type',
      [log('', [entryAt(late.time, 'user')])],
    ],
    ['a long page', 'audit.per-page', [log('object_id=o-1&per_page=1', [late, early])]],
    ['a low total', 'audit.total', [log('object_id=o-1', [late, early, early])]],
    ['a high total', 'audit.total', [log('object_id=o-1', [], { 'x-total-count': '3' })]],
    ['no next', 'audit.link-next', [log('object_id=o-1&per_page=1', [late])]],
    ['no prev', 'audit.link-prev', [log('object_id=o-1&per_page=1&page=2', [early])]],
    ['another name', 'artifacts.name', [one(artifact), one({ ...artifact, name: 'release-2' })]],
    [
      'another checksum',
      'artifacts.updates',
      [
        one({ ...artifact, updates: [{ files: [{ name: 'a', checksum: 'aa' }] }] }),
        one({ ...artifact, updates: [{ files: [{ name: 'a', checksum: 'ab' }] }] }),
      ],
    ],
    [
      'another pair',
      'artifacts.provides',
      [
        one({ ...artifact, artifact_provides: { a: '1' } }),
        one({ ...artifact, artifact_provides: { a: '1', b: '2' } }),
      ],
    ],
    [
      'another size',
      'artifacts.size',
      [one(artifact), listExchange('', [{ ...artifact, size: 8193 }])],
    ],
    [
      'an earlier change',
      'artifacts.modified',
      [one(artifact), one({ ...artifact, modified: '2025-01-31T12:00:00Z' })],
    ],
    [
      'another name in instructions',
      'next.names-the-artifact',
      [one(artifact), next({ artifact_name: 'release-2' })],
    ],
    [
      'other types in instructions',
      'next.types-of-the-artifact',
      [next({}), next({ device_types_compatible: ['board'] })],
    ],
  ])('are violated by %s', (_, requirement, steps) => {
    expect(violationsIn(steps).map((text) => text.split(': ')[0])).toEqual([requirement]);
  });
});

describe('the requirements on the meaning of a response', () => {
  it.each<[string, readonly InventedExchange[]]>([
    ['a map with the ID of the deployment, not of the device', [mapped('d-1'), mapped('d-1')]],
    ['the artifact of the path', [one(artifact)]],
    ['what was requested', [listExchange('release_name=release-1&device_type=board', [artifact])]],
    ['a parameter given twice', [listExchange('release_name=x&release_name=y', [artifact])]],
    [
      'other orders, and what may be left out',
      [
        one(artifact),
        one({ ...artifact, device_types_compatible: ['other', 'board'], size: undefined }),
        one({ ...artifact, updates: [{ files: [{ size: 1, name: 'a' }] }] }),
        next({}),
      ],
    ],
    [
      'the same moment in another zone, and members that nobody knows',
      [
        one({ ...artifact, updates: [{ files: [{ name: 'a', date: '2026-01-31T12:00:00Z' }] }] }),
        one({
          ...artifact,
          updates: [
            { files: [{ name: 'a', date: '2026-01-31T13:00:00.000+01:00', other: 1 }], other: {} },
          ],
        }),
      ],
    ],
    ['a later change', [one(artifact), one({ ...artifact, modified: '2027-01-31T12:00:00Z' })]],
    [
      'a configuration, whose ID is not that of an artifact',
      [
        next({}),
        next({
          artifact_name: 'configuration',
          source: { uri: `https://host${operations['download-configuration'].path}` },
        }),
      ],
    ],
    ['a handshake', [upgraded({ upgrade: 'WebSocket', 'sec-websocket-accept': accept })]],
    [
      'entries that were requested',
      [
        log('actor_id=u-1&actor_type=user&actor_email=a@EXAMPLE.com&object_type=device', [
          late,
          early,
        ]),
        log('sort=asc&created_after=1', [early, late]),
      ],
    ],
    [
      'an actor whose address is not said',
      [log('actor_email=a@example.com', [{ ...late, actor: { id: 'u-1', type: 'user' } }])],
    ],
    ['an export', [['export-audit-logs', 200, exported([late.time, late.time, early.time])]]],
    ['filters of which nobody says what they select', [log('actor_type=robot&sort=up', [early])]],
    ['pages of a log in use', [log('per_page=1', [late], { 'x-total-count': '1' })]],
    [
      'pages of a log at rest',
      [
        log('object_id=o-1&per_page=1', [late], { link: '<x>; rel="first", <y>; rel="next"' }),
        log('object_id=o-1&per_page=1&page=2', [early], { link: '<x>; rel="first prev"' }),
        log('object_id=o-1&per_page=1&page=3', []),
      ],
    ],
  ])('are not violated by %s', (_, steps) => {
    expect(violationsIn(steps)).toEqual([]);
  });
});
