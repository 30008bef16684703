import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment } from '../../../fixtures/contract/management/deployments.ts';
import { publish } from '../../testing/test-artifacts.ts';
import { abort, board, deploy, nextRequests } from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
/** The map holds the deployment IDs by name, in order of creation. */
const ids = new Map<string, string>();
const startSeconds = Date.parse('2026-11-21T12:00:00Z') / 1000;
const unknownId = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  server = await startTestServer();
  await publish(server);
  await publish(server, { name: 'autumn-release' });
  const device = await acceptedDevice(server, 'listed');
  for (const [name, artifact_name] of [
    ['spring', 'release-1'],
    ['Summer', 'release-1'],
    ['autumn', 'autumn-release'],
  ] as const) {
    ids.set(name, await deploy(server, [device], { name, artifact_name }));
    server.clock.advance(1000);
  }
  await abort(server, `${ids.get('spring')}`);
  await nextRequests['POST v1'](server, device.token, board);
  const call = { token: server.adminToken, parameters: { id: device.id }, json: {} };
  const { deployment_id } = (await server.call('deploy-configuration', call)).json();
  ids.set('configuration', String(deployment_id));
});

afterAll(() => server.close());

type ListId = 'list-deployments' | 'list-deployments-v1';

function list(id: ListId, query: string): Promise<TestResponse> {
  return server.call(id, { token: server.adminToken, query: new URLSearchParams(query) });
}

function namesIn(response: TestResponse): string[] {
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  return response.json<Deployment[]>().map(({ id }) => names.get(id) ?? 'another deployment');
}

const shared: [string, string, string[]][] = [
  ['all, the newest first', '', ['configuration', 'autumn', 'Summer', 'spring']],
  ['all, the oldest first', 'sort=asc', ['spring', 'Summer', 'autumn', 'configuration']],
  ['those of a status', 'status=finished', ['spring']],
  ['those that wait', 'status=pending', ['configuration', 'autumn', 'Summer']],
  ['those of software', 'type=software', ['autumn', 'Summer', 'spring']],
  ['those of configurations', 'type=configuration', ['configuration']],
  ['those up to a moment', `created_before=${startSeconds + 1}`, ['Summer', 'spring']],
  ['those from a moment on', `created_after=${startSeconds + 2}`, ['configuration', 'autumn']],
  [
    'those of one second',
    `created_after=${startSeconds + 1}&created_before=${startSeconds + 1}`,
    ['Summer'],
  ],
  ['none between two moments', `created_after=${startSeconds + 9}`, []],
  ['two filters at once', 'type=software&status=pending', ['autumn', 'Summer']],
];
const sharedFaults = [
  'status=scheduled',
  'status=',
  'type=firmware',
  'created_before=soon',
  'created_after=1.5',
  'sort=up',
  'page=0',
  'per_page=501',
];

describe.each(['list-deployments', 'list-deployments-v1'] as const)('the operation %s', (id) => {
  it.each(shared)('returns %s', async (_, query, expected) => {
    const response = await list(id, query);
    expect(namesIn(response)).toEqual(expected);
    expect(response.headers.get('x-total-count')).toBe(String(expected.length));
  });

  it('returns pages with links and a total count', async () => {
    const response = await list(id, 'page=2&per_page=3');
    expect([namesIn(response), response.headers.get('x-total-count')]).toEqual([['spring'], '4']);
    expect(response.headers.get('link')).toMatch(/page=1[^>]*>; rel="prev"/);
    expect(namesIn(await list(id, 'page=3&per_page=3'))).toEqual([]);
  });

  it.each(sharedFaults)('returns 400 for %s', async (query) => {
    const response = await list(id, query);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^query: /),
    ]);
  });
});

describe('the version 2 list of deployments', () => {
  it('can be filtered by IDs, by names and by both', async () => {
    const spring = `id=${ids.get('spring')}`;
    expect(namesIn(await list('list-deployments', `${spring}&id=${ids.get('autumn')}`))).toEqual([
      'autumn',
      'spring',
    ]);
    expect(namesIn(await list('list-deployments', 'name=spring&name=Summer'))).toEqual([
      'Summer',
      'spring',
    ]);
    expect(namesIn(await list('list-deployments', `${spring}&name=autumn`))).toEqual([]);
    expect(namesIn(await list('list-deployments', 'name=summer'))).toEqual([]);
  });

  it('ignores the parameter search', async () => {
    expect(namesIn(await list('list-deployments', 'search=spring'))).toHaveLength(4);
  });
});

describe('the deprecated version 1 list of deployments', () => {
  it.each<[string, string, string[]]>([
    ['a part of the name, whatever its capitals', 'search=UM', ['autumn', 'Summer']],
    ['a part of the name of the artifact', 'search=autumn-rel', ['autumn']],
    ['nothing', 'search=winter', []],
  ])('can be searched by %s', async (_, query, expected) => {
    expect(namesIn(await list('list-deployments-v1', query))).toEqual(expected);
  });

  it('can be searched by the deployment ID', async () => {
    const query = `search=${ids.get('Summer')}`;
    expect(namesIn(await list('list-deployments-v1', query))).toEqual(['Summer']);
  });
});

describe('a configuration deployment in a list', () => {
  it('shows only the beginning of each value', async () => {
    const device = await acceptedDevice(server, 'configured');
    const call = { token: server.adminToken, parameters: { id: device.id } };
    await server.call('set-configuration', { ...call, json: { key: 'secret', on: 'yes' } });
    const deployed = await server.call('deploy-configuration', { ...call, json: {} });
    const id = String(deployed.json().deployment_id);
    const [shown] = (await list('list-deployments', `id=${id}`)).json<Deployment[]>();
    const text = Buffer.from(String(shown?.configuration), 'base64').toString();
    expect(JSON.parse(text)).toEqual({ key: 'sec...<omitted>', on: 'yes' });
    await abort(server, id);
    ids.set('other configuration', id);
  });
});

describe('the statistics of several deployments', () => {
  function statistics(deployment_ids: unknown): Promise<TestResponse> {
    const call = { token: server.adminToken, json: { deployment_ids } };
    return server.call('list-deployment-statistics', call);
  }

  it('are returned once per deployment', async () => {
    const [spring, summer] = [`${ids.get('spring')}`, `${ids.get('Summer')}`];
    expect((await statistics([spring, summer, spring])).json()).toEqual([
      { id: spring, stats: expect.objectContaining({ aborted: 1, pending: 0 }) },
      { id: summer, stats: expect.objectContaining({ aborted: 0, pending: 1, success: 0 }) },
    ]);
  });

  it.each<[string, unknown]>([
    ['none', []],
    ['101', Array.from({ length: 101 }, () => unknownId)],
    ['an ID that is not a UUID', ['no-uuid']],
    ['a string', unknownId],
    ['nothing', undefined],
  ])('return 400 for %s as the list of IDs', async (_, given) => {
    const response = await statistics(given);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
  });

  it('return 404 if one of the deployments is unknown', async () => {
    expect((await statistics([`${ids.get('spring')}`, unknownId])).status).toBe(404);
  });
});
