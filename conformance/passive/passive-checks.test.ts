import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { exchangeOf } from '../target/exchange.ts';
import { TransportFailure } from '../target/transport-failure.ts';
import {
  type InventedExchange,
  type InventedParts,
  violationsIn,
} from '../testing/invented-exchanges.ts';
import { passiveChecks } from './catalogue.ts';
import { linkPaths, requirementOn } from './response-parts.ts';
import { isMissingResponse, SuiteTrafficJudge } from './suite-traffic-judge.ts';

const base = 'http://host:8080/prefix';
const names = vendorNames('X-SVC');
const error = { error: 'no', request_id: 'r-1' };
const controlMap = {
  id: 'd-1',
  priority: 1,
  states: { ArtifactInstall_Enter: { action: 'pause' } },
};
const artifact = {
  artifact_name: 'release-1',
  source: { uri: 'https://files.example/a', expire: '2026-01-31T12:00:00+01:00' },
  device_types_compatible: ['board'],
};
const entry = {
  actor: { id: 'u-1', type: 'user' },
  time: '2026-01-31T12:00:00Z',
  action: 'open_terminal',
  object: { id: 'o-1', type: 'device' },
};
const page = '<html>no</html>';

/** Returns the head of the first entry of an artifact file, with this text as the entry's size. */
const entryOfSize = (size: string) => `version${'\0'.repeat(117)}${size}${'\0'.repeat(376)}`;

const refused = (body: unknown, given: InventedParts = {}): InventedExchange => [
  'put-configuration',
  400,
  { body, ...given },
];

describe('the passive checks of the contract', () => {
  it.each<[string, RequirementId, readonly InventedExchange[], string]>([
    ['a fault', 'errors.no-needless-fault', [['get-configuration', 500, { body: error }]], '500'],
    ['another success', 'configuration.write', [['put-configuration', 200]], 'must be 204'],
    ['a redirect', 'configuration.read', [['get-configuration', 302]], 'must be 200'],
    ['an unlisted refusal', 'errors.statuses-are-listed', [['post-alerts', 409]], 'not 409'],
    ['a page', 'errors.body-is-error', [refused(page)], 'must be a JSON object'],
    ['an empty refusal', 'errors.body-is-error', [refused('')], 'without a body'],
    ['a list', 'errors.body-is-error', [refused(['no'])], 'must be a JSON object'],
    ['a page again', 'service.bodies-are-json', [refused(page)], 'must be JSON'],
    ['an error that is an object', 'errors.error-is-string', [refused({ error: {} })], '/error'],
    ['an error without words', 'errors.says-why', [refused({ ...error, error: '' })], 'empty'],
    ['a numeric ID', 'errors.request-id-is-string', [refused({ error: 'no', request_id: 1 })], '1'],
    [
      'another ID than the caller sent',
      'errors.request-id-of-the-caller',
      [refused(error, { sent: { 'X-SVC-RequestID': 'mine' } })],
      "must be the caller's, mine, not r-1",
    ],
    [
      'an ID used twice',
      'errors.request-id-of-the-server',
      [refused(error), refused(error)],
      'r-1',
    ],
    ['an empty ID', 'errors.request-id-of-the-server', [refused({ ...error, request_id: '' })], ''],
    [
      'another ID than in the header',
      'errors.request-id-equals-header',
      [refused(error, { headers: { 'x-svc-requestid': 'r-2' } })],
      'r-2',
    ],
    [
      'never an ID',
      'errors.names-the-request',
      Array.from({ length: 16 }, () => refused({ error: 'no' })),
      '16 refusals',
    ],
    [
      'JSON that says nothing of it',
      'service.json-is-labelled',
      [['get-configuration', 200, { body: '{}' }]],
      'not none',
    ],
    [
      'a token as JSON',
      'auth.token-is-plain-text',
      [['post-auth-request', 200, { body: '"a.b.c"' }]],
      'a bare token',
    ],
    [
      'a token labelled as JSON',
      'service.other-media-types',
      [['post-auth-request', 200, { body: 'a.b.c', headers: { 'content-type': 'text/html' } }]],
      'application/jwt',
    ],
    [
      'a value that is not a string',
      'configuration.read-strings',
      [['get-configuration', 200, { body: { timezone: 7 } }]],
      '200 body: /timezone must be a string, not the number 7',
    ],
    ['cut JSON', 'service.bodies-are-json', [['get-configuration', 200, { body: '{"a' }]], 'JSON'],
    ['a body too many', 'inventory.put-has-no-body', [['put-attributes', 200, { body: {} }]], '{}'],
    [
      'a field that is missing',
      'next.v1-id',
      [['get-next-deployment', 200, { body: { artifact } }]],
      '/id must be there, not none',
    ],
    [
      'a link that leads nowhere',
      'next.v2-source-uri',
      [
        [
          'post-next-deployment-v2',
          200,
          { body: { id: 'd-1', artifact: { ...artifact, source: { uri: '/a' } } } },
        ],
      ],
      'must be an absolute URL',
    ],
    [
      'a time that is none',
      'link.expire',
      [['get-artifact-link', 200, { body: { uri: 'http://a/b', expire: 'tomorrow' } }]],
      '/expire',
    ],
    [
      'a member deep inside',
      'map.action',
      [
        [
          'get-update-control-map',
          200,
          { body: { update_control_map: { id: 'd', states: { S: { action: 1 } } } } },
        ],
      ],
      '/update_control_map/states/S/action must be a string',
    ],
    ['a list without its count', 'audit.total', [['list-audit-logs', 200, { body: [entry] }]], ''],
    ['a list without links', 'audit.links', [['list-audit-logs', 200, { body: [entry] }]], 'first'],
    [
      'an entry without its actor',
      'audit.actor',
      [['list-audit-logs', 200, { body: [{ ...entry, actor: undefined }] }]],
      '/0/actor',
    ],
    ['an export of JSON', 'audit.export-media-type', [['export-audit-logs', 200]], 'text/csv'],
    [
      'a sunset that is not a date',
      'versioning.deprecation-headers',
      [['put-configuration', 204, { headers: { sunset: 'soon' } }]],
      'soon',
    ],
  ])('are violated by %s', (_, requirement, steps, expected) => {
    const found = violationsIn(steps).filter((each) =>
      each.split(':')[0]?.split(',').includes(requirement),
    );
    expect(found).not.toEqual([]);
    expect(found.join('\n')).toContain(expected);
  });

  it('are violated by a status 500, and also the requirement of the operation', () => {
    expect(violationsIn([['get-configuration', 500, { body: error }]])[0]).toContain(
      'configuration.read',
    );
  });
});

describe('the passive checks of the contract', () => {
  const list = { 'x-total-count': '1', link: '</x?page=1>; rel=first' };
  it.each<[string, readonly InventedExchange[]]>([
    ['a refusal without a request ID', [refused({ error: 'no' })]],
    ['a refusal for which no body is shown', [['put-deployment-status', 409]]],
    ['a 401 of the inventory without a body', [['put-attributes', 401]]],
    ['a role that forbids', [['put-configuration', 403, { body: error }]]],
    ['a resource that is missing', [['get-artifact', 404, { body: error }]]],
    ['an overloaded server', [['get-configuration', 503, { headers: { 'retry-after': '5' } }]]],
    ['a full disk', [['put-configuration', 507]]],
    [
      'an artifact file with an entry of less than nothing, which would be read in a circle',
      [['download-configuration', 200, { body: entryOfSize('-0000001000 ') }]],
    ],
    [
      'a fault that the case plans',
      [['get-configuration', 500, { body: error, plansFaults: true }]],
    ],
    [
      'a fault that the operator of a test server plans',
      [['get-configuration', 500, { headers: { 'x-svc-testbed-fault': 'planned' } }]],
    ],
    ['a refusal of what is too large', [['post-alerts', 413, { request: 'x'.repeat(20_000) }]]],
    [
      'a refusal of what is not JSON',
      [['post-alerts', 415, { sent: { 'content-type': 'text/plain' } }]],
    ],
    [
      'what a proxy says of a path',
      [
        [
          'get-artifact',
          400,
          { path: operations['get-artifact'].path.replace('{id}', '%E0%A4%A') },
        ],
      ],
    ],
    ['an odd ID of the caller', [refused(error, { sent: { 'x-svc-requestid': 'two words' } })]],
    [
      'a compressed response',
      [
        [
          'get-configuration',
          200,
          {
            body: 'x',
            headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
          },
        ],
      ],
    ],
    ['words that are left open', [['list-audit-logs', 200, { body: [entry], headers: list }]]],
    ['no control map', [['get-update-control-map', 200, { body: { update_control_map: null } }]]],
    [
      'a control map',
      [
        [
          'get-update-control-map',
          200,
          {
            body: { update_control_map: controlMap },
            path: operations['get-update-control-map'].path.replace('{id}', controlMap.id),
          },
        ],
      ],
    ],
    [
      'further fields',
      [
        [
          'get-next-deployment',
          200,
          { body: { id: 'd', artifact: { ...artifact, more: 1 }, more: [] } },
        ],
      ],
    ],
    [
      'a label of another case',
      [
        [
          'get-configuration',
          200,
          { body: '{}', headers: { 'content-type': 'Application/JSON;charset="UTF-8"' } },
        ],
      ],
    ],
  ])('are not violated by %s', (_, steps) => {
    expect(violationsIn(steps)).toEqual([]);
  });
});

describe('a traffic judge', () => {
  it('counts judged and violating exchanges by requirement and operation', () => {
    const judge = new SuiteTrafficJudge(base, names);
    const outcome = { status: 401, headers: {}, bytes: Buffer.alloc(0), text: '' };
    const request = { method: 'GET', url: `${base}${operations['get-configuration'].path}` };
    const record = exchangeOf(request, outcome, { startMs: 0, elapsedMs: 1 });
    judge.forCase().judge({ request, url: request.url, outcome, record });
    const counts = judge.judgementCounts.get('errors.body-is-error')?.get('get-configuration');
    expect(counts).toEqual({ judged: 1, violated: 1 });
  });

  it('reports an unanswered request as a violation of the operation', () => {
    const each = new SuiteTrafficJudge(base, names).forCase();
    const outcome = new TransportFailure('request-time-limit', 'no complete response within 5 ms');
    const request = { method: 'GET', url: `${base}${operations['get-configuration'].path}` };
    const record = exchangeOf(request, outcome, { startMs: 0, elapsedMs: 5 });
    each.judge({ request, url: request.url, outcome, record });
    expect(
      each.violations.map((violation) => [violation.requirements, isMissingResponse(violation)]),
    ).toEqual([[['configuration.read'], true]]);
  });

  it('ignores an operation that the target does not offer', () => {
    const each = new SuiteTrafficJudge(base, names, { offered: new Set(['connect']) }).forCase();
    const outcome = { status: 404, headers: {}, bytes: Buffer.alloc(0), text: '' };
    const request = { method: 'GET', url: `${base}${operations['get-configuration'].path}` };
    const record = exchangeOf(request, outcome, { startMs: 0, elapsedMs: 5 });
    each.judge({ request, url: request.url, outcome, record });
    expect(each.violations).toEqual([]);
  });

  it('ignores requests that are no operation of the contract', () => {
    const each = new SuiteTrafficJudge(base, names).forCase();
    const outcome = { status: 500, headers: {}, bytes: Buffer.alloc(0), text: '' };
    for (const url of ['http://other/api/devices/v1/deviceconfig/configuration', `${base}/x`]) {
      const request = { method: 'GET', url };
      const record = exchangeOf(request, outcome, { startMs: 0, elapsedMs: 5 });
      each.judge({ request, url, outcome, record });
    }
    expect(each.violations).toEqual([]);
  });
});

describe('the passive checks and their requirements', () => {
  it.each(Object.keys(operations) as OperationId[])(
    'include a requirement on the status of %s',
    (id) => {
      const named = requirementOn(id, ['status']);
      expect((requirements[named] as Requirement).responsePart).toBe('status');
    },
  );

  it('locate the response fields that contain links', () => {
    expect(linkPaths('get-next-deployment')).toEqual([['artifact', 'source', 'uri']]);
    expect(linkPaths('get-artifact-link')).toEqual([['uri']]);
  });

  it('have unique IDs', () => {
    const ids = passiveChecks.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
