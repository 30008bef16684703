import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Artifact } from '../../fixtures/contract/resources.ts';
import {
  artifactBytes,
  fetchFile,
  linkTo,
  publish,
  uploadArtifact,
} from '../testing/test-artifacts.ts';
import {
  abort,
  board,
  createDeployment,
  deploy,
  doors,
  report,
} from '../testing/test-deployments.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { type Reply, startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});

afterEach(() => server.close());

function list(query: Record<string, string> | URLSearchParams = {}): Promise<Reply> {
  return server.call('list-all-artifacts', { token: server.adminToken, query });
}

function remove(id: string): Promise<Reply> {
  return server.call('delete-artifact', { token: server.adminToken, parameters: { id } });
}

function show(id: string): Promise<Reply> {
  return server.call('show-artifact', { token: server.adminToken, parameters: { id } });
}

function names(reply: Reply): string[] {
  return reply.json<Artifact[]>().map(({ name }) => name);
}

describe('the list of all artifacts', () => {
  beforeEach(async () => {
    for (const name of ['alpha', 'alphabet', '😀 smile', '100%']) {
      const bytes = await artifactBytes({
        name,
        deviceTypes: name === '100%' ? ['other'] : ['board'],
      });
      await uploadArtifact(server, bytes, { description: `about ${name}` });
      server.clock.advance(1000);
    }
  });

  it('holds the newest first, and tells how many there are', async () => {
    const reply = await list();
    expect(names(reply)).toEqual(['100%', '😀 smile', 'alphabet', 'alpha']);
    expect(reply.headers.get('x-total-count')).toBe('4');
  });

  it.each([
    ['a name', { name: 'alpha' }, ['alpha']],
    ['the beginning of a name', { name: 'alpha*' }, ['alphabet', 'alpha']],
    ['the beginning of a name beyond the basic plane', { name: '😀*' }, ['😀 smile']],
    ['any beginning', { name: '*' }, ['100%', '😀 smile', 'alphabet', 'alpha']],
    ['a device type', { device_type: 'other' }, ['100%']],
    ['a description', { description: 'about alphabet' }, ['alphabet']],
    ['two at once', { name: 'alpha*', description: 'about alpha' }, ['alpha']],
    ['an empty name', { name: '' }, []],
    ['the end of a name', { name: '*bet' }, []],
    ['a name in other letters', { name: 'Alpha' }, []],
    ['a sign that stands for any text in SQL', { name: 'alpha%' }, []],
    ['two that exclude one another', { name: 'alpha', device_type: 'other' }, []],
  ])('can be narrowed to %s', async (_, query, expected) => {
    const reply = await list(query as Record<string, string>);
    expect(names(reply)).toEqual(expected);
    expect(reply.headers.get('x-total-count')).toBe(String(expected.length));
  });

  it('comes in pages with links to its neighbours', async () => {
    const seen: unknown[] = [];
    for (const page of ['1', '2', '3']) {
      const reply = await list({ page, per_page: '2', device_type: 'board' });
      const relations = [
        ...`${reply.headers.get('link')}`.matchAll(/page=(\d+)[^>]*>; rel="(\w+)"/g),
      ];
      seen.push([names(reply), relations.map(([, to, name]) => `${name} ${to}`)]);
    }
    expect(seen).toEqual([
      [
        ['😀 smile', 'alphabet'],
        ['first 1', 'next 2'],
      ],
      [['alpha'], ['first 1', 'prev 1']],
      [[], ['first 1', 'prev 2']],
    ]);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=x',
    'page=',
    'page=1.5',
    'per_page=0',
    'per_page=501',
    'page=1&page=2',
  ])('is 400 with %s', async (query) => {
    const reply = await list(new URLSearchParams(query));
    expect([reply.status, reply.json().error]).toEqual([
      400,
      expect.stringMatching(/^query: (per_)?page: /),
    ]);
  });

  it('takes 500 a page', async () => {
    expect((await list({ per_page: '500' })).status).toBe(200);
  });
});

describe('deleting an artifact', () => {
  it('is 204; then it is 404 to users and devices, and its file is gone', async () => {
    const id = await publish(server);
    const { token } = await acceptedDevice(server, 'reader');
    const { uri } = await linkTo(server, token, id);
    const reply = await remove(id);
    expect([reply.status, reply.text]).toEqual([204, '']);
    const device = await server.call('get-artifact', { token, parameters: { id } });
    const statuses = [(await show(id)).status, device.status, (await fetchFile(uri)).status];
    expect(statuses).toEqual([404, 404, 404]);
    expect((await remove(id)).status).toBe(404);
  });

  it('makes room for another of the same name', async () => {
    await remove(await publish(server));
    expect((await uploadArtifact(server, await artifactBytes())).status).toBe(201);
  });

  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid', '%'])('is 404 for %s', async (id) => {
    expect((await remove(id)).status).toBe(404);
  });

  it.each(['waiting', 'offered', 'reported'])(
    'is 409 while a deployment of it is %s',
    async (state) => {
      const id = await publish(server);
      const device = await acceptedDevice(server, 'user-of-it');
      const deployment = await deploy(server, [device]);
      if (state !== 'waiting') await doors['POST v1'](server, device.token, board);
      if (state === 'reported')
        await report(server, device, { id: deployment, status: 'installing' });
      const reply = await remove(id);
      expect([reply.status, reply.json()]).toEqual([
        409,
        { error: expect.stringContaining('active deployment'), request_id: expect.any(String) },
      ]);
      expect((await show(id)).status).toBe(200);
    },
  );

  it.each(['aborted', 'over'])('is 204 once the deployment is %s', async (state) => {
    const id = await publish(server);
    const device = await acceptedDevice(server, 'user-of-it');
    const deployment = await deploy(server, [device]);
    await doors['POST v1'](server, device.token, board);
    if (state === 'aborted') await abort(server, deployment);
    else await report(server, device, { id: deployment, status: 'success' });
    expect((await remove(id)).status).toBe(204);
  });

  it('leaves a device with nothing that takes up the deployment again', async () => {
    const id = await publish(server);
    const device = await acceptedDevice(server, 'late-user');
    const deployment = await deploy(server, [device]);
    await doors['POST v1'](server, device.token, board);
    await report(server, device, { id: deployment, status: 'failure' });
    await remove(id);
    await report(server, device, { id: deployment, status: 'downloading' });
    expect((await doors['POST v1'](server, device.token, board)).status).toBe(204);
  });

  it('takes its name from those that can be deployed', async () => {
    await remove(await publish(server));
    const device = await acceptedDevice(server, 'too-late');
    expect((await createDeployment(server, [device])).status).toBe(422);
  });
});

describe('who may manage artifacts', () => {
  const operations = [
    'list-all-artifacts',
    'show-artifact',
    'get-artifact-download',
    'delete-artifact',
  ] as const;

  it.each(operations)('%s is 401 without a token, and with that of a device', async (operation) => {
    const id = await publish(server);
    const { token } = await acceptedDevice(server, 'device');
    for (const call of [{}, { token }]) {
      expect((await server.call(operation, { ...call, parameters: { id } })).status).toBe(401);
    }
    expect((await show(id)).status).toBe(200);
  });

  it('a link for users to an unknown artifact is 404', async () => {
    const parameters = { id: '00000000-0000-4000-8000-000000000000' };
    const call = { token: server.adminToken, parameters };
    expect((await server.call('get-artifact-download', call)).status).toBe(404);
  });
});
