import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Release, ReleaseV1 } from '../../../fixtures/contract/management/releases.ts';
import {
  artifactBytes,
  fetchFile,
  linkTo,
  publish,
  shownArtifact,
  uploadArtifact,
} from '../../testing/test-artifacts.ts';
import { entries } from '../../testing/test-audit.ts';
import { abort, deploy } from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});

afterEach(() => server.close());

const adminCall = () => ({ token: server.adminToken });

function list(query = ''): Promise<TestResponse> {
  return server.call('list-releases', { ...adminCall(), query: new URLSearchParams(query) });
}

function show(name: string): Promise<TestResponse> {
  return server.call('get-release', { ...adminCall(), parameters: { name } });
}

function tag(name: string, json: unknown): Promise<TestResponse> {
  return server.call('put-release-tags', { ...adminCall(), parameters: { name }, json });
}

function note(name: string, json: unknown): Promise<TestResponse> {
  return server.call('update-release', { ...adminCall(), parameters: { name }, json });
}

function remove(...names: readonly string[]): Promise<TestResponse> {
  const query = new URLSearchParams();
  for (const name of names) query.append('name', name);
  return server.call('delete-releases', { ...adminCall(), query });
}

function namesIn(response: TestResponse): string[] {
  return response.json<Release[]>().map(({ name }) => name);
}

describe('a release', () => {
  it('contains all artifacts of one name', async () => {
    const first = await publish(server, { deviceTypes: ['board'] });
    server.clock.advance(1000);
    const second = await publish(server, { deviceTypes: ['other'] });
    const response = await show('release-1');
    expect(response.json()).toEqual({
      name: 'release-1',
      modified: new Date(server.clock.now()).toISOString(),
      artifacts: [await shownArtifact(server, first), await shownArtifact(server, second)],
      artifacts_count: 2,
      tags: [],
      notes: '',
    });
    expect((await list()).json()).toEqual([response.json()]);
  });

  it('is found by a name with characters that a path escapes', async () => {
    await publish(server, { name: 'größe/1 %?#' });
    expect((await show('größe/1 %?#')).json()).toMatchObject({ name: 'größe/1 %?#' });
  });

  it.each(['release-9', 'Release-1', 'release-', 'delta'])(
    'returns 404 for the name %s',
    async (name) => {
      await publish(server);
      const responses = [
        await show(name),
        await tag(name, ['x']),
        await note(name, { notes: 'x' }),
      ];
      expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
    },
  );
});

describe('the list of releases', () => {
  beforeEach(async () => {
    for (const name of ['beta', 'alpha', 'gamma']) {
      await publish(server, { name, payloadType: name === 'beta' ? 'app' : 'single-file' });
      server.clock.advance(1000);
    }
    await publish(server, { name: 'alpha', deviceTypes: ['other'] });
    await tag('gamma', ['stable', 'night']);
    await tag('beta', ['stable']);
  });

  it.each<[string, string, string[]]>([
    ['all, by name', '', ['alpha', 'beta', 'gamma']],
    ['a part of the name, whatever its capitals', 'name=ET', ['beta']],
    ['a prefix of the name', 'name=al*', ['alpha']],
    ['a tag', 'tag=stable', ['beta', 'gamma']],
    ['a tag in capitals', 'tag=NIGHT', ['gamma']],
    ['one of several tags', 'tag=night&tag=noon', ['gamma']],
    ['the type of an update', 'update_type=app', ['beta']],
    ['two at once', 'tag=stable&update_type=single-file', ['gamma']],
    ['nothing', 'name=delta', []],
    ['modified:desc', 'sort=modified:desc', ['alpha', 'gamma', 'beta']],
    ['artifacts_count:desc', 'sort=artifacts_count:desc', ['alpha', 'beta', 'gamma']],
    ['tags:asc', 'sort=tags:asc', ['gamma', 'beta', 'alpha']],
  ])('returns the matching releases in order for %s', async (_, query, expected) => {
    const response = await list(query);
    expect(namesIn(response)).toEqual(expected);
    expect(response.headers.get('x-total-count')).toBe(String(expected.length));
  });

  it('comes in pages with the total count', async () => {
    const response = await list('page=2&per_page=2');
    expect([namesIn(response), response.headers.get('x-total-count')]).toEqual([['gamma'], '3']);
    expect(response.headers.get('link')).toMatch(/page=1[^>]*>; rel="prev"/);
    expect(namesIn(await list('page=3&per_page=2'))).toEqual([]);
  });

  it.each(['page=0', 'per_page=501', 'sort=name', 'sort=up:asc', 'name=a&name=b'])(
    'returns 400 for %s',
    async (query) => {
      const response = await list(query);
      expect([response.status, response.json().error]).toEqual([
        400,
        expect.stringMatching(/^query: /),
      ]);
    },
  );

  it('has two deprecated operations, and only the later one has pages', async () => {
    const first = await server.call('list-releases-v1', adminCall());
    expect(
      first.json<ReleaseV1[]>().map(({ Name, Artifacts }) => [Name, Artifacts.length]),
    ).toEqual([
      ['alpha', 2],
      ['beta', 1],
      ['gamma', 1],
    ]);
    const query = { page: '2', per_page: '2', sort: 'name:desc' };
    const paged = await server.call('list-paged-releases-v1', { ...adminCall(), query });
    expect(paged.json<ReleaseV1[]>().map(({ Name }) => Name)).toEqual(['alpha']);
    expect(paged.headers.get('x-total-count')).toBe('3');
  });

  it.each<[Record<string, string>, string[]]>([
    [{ name: 'AMM' }, ['gamma']],
    [{ device_type: 'other' }, ['alpha']],
    [{ update_type: 'app' }, ['beta']],
    [{ description: 'none' }, []],
  ])('can be filtered by its deprecated operations too: %j', async (query, expected) => {
    for (const id of ['list-releases-v1', 'list-paged-releases-v1'] as const) {
      const response = await server.call(id, { ...adminCall(), query });
      expect(response.json<ReleaseV1[]>().map(({ Name }) => Name)).toEqual(expected);
    }
  });

  it('returns 400 for wrong parameters of its deprecated paged operation', async () => {
    for (const query of [{ page: '0' }, { per_page: '501' }, { sort: 'up' }]) {
      const call = { ...adminCall(), query };
      expect((await server.call('list-paged-releases-v1', call)).status).toBe(400);
    }
  });

  it('has two related lists: all tags and all update types', async () => {
    const tags = await server.call('list-release-tags', adminCall());
    const types = await server.call('list-release-types', adminCall());
    expect([tags.json(), types.json()]).toEqual([
      ['night', 'stable'],
      ['app', 'single-file'],
    ]);
  });
});

describe('the tags of a release', () => {
  beforeEach(() => publish(server));

  it('are replaced, in lower case and without duplicates', async () => {
    expect((await tag('release-1', ['old'])).status).toBe(204);
    expect((await tag('release-1', ['Stable', 'stable', 'v1.0_rc-2'])).status).toBe(204);
    expect((await show('release-1')).json()).toMatchObject({ tags: ['stable', 'v1.0_rc-2'] });
    await tag('release-1', []);
    expect((await show('release-1')).json()).toMatchObject({ tags: [] });
  });

  it.each<[string, unknown]>([
    ['no list', { tags: ['x'] }],
    ['null', null],
    ['a number', [7]],
    ['an empty one', ['']],
    ['one with a space', ['a b']],
    ['one with letters beyond ASCII', ['größe']],
    ['one that is too long', ['x'.repeat(1025)]],
    ['21 of them', Array.from({ length: 21 }, (_, at) => `t${at}`)],
  ])('return 400 for %s and stay unchanged', async (_, json) => {
    await tag('release-1', ['kept']);
    const response = await tag('release-1', json);
    expect([response.status, response.json().error]).toEqual([
      400,
      expect.stringMatching(/^body: /),
    ]);
    expect((await show('release-1')).json()).toMatchObject({ tags: ['kept'] });
  });

  it('return 409 beyond 100 different tags over all releases', async () => {
    const twenty = (prefix: string): string[] =>
      Array.from({ length: 20 }, (_, at) => `${prefix}${at}`);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await publish(server, { name });
      expect((await tag(name, twenty(name))).status).toBe(204);
    }
    const response = await tag('release-1', ['a0', 'one-more']);
    expect([response.status, response.json().error]).toEqual([409, expect.stringContaining('100')]);
    expect((await tag('release-1', ['a0', 'e19'])).status).toBe(204);
    expect((await tag('e', twenty('f'))).status).toBe(409);
    await tag('release-1', []);
    expect((await tag('e', twenty('f'))).status).toBe(204);
  });
});

describe('the notes of a release', () => {
  beforeEach(() => publish(server));

  it('are replaced, but stay if the body has none', async () => {
    expect((await note('release-1', { notes: 'Vorsicht: ändert alles 😀' })).status).toBe(204);
    expect((await note('release-1', { name: 'other' })).status).toBe(204);
    expect((await show('release-1')).json()).toMatchObject({ notes: 'Vorsicht: ändert alles 😀' });
    await note('release-1', { notes: '' });
    expect((await show('release-1')).json()).toMatchObject({ notes: '' });
  });

  it.each<[string, unknown]>([
    ['1025 characters', { notes: 'x'.repeat(1025) }],
    ['a line break', { notes: 'a\nb' }],
    ['a control character', { notes: 'a\u0000' }],
    ['half a pair', { notes: 'a\ud83d' }],
    ['a number', { notes: 7 }],
    ['null', { notes: null }],
    ['a string', 'notes'],
  ])('return 400 for %s and stay unchanged', async (_, json) => {
    await note('release-1', { notes: 'kept' });
    expect((await note('release-1', json)).status).toBe(400);
    expect((await show('release-1')).json()).toMatchObject({ notes: 'kept' });
  });

  it('can have 1024 characters', async () => {
    expect((await note('release-1', { notes: 'x'.repeat(1024) })).status).toBe(204);
  });
});

describe('the deletion of releases', () => {
  it('returns 204 and removes their artifacts, files, tags and notes', async () => {
    const ids = [await publish(server), await publish(server, { deviceTypes: ['other'] })];
    await publish(server, { name: 'release-2' });
    await publish(server, { name: 'release-3' });
    await tag('release-1', ['gone']);
    const { token } = await acceptedDevice(server, 'reader');
    const { uri } = await linkTo(server, token, `${ids[0]}`);
    expect((await remove('release-1', 'release-2', 'release-1', 'unknown')).status).toBe(204);
    expect(namesIn(await list())).toEqual(['release-3']);
    expect((await fetchFile(uri)).status).toBe(404);
    expect((await server.call('list-release-tags', adminCall())).json()).toEqual([]);
    await uploadArtifact(server, await artifactBytes());
    expect((await show('release-1')).json()).toMatchObject({ tags: [], artifacts_count: 1 });
  });

  it('returns 409 with the unfinished deployments of a release and deletes none', async () => {
    await publish(server);
    await publish(server, { name: 'release-2' });
    const device = await acceptedDevice(server, 'user-of-it');
    const id = await deploy(server, [device]);
    const response = await remove('release-2', 'release-1');
    expect([response.status, response.json()]).toEqual([
      409,
      {
        error: expect.stringContaining('unfinished'),
        active_deployments: [id],
        request_id: expect.any(String),
      },
    ]);
    expect(namesIn(await list())).toEqual(['release-1', 'release-2']);
    await abort(server, id);
    expect((await remove('release-2', 'release-1')).status).toBe(204);
  });

  it('returns 400 without a name and with more than 100', async () => {
    const many = Array.from({ length: 101 }, (_, at) => `r${at}`);
    for (const names of [[], many]) expect((await remove(...names)).status).toBe(400);
  });

  it('is in the audit log with an entry for each artifact', async () => {
    const first = await publish(server);
    server.clock.advance(1000);
    const ids = [first, await publish(server, { deviceTypes: ['other'] })];
    await tag('release-1', ['seen']);
    await remove('release-1');
    const logged = await entries(server, { object_type: 'artifact' });
    expect(logged.map(({ action, object }) => [action, object.id])).toEqual([
      ['delete', ids[1]],
      ['delete', ids[0]],
      ['update', ids[0]],
      ['create', ids[1]],
      ['create', ids[0]],
    ]);
  });
});
