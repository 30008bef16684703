import { afterEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { ManagementClient } from '../api-client/management.ts';
import { deviceKey } from '../identity/device-key.ts';
import { FleetStopped } from '../network/errors.ts';
import { ClientFixture, deviceOf, sessionOf, token } from '../testing/client-fixture.ts';
import {
  type Responses,
  type StubRequest,
  type StubResponse,
  StubServer,
} from '../testing/stub-server.ts';
import { FleetUser } from './fleet-user.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const when = '2026-01-31T12:00:00Z';

interface ListedSet {
  readonly id: string;
  readonly status: string;
  readonly pubkey: string;
}

/** Runs a user with one pending device for `rounds` rounds. */
async function hired(responses: Responses, rounds: number) {
  const server = await StubServer.start({
    login: () => ({ status: 200, body: token }),
    'list-devices': () => ({ status: 200, body: [] }),
    'set-auth-set-status': () => ({ status: 204 }),
    'create-deployment': () => ({ status: 201, headers: { location: '/x/deployment-1' } }),
    ...responses,
  });
  const { transport, clock, metrics } = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => transport.close(),
  );
  const device = deviceOf();
  device.session = await sessionOf();
  device.life = 'pending';
  const credentials = { email: 'e', password: 'p' };
  let left = rounds;
  const sleepsMs: number[] = [];
  const management = new ManagementClient({ transport, clock, credentials });
  const fleetUser = new FleetUser({
    management,
    devices: [device],
    metrics,
    random: seededRandom('x'),
    clock,
    sleep: async (waitMs) => {
      sleepsMs.push(waitMs);
      if (--left <= 0) throw new FleetStopped();
    },
    deployment: async (devices) => {
      const wanted = { name: 'test', artifact_name: 'release-2', devices: [...devices] };
      const deploymentId = await management.createDeployment(wanted);
      return { deploymentId, artifactName: 'release-2' };
    },
  });
  return { server, device, fleetUser, metrics, sleepsMs, pem: device.session.key.publicKeyPem };
}

/** Lists the fleet's device as the server does, with these authentication sets. */
function deviceListing(status: string, sets: readonly ListedSet[]) {
  const { identity } = deviceOf();
  const auth_sets = sets.map((set) => ({ ...set, identity_data: identity, ts: when }));
  const times = { created_ts: when, updated_ts: when };
  return { id: 'device-1', identity_data: identity, status, ...times, auth_sets };
}

function listsBy(lists: Readonly<Record<string, readonly unknown[]>>) {
  return ({ query }: StubRequest): StubResponse => {
    return { status: 200, body: lists[query.get('status') ?? ''] ?? [] };
  };
}

async function otherPem(): Promise<string> {
  return (await deviceKey(seededRandom('other'), 0, 'ed25519')).publicKeyPem;
}

describe('the user of a fleet', () => {
  it('accepts the set with the key of its device, with any line breaks', async () => {
    const lists: Record<string, unknown[]> = {};
    const { server, device, fleetUser, pem } = await hired({ 'list-devices': listsBy(lists) }, 1);
    const sets = [
      { id: 'set-1', status: 'pending', pubkey: await otherPem() },
      { id: 'set-2', status: 'pending', pubkey: pem.trim().replaceAll('\n', '\r\n') },
    ];
    lists.pending = [deviceListing('pending', sets)];
    await expect(fleetUser.work()).rejects.toThrow(FleetStopped);
    const decisions = server.requestsFor('set-auth-set-status');
    expect(decisions.map(({ parameters }) => parameters)).toEqual([
      { id: 'device-1', aid: 'set-2' },
    ]);
    expect(device.id).toBe('device-1');
  });

  it('accepts a new key of a device that was accepted before', async () => {
    const lists: Record<string, unknown[]> = {};
    const { server, fleetUser, pem } = await hired({ 'list-devices': listsBy(lists) }, 1);
    const sets = [
      { id: 'set-1', status: 'accepted', pubkey: await otherPem() },
      { id: 'set-2', status: 'pending', pubkey: pem },
    ];
    lists.accepted = [deviceListing('accepted', sets)];
    await expect(fleetUser.work()).rejects.toThrow(FleetStopped);
    expect(server.requestsFor('set-auth-set-status')[0]?.parameters.aid).toBe('set-2');
  });

  it.each([
    ['was rejected by somebody', 'rejected'],
    ['is accepted already', 'accepted'],
  ])('does not accept an authentication set that %s', async (_what, status) => {
    const lists: Record<string, unknown[]> = {};
    const { server, fleetUser, pem } = await hired({ 'list-devices': listsBy(lists) }, 2);
    lists.pending = [deviceListing('pending', [{ id: 'set-1', status, pubkey: pem }])];
    await expect(fleetUser.work()).rejects.toThrow(FleetStopped);
    expect(server.requestsFor('set-auth-set-status')).toEqual([]);
  });

  it('requests no list while no device waits', async () => {
    const { server, device, fleetUser } = await hired({}, 3);
    device.life = 'idle';
    await expect(fleetUser.work()).rejects.toThrow(FleetStopped);
    expect(server.requests).toEqual([]);
  });

  it('creates one deployment, and only when it knows every device', async () => {
    const { server, device, fleetUser } = await hired({}, 3);
    device.life = 'idle';
    const first = fleetUser.work();
    await expect(first).rejects.toThrow(FleetStopped);
    expect(fleetUser.runDeployment).toBeUndefined();
    device.id = 'device-1';
    await expect(fleetUser.work()).rejects.toThrow();
    expect(server.requestsFor('create-deployment').map((request) => request.json())).toEqual([
      { name: 'test', artifact_name: 'release-2', devices: ['device-1'] },
    ]);
    expect(fleetUser.runDeployment).toMatchObject({
      deploymentId: 'deployment-1',
      artifactName: 'release-2',
    });
  });

  it('retries when the server fails, and fails after twenty failures in a row', async () => {
    const { server, fleetUser, metrics, sleepsMs } = await hired(
      { 'list-devices': () => ({ status: 500 }) },
      1000,
    );
    await expect(fleetUser.work()).rejects.toMatchObject({ status: 500 });
    expect(server.requestsFor('list-devices')).toHaveLength(20);
    expect(metrics.errorCount).toBe(20);
    expect(sleepsMs[0]).toBeLessThanOrEqual(250);
    expect(sleepsMs.at(-1)).toBeGreaterThanOrEqual(5000);
  });

  it('waits as long as the server requests', async () => {
    const busy: StubResponse = { status: 429, headers: { 'retry-after': '9' } };
    const { fleetUser, sleepsMs } = await hired({ 'list-devices': () => busy }, 1);
    await expect(fleetUser.work()).rejects.toThrow(FleetStopped);
    expect(sleepsMs).toEqual([9000]);
  });

  it('resets its error count as soon as one round succeeds', async () => {
    let requestCount = 0;
    const { fleetUser, metrics } = await hired(
      {
        'list-devices': ({ query }) => {
          const ok = query.get('status') === 'accepted' || ++requestCount % 10 === 0;
          return { status: ok ? 200 : 500, body: [] };
        },
      },
      60,
    );
    await expect(fleetUser.work()).rejects.toThrow(FleetStopped);
    expect(metrics.errorCount).toBeGreaterThan(40);
  });

  it('fails at once when its login is no longer accepted', async () => {
    const { server, fleetUser } = await hired({ login: () => ({ status: 401 }) }, 10);
    await expect(fleetUser.work()).rejects.toMatchObject({ operation: 'login', status: 401 });
    expect(server.requestsFor('login')).toHaveLength(1);
  });

  it.each<[string, string | undefined, StubResponse, boolean]>([
    ['done', 'device-1', { status: 204 }, true],
    ['refused', 'device-1', { status: 404 }, false],
    ['unanswered', 'device-1', 'cut', false],
    ['impossible without an ID', undefined, { status: 204 }, false],
  ])('reports whether an abort was %s', async (_what, id, response, wanted) => {
    const { device, fleetUser } = await hired({ 'abort-device-deployments': () => response }, 1);
    device.id = id;
    expect(await fleetUser.abort(device)).toBe(wanted);
  });
});
