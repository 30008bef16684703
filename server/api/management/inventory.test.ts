import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import { type AcceptedDevice, authenticate, newDevice } from '../../testing/test-device.ts';
import { namesIn, reportingDevice, setGroup } from '../../testing/test-inventory.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let alpha: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  alpha = await reportingDevice(server, 'alpha', { ip: '10.0.0.2', cores: 4, tags: ['x', 'y'] });
  server.clock.advance(1000);
  await reportingDevice(server, 'beta', { ip: '10.0.0.1', cores: 16, 'a:b': 'c:d' });
  server.clock.advance(1000);
  const gamma = await reportingDevice(server, 'gamma', { ip: '10.0.0.3' });
  await setGroup(server, alpha.id, 'blue');
  await setGroup(server, gamma.id, 'red');
  await authenticate(server, newDevice('waiting'));
});

afterAll(() => server.close());

function list(query: string) {
  const search = new URLSearchParams(query);
  return server.call('list-inventory', { token: server.adminToken, query: search });
}

describe('the inventory list', () => {
  it('has all devices with all attributes in the order of first contact', async () => {
    const response = await list('');
    expect(namesIn(response)).toEqual(['alpha', 'beta', 'gamma', 'waiting']);
    const parameters = { id: alpha.id };
    const one = await server.call('get-inventory', { token: server.adminToken, parameters });
    expect(response.json<InventoryDevice[]>()[0]).toEqual(one.json());
  });

  it.each<[string, readonly string[]]>([
    ['group=blue', ['alpha']],
    ['group=none', []],
    ['has_group=true', ['alpha', 'gamma']],
    ['has_group=false', ['beta', 'waiting']],
    ['has_group=true&group=red', ['gamma']],
    ['has_group=false&group=red', []],
    ['ip=10.0.0.1', ['beta']],
    ['ip=eq:10.0.0.1', ['beta']],
    ['ip=10.0.0.1&ip=10.0.0.2', ['alpha', 'beta']],
    ['cores=4', ['alpha']],
    ['cores=4&ip=10.0.0.1', []],
    ['tags=y', ['alpha']],
    ['a%3Ab=c:d', ['beta']],
    ['unheard-of=1', []],
    ['identity/mac=beta', ['beta']],
    ['identity/status=pending', ['waiting']],
    ['system/group=red', ['gamma']],
    ['mac=beta', []],
    ['sort=ip:asc', ['waiting', 'beta', 'alpha', 'gamma']],
    ['sort=ip', ['gamma', 'alpha', 'beta', 'waiting']],
    ['sort=cores:desc', ['beta', 'alpha', 'gamma', 'waiting']],
    ['sort=system/created_ts:desc', ['gamma', 'waiting', 'beta', 'alpha']],
    ['sort=system/created_ts:desc,identity/mac:desc', ['waiting', 'gamma', 'beta', 'alpha']],
    ['group=red&sort=ip:asc&ip=10.0.0.3', ['gamma']],
  ])('contains for the query ?%s the devices %j', async (query, expected) => {
    expect(namesIn(await list(query))).toEqual(expected);
  });

  it.each(['', 'sort=ip:asc'])('comes in pages with the total count (%s)', async (query) => {
    const all = namesIn(await list(query));
    const response = await list(`${query}&page=2&per_page=3`);
    expect(namesIn(response)).toEqual(all.slice(3));
    expect(response.headers.get('x-total-count')).toBe('4');
    expect(response.headers.get('link')).toMatch(/page=1.*rel="first".*rel="prev"/s);
    expect(namesIn(await list(`${query}&page=3&per_page=3`))).toEqual([]);
  });

  it.each([
    ['page=0', 'query: page'],
    ['per_page=501', 'query: per_page'],
    ['per_page=x', 'query: per_page'],
    ['has_group=yes', 'query: has_group'],
    ['has_group=', 'query: has_group'],
    ['group=a%20b', 'query: group: must be'],
    ['group=', 'query: group: must be'],
    [`group=${'x'.repeat(257)}`, 'query: group: must be'],
    ['sort=ip:up', 'query: sort: ip:up: the order'],
    ['sort=ip:asc&sort=ip:desc', 'query: sort'],
    [
      Array.from({ length: 101 }, (_, at) => `a${at}=1`).join('&'),
      'query: must filter by at most 100',
    ],
  ])('returns 400 for %s', async (query, problem) => {
    const response = await list(query);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining(problem),
    ]);
  });
});

describe('the list of filterable attributes', () => {
  it('has their scope and number of devices, the most common first', async () => {
    const call = { token: server.adminToken };
    const response = await server.call('list-filterable-attributes', call);
    const count = (scope: string, name: string, devices: number) => ({
      scope,
      name,
      count: devices,
    });
    expect(response.json()).toEqual([
      count('identity', 'mac', 4),
      count('identity', 'status', 4),
      count('system', 'created_ts', 4),
      count('system', 'updated_ts', 4),
      count('inventory', 'ip', 3),
      count('system', 'check_in_time', 3),
      count('inventory', 'cores', 2),
      count('system', 'group', 2),
      count('inventory', 'a:b', 1),
      count('inventory', 'tags', 1),
    ]);
  });
});
