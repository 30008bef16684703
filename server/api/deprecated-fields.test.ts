import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import type { DialectName } from '../../fixtures/contract/dialects.ts';
import type { Artifact } from '../../fixtures/contract/resources.ts';
import { artifactBytes, publish } from '../testing/test-artifacts.ts';
import { board, deploy, nextRequests } from '../testing/test-deployments.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestCall, type TestServer } from '../testing/test-server.ts';

const lastTime = '2027-08-24T23:59:59.999Z';
const endOfLife = '2027-08-25T00:00:00.000Z';
const metaData = { state: { nested: [1, 'two'] }, note: '' };
/** These pairs are the form of `meta_data` that released clients read: a list of objects. */
const pairs = [
  { Key: 'note', Value: '' },
  { Key: 'state', Value: { nested: [1, 'two'] } },
];

let server: TestServer;

afterEach(() => server.close());

async function startAt(time: string, ...dialects: DialectName[]): Promise<void> {
  const clock = new ManualClock(Date.parse(time));
  server = await startTestServer({ clock, dialects: new Set(dialects) });
}

/** Each function reads an artifact by one operation that is not deprecated; returns its updates. */
const updates: Readonly<
  Record<string, (token: string, id: string) => Promise<NonNullable<Artifact['updates']>>>
> = {
  'device: list': async (token) => {
    const query = { release_name: 'release-1', device_type: 'board' };
    return firstOf(await json<Artifact[]>('list-artifacts', { token, query }));
  },
  'device: one': async (token, id) =>
    firstOf([await json<Artifact>('get-artifact', { token, parameters: { id } })]),
  'user v1: one': async (_token, id) =>
    firstOf([await json<Artifact>('show-artifact', { ...user(), parameters: { id } })]),
  'user v2: list': async () => firstOf(await json<Artifact[]>('list-all-artifacts', user())),
  'user v2: releases': async () =>
    firstOf((await json<{ artifacts: Artifact[] }[]>('list-releases', user()))[0]?.artifacts ?? []),
  'user v2: release': async () => {
    const call = { ...user(), parameters: { name: 'release-1' } };
    return firstOf((await json<{ artifacts: Artifact[] }>('get-release', call)).artifacts);
  },
};

const deprecatedUpdates: typeof updates = {
  'user v1: artifacts': async () => firstOf(await json<Artifact[]>('list-artifacts-v1', user())),
  'user v1: artifacts/list': async () =>
    firstOf(await json<Artifact[]>('list-paged-artifacts-v1', user())),
  'user v1: releases': async () =>
    firstOf((await json<{ Artifacts: Artifact[] }[]>('list-releases-v1', user()))[0]?.Artifacts),
  'user v1: releases/list': async () =>
    firstOf(
      (await json<{ Artifacts: Artifact[] }[]>('list-paged-releases-v1', user()))[0]?.Artifacts,
    ),
};

function user(): { token: string } {
  return { token: server.adminToken };
}

async function json<Body>(id: Parameters<TestServer['call']>[0], call: TestCall): Promise<Body> {
  const response = await server.call(id, call);
  expect(response.status).toBe(200);
  return response.json<Body>();
}

function firstOf(artifacts: readonly Artifact[] = []): NonNullable<Artifact['updates']> {
  return artifacts[0]?.updates ?? [];
}

describe('the deprecated artifact field meta_data', () => {
  it.each(Object.entries({ ...updates, ...deprecatedUpdates }))(
    'is a list of keys and values beside metadata until its end of life: %s',
    async (_, updatesBy) => {
      await startAt(lastTime);
      const id = await publish(server, { metaData });
      const { token } = await acceptedDevice(server, 'reader');
      const [update] = await updatesBy(token, id);
      expect(update).toMatchObject({ metadata: metaData, meta_data: pairs });
    },
  );

  it.each(Object.entries(updates))(
    'is an object under the dialect meta-data-object: %s',
    async (_, updatesBy) => {
      await startAt(lastTime, 'meta-data-object');
      const id = await publish(server, { metaData });
      const { token } = await acceptedDevice(server, 'reader');
      const [update] = await updatesBy(token, id);
      expect(update).toMatchObject({ metadata: metaData, meta_data: metaData });
    },
  );

  it('is an empty list when metadata is an empty object', async () => {
    await startAt(lastTime);
    const parameters = { id: await publish(server, { metaData: {} }) };
    const { updates } = await json<Artifact>('show-artifact', { ...user(), parameters });
    expect(updates).toMatchObject([{ metadata: {}, meta_data: [] }]);
  });

  it.each(Object.entries(updates))(
    'is absent from its end of life on: %s',
    async (_, updatesBy) => {
      await startAt(endOfLife);
      const id = await publish(server, { metaData });
      const { token } = await acceptedDevice(server, 'reader');
      const [update] = await updatesBy(token, id);
      expect(update).toMatchObject({ metadata: metaData });
      expect(update).not.toHaveProperty('meta_data');
    },
  );

  it('disappears at its end of life while the server runs', async () => {
    const clock = new ManualClock(Date.parse(lastTime));
    server = await startTestServer({ clock });
    const parameters = { id: await publish(server, { metaData }) };
    const call = { ...user(), parameters };
    const before = await server.call('show-artifact', call);
    clock.advance(1);
    const after = await server.call('show-artifact', call);
    expect([before.text.includes('"meta_data"'), after.text.includes('"meta_data"')]).toEqual([
      true,
      false,
    ]);
  });

  it('is absent from an artifact without metadata', async () => {
    await startAt(lastTime);
    const parameters = { id: await publish(server, await artifactBytes()) };
    const { text } = await server.call('show-artifact', { ...user(), parameters });
    expect(text).not.toMatch(/meta_?data/);
  });
});

describe('the deprecated fields from_release and to_release of a delta job', () => {
  async function shownJob(time: string): Promise<Record<string, unknown>> {
    await startAt(time);
    for (const name of ['release-0', 'release-1']) await publish(server, { name });
    const device = await acceptedDevice(server, 'updated');
    await deploy(server, [device], { autogenerate_delta: true });
    await nextRequests['POST v2'](server, device.token, board);
    const [listed] = await json<Record<string, string>[]>('list-delta-jobs', user());
    for (const name of ['from_release', 'to_release']) expect(listed).not.toHaveProperty(name);
    return json('get-delta-job', { ...user(), parameters: { id: `${listed?.id}` } });
  }

  it('equal from_version and to_version until their end of life', async () => {
    expect(await shownJob(lastTime)).toMatchObject({
      from_version: 'release-0',
      from_release: 'release-0',
      to_version: 'release-1',
      to_release: 'release-1',
    });
  });

  it('are absent from their end of life on', async () => {
    const job = await shownJob(endOfLife);
    expect(job).toMatchObject({ from_version: 'release-0', to_version: 'release-1' });
    for (const name of ['from_release', 'to_release']) expect(job).not.toHaveProperty(name);
  });
});
