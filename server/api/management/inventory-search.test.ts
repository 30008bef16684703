import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import { type AcceptedDevice, authenticate, newDevice } from '../../testing/test-device.ts';
import { namesIn, reportingDevice, setGroup } from '../../testing/test-inventory.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let alpha: AcceptedDevice;
let beta: AcceptedDevice;

const subject = { name: 'disk', type: 'log', status: 'full' };

beforeAll(async () => {
  server = await startTestServer();
  alpha = await reportingDevice(server, 'alpha', { ip: '10.0.0.2', cores: 4, modes: ['a', 'b'] });
  server.clock.advance(1000);
  beta = await reportingDevice(server, 'beta', { ip: '10.0.0.1', cores: 16, note: '' });
  await authenticate(server, newDevice('waiting'));
  await setGroup(server, alpha.id, 'blue');
  const tags = { token: server.adminToken, parameters: { id: beta.id } };
  await server.call('add-tags', { ...tags, json: [{ name: 'site', value: 'north' }] });
  const timestamp = '2026-11-21T12:00:00Z';
  const json = [{ name: 'disk', level: 'CRITICAL', subject, timestamp }];
  await server.call('post-alerts', { token: beta.token, json });
});

afterAll(() => server.close());

function search(json: unknown) {
  return server.call('search-inventory', { token: server.adminToken, json });
}

type Terms = readonly [scope: string, attribute: string, type: string, value: unknown];

function filter([scope, attribute, type, value]: Terms) {
  return { scope, attribute, type, value };
}

describe('the inventory search', () => {
  it.each<[...Terms, readonly string[]]>([
    ['inventory', 'ip', '$eq', '10.0.0.1', ['beta']],
    ['inventory', 'modes', '$eq', 'b', ['alpha']],
    ['inventory', 'note', '$eq', '', ['beta']],
    ['inventory', 'ip', '$ne', '10.0.0.1', ['alpha', 'waiting']],
    ['inventory', 'cores', '$gt', 4, ['beta']],
    ['inventory', 'cores', '$gte', 4, ['alpha', 'beta']],
    ['inventory', 'cores', '$lt', 16, ['alpha']],
    ['inventory', 'cores', '$lte', '16', []],
    ['inventory', 'ip', '$in', ['10.0.0.1', '10.0.0.9'], ['beta']],
    ['inventory', 'ip', '$nin', ['10.0.0.1'], ['alpha', 'waiting']],
    ['inventory', 'ip', '$exists', false, ['waiting']],
    ['inventory', 'ip', '$regex', '^10\\.0\\.0\\.[12]$', ['alpha', 'beta']],
    ['inventory', 'ip', '$regex', '\\.1$', ['beta']],
    ['identity', 'status', '$eq', 'pending', ['waiting']],
    ['identity', 'mac', '$regex', '(?i)A$', ['alpha', 'beta']],
    ['system', 'group', '$eq', 'blue', ['alpha']],
    ['system', 'group', '$exists', false, ['beta', 'waiting']],
    ['system', 'created_ts', '$gt', '2026-11-21T12:00:00Z', ['beta', 'waiting']],
    ['system', 'check_in_time', '$exists', true, ['alpha', 'beta']],
    ['tags', 'site', '$eq', 'north', ['beta']],
    ['inventory', 'site', '$eq', 'north', []],
    ['monitor', 'alerts', '$eq', true, ['beta']],
    ['monitor', 'alert_count', '$gte', 1, ['beta']],
    ['monitor', 'alert_count', '$exists', false, ['alpha', 'waiting']],
  ])('finds for %s/%s %s %j the devices %j', async (scope, attribute, type, value, expected) => {
    const filters = [filter([scope, attribute, type, value])];
    expect(namesIn(await search({ filters }))).toEqual(expected);
  });

  it('finds every device by each of its attributes', async () => {
    const devices = (await search({})).json<InventoryDevice[]>();
    expect(devices).toHaveLength(3);
    for (const { id, attributes } of devices) {
      for (const { scope, name, value } of attributes) {
        const filters = [filter([scope, name, '$eq', value])];
        const found = (await search({ filters, device_ids: [id] })).json<InventoryDevice[]>();
        expect([scope, name, found.map((device) => device.id)]).toEqual([scope, name, [id]]);
      }
    }
  });

  it('combines filters by AND and can be limited to device IDs', async () => {
    const filters = [
      filter(['inventory', 'cores', '$gte', 4]),
      filter(['identity', 'status', '$eq', 'accepted']),
    ];
    expect(namesIn(await search({ filters }))).toEqual(['alpha', 'beta']);
    expect(namesIn(await search({ filters, device_ids: [beta.id, 'unknown'] }))).toEqual(['beta']);
    expect(namesIn(await search({ device_ids: ['unknown'] }))).toEqual([]);
    expect(namesIn(await search({ device_ids: [] }))).toHaveLength(3);
  });

  it('matches words of the text in IDs and identities', async () => {
    expect(namesIn(await search({ text: 'ALPH' }))).toEqual(['alpha']);
    expect(namesIn(await search({ text: ` ${beta.id}  et ` }))).toEqual(['beta']);
    expect(namesIn(await search({ text: 'alpha beta' }))).toEqual([]);
    expect(namesIn(await search({ text: 'mac' }))).toEqual([]);
  });

  it('sorts the devices as requested', async () => {
    const sortBy = (attribute: string, order: string) => [{ scope: 'inventory', attribute, order }];
    expect(namesIn(await search({ sort: sortBy('ip', 'asc') }))).toEqual([
      'waiting',
      'beta',
      'alpha',
    ]);
    expect(namesIn(await search({ sort: sortBy('cores', 'desc') }))).toEqual([
      'beta',
      'alpha',
      'waiting',
    ]);
  });

  it('returns only the requested attributes', async () => {
    const attributes = [
      { scope: 'inventory', attribute: 'ip' },
      { scope: 'identity', attribute: 'status' },
    ];
    const [first] = (await search({ attributes })).json<InventoryDevice[]>();
    expect(first?.attributes.map(({ scope, name, value }) => [scope, name, value])).toEqual([
      ['inventory', 'ip', '10.0.0.2'],
      ['identity', 'status', 'accepted'],
    ]);
  });

  it('comes in pages with the total count', async () => {
    const page = await search({ page: 2, per_page: 2 });
    expect([namesIn(page), page.headers.get('x-total-count')]).toEqual([['waiting'], '3']);
    const beyond = await search({
      page: 9,
      sort: [{ scope: 'system', attribute: 'a', order: 'asc' }],
    });
    expect([namesIn(beyond), beyond.headers.get('x-total-count')]).toEqual([[], '3']);
    expect((await search({ per_page: 500 })).status).toBe(200);
  });
});

describe('a malformed inventory search', () => {
  const key = { scope: 'inventory', attribute: 'ip' };
  const validFilter = { ...key, type: '$eq', value: 'x' };
  const one = (changes: object) => ({ filters: [{ ...validFilter, ...changes }] });

  it.each<[unknown, string]>([
    [[], 'body: must be an object'],
    [null, 'body: must be an object'],
    [{ filters: validFilter }, 'filters'],
    [one({ scope: 'world' }), 'filters.0.scope'],
    [one({ scope: undefined }), 'filters.0.scope'],
    [one({ attribute: '' }), 'filters.0.attribute'],
    [one({ attribute: 'x'.repeat(1025) }), 'filters.0.attribute'],
    [one({ type: '$where' }), 'filters.0.type'],
    [one({ type: undefined }), 'filters.0.type'],
    [one({ value: undefined }), 'filters.0.value'],
    [one({ value: null }), 'filters.0.value'],
    [one({ value: { $gt: '' } }), 'filters.0.value'],
    [one({ type: '$gt', value: [1] }), 'filters.0.value'],
    [one({ type: '$in', value: 'x' }), 'filters.0.value'],
    [one({ type: '$in', value: [['x']] }), 'filters.0.value.0'],
    [one({ type: '$in', value: Array.from({ length: 1001 }, () => 1) }), 'at most 1000'],
    [one({ type: '$exists', value: 'yes' }), 'filters.0.value'],
    [one({ type: '$regex', value: 7 }), 'filters.0.value'],
    [one({ type: '$regex', value: '' }), 'filters.0.value'],
    [one({ type: '$regex', value: 'x'.repeat(257) }), 'filters.0.value'],
    [
      one({ type: '$regex', value: '(' }),
      'the pattern of a $regex is not valid RE2 syntax: missing closing ): (',
    ],
    [
      one({ type: '$regex', value: '(?=x)' }),
      'the pattern of a $regex is not valid RE2 syntax: invalid or unsupported Perl syntax: (?=',
    ],
    [{ filters: Array.from({ length: 101 }, () => validFilter) }, 'filters: must hold at most 100'],
    [{ sort: [key] }, 'sort.0.order'],
    [{ sort: [{ ...key, order: 'up' }] }, 'sort.0.order'],
    [{ attributes: ['ip'] }, 'attributes.0'],
    [{ device_ids: [7] }, 'device_ids.0'],
    [{ device_ids: Array.from({ length: 1001 }, () => 'x') }, 'device_ids: must hold'],
    [{ page: 0 }, 'page: must be at least 1'],
    [{ page: 1.5 }, 'page: must be a whole number'],
    [{ page: '1' }, 'page'],
    [{ per_page: 501 }, 'per_page: must be at most 500'],
    [{ text: 'x'.repeat(257) }, 'text'],
  ])('returns 400 with the place of the problem: %j', async (json, problem) => {
    const response = await search(json);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining(problem),
    ]);
  });
});

describe('a pattern that makes other regular expression engines hang', () => {
  it('returns the matching devices or a 400 within a bounded time', async () => {
    const long = await reportingDevice(server, 'long', { blob: `${'a'.repeat(50_000)}!` });
    const ask = (value: string) =>
      search({ filters: [{ scope: 'inventory', attribute: 'blob', type: '$regex', value }] });
    expect(namesIn(await ask('^(a+)+$'))).toEqual([]);
    expect(namesIn(await ask('^(a+)+!$'))).toEqual(['long']);
    const response = await ask('(a?){400}b$');
    expect([response.status, response.json().error]).toEqual([
      400,
      'body: filters: the pattern of a $regex takes too long to match with the other patterns of the search; simplify it, or search fewer devices',
    ]);
    const parameters = { id: long.id };
    await server.call('decommission-device', { token: server.adminToken, parameters });
  });
});
