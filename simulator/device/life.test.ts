import { afterEach, describe, expect, it } from 'vitest';
import { FleetStopped } from '../network/errors.ts';
import { configurationArtifact, instructionsFor, softwareArtifact } from '../testing/artifacts.ts';
import { ClientFixture, deviceOf, InstantEnvironment, token } from '../testing/client-fixture.ts';
import { type Responses, type StubResponse, StubServer } from '../testing/stub-server.ts';
import { runDevice } from './life.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const recorded = (): StubResponse => ({ status: 204 });
const kindServer: Responses = {
  'post-auth-request': () => ({ status: 200, body: token }),
  'post-monitor-configuration': recorded,
  'post-alerts': recorded,
  'get-configuration': () => ({ status: 200, body: { timezone: 'UTC' } }),
  'put-configuration': recorded,
  'put-attributes': () => ({ status: 200 }),
  'put-deployment-status': recorded,
  'put-deployment-log': recorded,
  'post-next-deployment-v2': recorded,
};

/** Runs one device for `sleeps` waits. */
async function lived(responses: Responses, sleeps: number) {
  const server = await StubServer.start({ ...kindServer, ...responses });
  const fixture = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => fixture.close(),
  );
  const environment = new InstantEnvironment(fixture);
  const device = deviceOf();
  const go = async () => {
    environment.onRest = () => {
      if (environment.sleepsMs.length > sleeps) throw new FleetStopped();
    };
    await expect(runDevice(device, environment, 0)).rejects.toThrow(FleetStopped);
  };
  return { server, environment, device, go };
}

function operationsOf(server: StubServer): string[] {
  return server.requests.map(({ operation }) => operation);
}

function takeInOrder<Item>(responses: readonly Item[], last: Item): () => Item {
  const left = [...responses];
  return () => left.shift() ?? last;
}

describe('the life of a device', () => {
  it('begins with its authentication, its onboarding, its inventory and a poll', async () => {
    const { server, device, go } = await lived({}, 1);
    await go();
    expect(operationsOf(server)).toEqual([
      'post-auth-request',
      'post-monitor-configuration',
      'post-alerts',
      'post-alerts',
      'get-configuration',
      'put-configuration',
      'put-attributes',
      'post-next-deployment-v2',
    ]);
    const levels = server.requestsFor('post-alerts').map(({ body }) => String(body));
    expect(levels[0]).toContain('"level":"CRITICAL"');
    expect(levels[1]).toContain('"level":"OK"');
    expect(server.requestsFor('put-configuration')[0]?.json()).toEqual({ timezone: 'UTC' });
    expect(device).toMatchObject({ life: 'idle', id: 'device-id-1' });
  });

  it('continues with polls alone until its inventory is due again', async () => {
    const { server, go } = await lived({}, 62);
    await go();
    expect(server.requestsFor('post-alerts')).toHaveLength(2);
    expect(server.requestsFor('put-attributes')).toHaveLength(2);
    expect(server.requestsFor('post-next-deployment-v2')).toHaveLength(62);
  });

  it('includes a second inventory when one is requested while the first is sent', async () => {
    let sent = 0;
    const { device, server, go } = await lived(
      {
        'put-attributes': () => {
          if (sent++ === 0) device.inventoryDueMs = Number.NEGATIVE_INFINITY;
          return { status: 200 };
        },
      },
      3,
    );
    await go();
    expect(server.requestsFor('put-attributes')).toHaveLength(2);
  });

  it('includes a wait for acceptance with growing back-off, without errors', async () => {
    const refused = { status: 401, body: { error: 'unauthorized' } };
    const { server, device, environment, go } = await lived(
      { 'post-auth-request': () => refused },
      4,
    );
    await go();
    expect(operationsOf(server)).toEqual(Array(4).fill('post-auth-request'));
    expect(device.life).toBe('pending');
    const [start, first = 0, second = 0, ...furtherSleeps] = environment.sleepsMs;
    expect([start, furtherSleeps]).toEqual([0, [1000, 1000]]);
    expect(first).toBeGreaterThanOrEqual(250);
    expect(first).toBeLessThanOrEqual(500);
    expect(second).toBeGreaterThanOrEqual(500);
    expect(environment.metrics.errorCount).toBe(0);
  });

  it('continues as soon as the user has accepted the device', async () => {
    const answers = takeInOrder<StubResponse>([{ status: 401 }, { status: 401 }], {
      status: 200,
      body: token,
    });
    const { device, server, go } = await lived({ 'post-auth-request': answers }, 3);
    await go();
    expect(device.life).toBe('idle');
    expect(server.requestsFor('post-auth-request')).toHaveLength(3);
  });

  it('includes growing waits while the server does not answer, and then resumes', async () => {
    const answers = takeInOrder<StubResponse>(['cut', 'cut', 'cut'], { status: 200, body: token });
    const { device, environment, go } = await lived({ 'post-auth-request': answers }, 4);
    await go();
    expect(device.life).toBe('idle');
    const [, first = 0, second = 0, third = 0] = environment.sleepsMs;
    expect(first).toBeLessThanOrEqual(500);
    expect(second).toBeGreaterThanOrEqual(500);
    expect(third).toBeGreaterThanOrEqual(1000);
    expect(environment.metrics.errorCount).toBe(3);
  });

  it('includes the wait that a busy server requests with Retry-After', async () => {
    const busy = { status: 429, headers: { 'retry-after': '90' } };
    const answers = takeInOrder<StubResponse>([busy], { status: 204 });
    const { environment, go } = await lived({ 'post-next-deployment-v2': answers }, 2);
    await go();
    expect(environment.sleepsMs).toEqual([0, 90_000, 1000]);
  });

  it('includes polls even when a background request is refused', async () => {
    const { server, environment, go } = await lived(
      {
        'post-monitor-configuration': () => ({ status: 403 }),
        'post-alerts': () => ({ status: 404 }),
        'get-configuration': () => ({ status: 200, body: '<html>' }),
        'put-attributes': () => ({ status: 400 }),
      },
      3,
    );
    await go();
    expect(server.requestsFor('post-next-deployment-v2')).toHaveLength(3);
    expect(server.requestsFor('post-alerts')).toHaveLength(2);
    expect(environment.metrics.errors().map(({ cause }) => cause)).toEqual(
      expect.arrayContaining(['status/403', 'status/404', 'response/not-json', 'status/400']),
    );
  });

  it('resumes the onboarding at the step where the server broke off', async () => {
    const answers = takeInOrder<StubResponse>([{ status: 503 }], { status: 204 });
    const { server, go } = await lived({ 'post-alerts': answers }, 3);
    await go();
    expect(server.requestsFor('post-monitor-configuration')).toHaveLength(1);
    expect(server.requestsFor('post-alerts')).toHaveLength(3);
  });

  it('continues after a 409 to a poll and after invalid instructions', async () => {
    const answers = takeInOrder<StubResponse>(
      [{ status: 409 }, { status: 200, body: { id: 'd' } }],
      {
        status: 204,
      },
    );
    const { device, environment, go } = await lived({ 'post-next-deployment-v2': answers }, 4);
    await go();
    expect(device.life).toBe('idle');
    expect(
      environment.metrics
        .errors()
        .map(({ cause }) => cause)
        .sort(),
    ).toEqual(['response/shape', 'status/409']);
  });
});

describe('a device that is offered a deployment', () => {
  it('sends its new artifact name in the inventory and the next poll', async () => {
    const file = await softwareArtifact('release-2');
    const offers: StubResponse[] = [];
    const { server, device, go } = await lived(
      {
        'post-next-deployment-v2': () => offers.shift() ?? { status: 204 },
        'download-artifact': () => ({ status: 200, body: file }),
      },
      6,
    );
    offers.push({ status: 200, body: instructionsFor('release-2', server.baseUrl) });
    await go();
    const [, second] = server.requestsFor('put-attributes');
    expect(second?.json()).toEqual(
      expect.arrayContaining([
        { name: 'artifact_name', value: 'release-2' },
        { name: 'rootfs-image.app.version', value: 'release-2' },
      ]),
    );
    expect(server.requestsFor('post-next-deployment-v2')[1]?.json()).toMatchObject({
      device_provides: { artifact_name: 'release-2', 'rootfs-image.app.version': 'release-2' },
    });
    expect(device.life).toBe('idle');
  });

  it('reports the configuration that a deployment has installed', async () => {
    const file = await configurationArtifact('configuration-1', { timezone: 'CET' });
    const offers: StubResponse[] = [];
    const { server, go } = await lived(
      {
        'post-next-deployment-v2': () => offers.shift() ?? { status: 204 },
        'download-artifact': () => ({ status: 200, body: file }),
      },
      5,
    );
    offers.push({ status: 200, body: instructionsFor('configuration-1', server.baseUrl) });
    await go();
    const reports = server.requestsFor('put-configuration').map((each) => each.json());
    expect(reports).toEqual([{ timezone: 'UTC' }, { timezone: 'CET' }]);
  });

  it('continues polling after an update that it could not report', async () => {
    const offers: StubResponse[] = [];
    const { server, device, go } = await lived(
      {
        'post-next-deployment-v2': () => offers.shift() ?? { status: 204 },
        'put-deployment-status': () => ({ status: 404 }),
      },
      3,
    );
    offers.push({ status: 200, body: instructionsFor('release-2', server.baseUrl) });
    await go();
    expect(device.life).toBe('idle');
    expect(server.requestsFor('post-next-deployment-v2')).toHaveLength(3);
  });
});

describe('a device that already has the deployed artifact', () => {
  const runDeployment = { deploymentId: 'deployment-1', artifactName: 'factory-image' };

  it('counts as already installed after an empty poll', async () => {
    const { device, environment, go } = await lived({}, 2);
    environment.plannedDeployment = runDeployment;
    await go();
    expect(device.deployments).toMatchObject([{ state: 'already-installed', reported: [] }]);
    expect(environment.settledDeployments).toHaveLength(1);
  });

  it.each([
    ['there is no deployment yet', undefined],
    ['something else is deployed', { ...runDeployment, artifactName: 'release-2' }],
  ])('does not count as already installed when %s', async (_what, plannedDeployment) => {
    const { device, environment, go } = await lived({}, 2);
    environment.plannedDeployment = plannedDeployment;
    await go();
    expect(device.deployments).toEqual([]);
  });
});
