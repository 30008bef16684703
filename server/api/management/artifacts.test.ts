import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Artifact } from '../../../fixtures/contract/resources.ts';
import {
  artifactBytes,
  fetchFile,
  linkTo,
  publish,
  uploadArtifact,
} from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  createDeployment,
  deploy,
  nextRequests,
  report,
} from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});

afterEach(() => server.close());

function list(query: Record<string, string> | URLSearchParams = {}): Promise<TestResponse> {
  return server.call('list-all-artifacts', { token: server.adminToken, query });
}

function remove(id: string): Promise<TestResponse> {
  return server.call('delete-artifact', { token: server.adminToken, parameters: { id } });
}

function show(id: string): Promise<TestResponse> {
  return server.call('show-artifact', { token: server.adminToken, parameters: { id } });
}

function names(response: TestResponse): string[] {
  return response.json<Artifact[]>().map(({ name }) => name);
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

  it('is sorted by name and has the total count', async () => {
    const response = await list();
    expect(names(response)).toEqual(['100%', 'alpha', 'alphabet', '😀 smile']);
    expect(response.headers.get('x-total-count')).toBe('4');
  });

  it.each([
    ['name:desc', ['😀 smile', 'alphabet', 'alpha', '100%']],
    ['modified:asc', ['alpha', 'alphabet', '😀 smile', '100%']],
    ['modified:desc', ['100%', '😀 smile', 'alphabet', 'alpha']],
  ])('can be sorted by %s', async (sort, expected) => {
    expect(names(await list({ sort }))).toEqual(expected);
  });

  it.each<[string, string, string[]]>([
    ['a name', 'name=alpha', ['alpha']],
    ['several names', 'name=alpha&name=100%25&name=none', ['100%', 'alpha']],
    ['a prefix of a name', 'name=alpha*', ['alpha', 'alphabet']],
    ['a prefix of a name beyond the basic plane', 'name=😀*', ['😀 smile']],
    ['any prefix', 'name=*', ['100%', 'alpha', 'alphabet', '😀 smile']],
    ['a device type', 'device_type=other', ['100%']],
    ['a prefix of a device type', 'device_type=oth*', ['100%']],
    ['a description', 'description=about alphabet', ['alphabet']],
    ['a prefix of a description', 'description=about al*', ['alpha', 'alphabet']],
    ['two at once', 'name=alpha*&description=about alpha', ['alpha']],
    ['an empty name', 'name=', []],
    ['a part of a device type', 'device_type=the', []],
    ['a part of a description', 'description=about', []],
    ['the end of a name', 'name=*bet', []],
    ['a name in other letters', 'name=Alpha', []],
    ['a star that is meant as a star', 'name=alpha\\*', []],
    ['a sign that stands for any text in SQL', 'name=alpha%25', []],
    ['two that exclude one another', 'name=alpha&device_type=other', []],
  ])('can be filtered by %s', async (_, query, expected) => {
    const response = await list(new URLSearchParams(query));
    expect(names(response)).toEqual(expected);
    expect(response.headers.get('x-total-count')).toBe(String(expected.length));
  });

  it('comes in pages with links to the neighbouring pages', async () => {
    const seen: unknown[] = [];
    for (const page of ['1', '2', '3']) {
      const response = await list({ page, per_page: '2', device_type: 'board' });
      const relations = [
        ...`${response.headers.get('link')}`.matchAll(/page=(\d+)[^>]*>; rel="(\w+)"/g),
      ];
      seen.push([names(response), relations.map(([, to, name]) => `${name} ${to}`)]);
    }
    expect(seen).toEqual([
      [
        ['alpha', 'alphabet'],
        ['first 1', 'next 2'],
      ],
      [['😀 smile'], ['first 1', 'prev 1']],
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
    'sort=name',
    'sort=size:asc',
    'sort=name:asc&sort=name:desc',
    'device_type=a&device_type=b',
    'description=a&description=b',
  ])('returns 400 for %s', async (query) => {
    const response = await list(new URLSearchParams(query));
    const [, field] = /^(\w+)=/.exec(query) ?? [];
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringContaining(`query: ${field}: `),
    ]);
  });

  it('accepts 500 artifacts per page', async () => {
    expect((await list({ per_page: '500' })).status).toBe(200);
  });
});

describe('the deletion of an artifact', () => {
  it('returns 204; then users, devices and links get 404', async () => {
    const id = await publish(server);
    const { token } = await acceptedDevice(server, 'reader');
    const { uri } = await linkTo(server, token, id);
    const response = await remove(id);
    expect([response.status, response.text]).toEqual([204, '']);
    const device = await server.call('get-artifact', { token, parameters: { id } });
    const statuses = [(await show(id)).status, device.status, (await fetchFile(uri)).status];
    expect(statuses).toEqual([404, 404, 404]);
    expect((await remove(id)).status).toBe(404);
  });

  it('permits another upload with the same name', async () => {
    await remove(await publish(server));
    expect((await uploadArtifact(server, await artifactBytes())).status).toBe(201);
  });

  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid', '%'])(
    'returns 404 for the ID %s',
    async (id) => {
      expect((await remove(id)).status).toBe(404);
    },
  );

  it.each(['waiting', 'offered', 'reported'])(
    'returns 409 while a deployment of the artifact is %s',
    async (state) => {
      const id = await publish(server);
      const device = await acceptedDevice(server, 'user-of-it');
      const deployment = await deploy(server, [device]);
      if (state !== 'waiting') await nextRequests['POST v1'](server, device.token, board);
      if (state === 'reported')
        await report(server, device, { id: deployment, status: 'installing' });
      const response = await remove(id);
      expect([response.status, response.json()]).toEqual([
        409,
        { error: expect.stringContaining('unfinished deployment'), request_id: expect.any(String) },
      ]);
      expect((await show(id)).status).toBe(200);
    },
  );

  it.each(['aborted', 'finished'])('returns 204 once the deployment is %s', async (state) => {
    const id = await publish(server);
    const device = await acceptedDevice(server, 'user-of-it');
    const deployment = await deploy(server, [device]);
    await nextRequests['POST v1'](server, device.token, board);
    if (state === 'aborted') await abort(server, deployment);
    else await report(server, device, { id: deployment, status: 'success' });
    expect((await remove(id)).status).toBe(204);
  });

  it('leaves nothing to offer to a device that resumes a finished deployment', async () => {
    const id = await publish(server);
    const device = await acceptedDevice(server, 'late-user');
    const deployment = await deploy(server, [device]);
    await nextRequests['POST v1'](server, device.token, board);
    await report(server, device, { id: deployment, status: 'failure' });
    await remove(id);
    await report(server, device, { id: deployment, status: 'downloading' });
    expect((await nextRequests['POST v1'](server, device.token, board)).status).toBe(204);
  });

  it('makes the name unusable for a new deployment', async () => {
    await remove(await publish(server));
    const device = await acceptedDevice(server, 'too-late');
    expect((await createDeployment(server, [device])).status).toBe(422);
  });
});

describe('a change of the description of an artifact', () => {
  const describeIt = (id: string, json: unknown): Promise<TestResponse> =>
    server.call('update-artifact', { token: server.adminToken, parameters: { id }, json });

  it('returns 204 and changes only description and modification time', async () => {
    const id = await publish(server);
    const artifactBefore = (await show(id)).json<Artifact>();
    server.clock.advance(60_000);
    const response = await describeIt(id, { description: 'größer', name: 'not this' });
    expect([response.status, response.text]).toEqual([204, '']);
    const modified = new Date(server.clock.now()).toISOString();
    expect((await show(id)).json()).toEqual({ ...artifactBefore, description: 'größer', modified });
    const { token } = await acceptedDevice(server, 'reader');
    const device = await server.call('get-artifact', { token, parameters: { id } });
    expect(device.json()).toMatchObject({ description: 'größer', modified });
  });

  it('accepts an empty string as the new description', async () => {
    const id = await publish(server);
    await describeIt(id, { description: 'x' });
    expect((await describeIt(id, { description: '' })).status).toBe(204);
    expect((await show(id)).json()).toMatchObject({ description: '' });
  });

  it.each<[string, unknown]>([
    ['no description', {}],
    ['a number', { description: 7 }],
    ['null', { description: null }],
    ['a list', []],
    ['a string', 'text'],
    ['one that is too long', { description: 'x'.repeat(4097) }],
  ])('returns 400 for %s, and nothing changes', async (_, json) => {
    const id = await publish(server);
    const response = await describeIt(id, json);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
    expect((await show(id)).json()).not.toHaveProperty('description');
  });

  it('returns 413 for a body above the size limit', async () => {
    const id = await publish(server);
    const json = { description: 'x'.repeat(2 ** 20) };
    expect((await describeIt(id, json)).status).toBe(413);
  });

  it.each(['00000000-0000-4000-8000-000000000000', 'no-uuid'])(
    'returns 404 for the ID %s',
    async (id) => {
      expect((await describeIt(id, { description: 'x' })).status).toBe(404);
    },
  );

  it.each(['unfinished', 'finished'])(
    'returns 422 if a deployment of the artifact is %s',
    async (state) => {
      const id = await publish(server);
      const device = await acceptedDevice(server, 'user-of-it');
      const deployment = await deploy(server, [device]);
      if (state === 'finished') await abort(server, deployment);
      const response = await describeIt(id, { description: 'x' });
      expect([response.status, response.json().error]).toEqual([
        422,
        expect.stringContaining('used'),
      ]);
      expect((await show(id)).json()).not.toHaveProperty('description');
    },
  );
});

describe('the storage usage', () => {
  async function usage(): Promise<unknown> {
    const response = await server.call('get-storage-usage', { token: server.adminToken });
    return response.json();
  }

  it('has the limit 0, which means none, and counts the bytes of all files', async () => {
    expect(await usage()).toEqual({ limit: 0, usage: 0 });
    const [one, two] = [await artifactBytes(), await artifactBytes({ name: 'release-2' })];
    const id = await publish(server, one);
    await publish(server, two);
    expect(await usage()).toEqual({ limit: 0, usage: one.length + two.length });
    await remove(id);
    expect(await usage()).toEqual({ limit: 0, usage: two.length });
  });
});

describe('the deprecated lists of artifacts', () => {
  beforeEach(async () => {
    for (const name of ['beta', 'alpha', 'gamma']) {
      const bytes = await artifactBytes({
        name,
        deviceTypes: name === 'beta' ? ['other'] : ['board'],
      });
      await uploadArtifact(server, bytes, { description: `about ${name}` });
      server.clock.advance(1000);
    }
  });

  it.each<[string, string, string[]]>([
    ['all', '', ['alpha', 'beta', 'gamma']],
    ['a part of the name, whatever its capitals', 'name=AMM', ['gamma']],
    ['a part of the description', 'description=about', ['alpha', 'beta', 'gamma']],
    ['a device type', 'device_type=other', ['beta']],
    ['a part of a device type', 'device_type=othe', []],
  ])('can be filtered by name, description and device type: %s', async (_, query, expected) => {
    const call = { token: server.adminToken, query: new URLSearchParams(query) };
    expect(names(await server.call('list-artifacts-v1', call))).toEqual(expected);
    const paged = await server.call('list-paged-artifacts-v1', call);
    expect(names(paged)).toEqual(expected);
    expect(paged.headers.get('x-total-count')).toBe(String(expected.length));
  });

  it('support pages and sorting only in the paged list', async () => {
    const query = { page: '2', per_page: '2', sort: 'modified:desc' };
    const call = { token: server.adminToken, query };
    expect(names(await server.call('list-paged-artifacts-v1', call))).toEqual(['beta']);
    expect(names(await server.call('list-artifacts-v1', call))).toHaveLength(3);
  });

  it.each(['page=0', 'per_page=501', 'sort=up', 'name=a&name=b'])(
    'return 400 for %s',
    async (text) => {
      const call = { token: server.adminToken, query: new URLSearchParams(text) };
      expect((await server.call('list-paged-artifacts-v1', call)).status).toBe(400);
    },
  );

  it('take precedence over an artifact with the ID "list"', async () => {
    const call = { token: server.adminToken, parameters: { id: 'list' } };
    expect((await server.call('show-artifact', call)).json()).toBeInstanceOf(Array);
    expect((await server.call('delete-artifact', call)).status).toBe(405);
  });
});

describe('a request of a user for a download link', () => {
  it('returns 404 for an unknown artifact', async () => {
    const parameters = { id: '00000000-0000-4000-8000-000000000000' };
    const call = { token: server.adminToken, parameters };
    expect((await server.call('get-artifact-download', call)).status).toBe(404);
  });

  it('returns a link that serves the file', async () => {
    const bytes = await artifactBytes();
    const parameters = { id: await publish(server, bytes) };
    const call = { token: server.adminToken, parameters };
    const link = (await server.call('get-artifact-download', call)).json<{ uri: string }>();
    expect((await fetchFile(link.uri)).bytes.equals(bytes)).toBe(true);
  });
});
