import { afterEach, describe, expect, it } from 'vitest';
import type { DeploymentInstructionsV2 } from '../../fixtures/contract/resources.ts';
import { type Behaviour, type BehaviourHooks, UpdateFailure } from '../behaviours/behaviour.ts';
import { FleetStopped } from '../network/errors.ts';
import { configurationArtifact, instructionsFor, softwareArtifact } from '../testing/artifacts.ts';
import {
  ClientFixture,
  deviceOf,
  InstantEnvironment,
  policy,
  sessionOf,
  token,
} from '../testing/client-fixture.ts';
import { type Responses, type StubResponse, StubServer } from '../testing/stub-server.ts';
import { ATTEMPTS_MAX } from './retries.ts';
import { runUpdate } from './update-run.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const recorded = (): StubResponse => ({ status: 204 });

function behaving(hooks: BehaviourHooks): Behaviour {
  const parameters = { installMs: 200, rebootMs: 300 };
  const sentences = {
    description: 'A device of this test.',
    expectedServerBehaviour: 'Records it.',
  };
  return { name: 'tested', ...sentences, parameters, hooks };
}

/** A device that is offered `release-2`, and a server that has it. */
async function offered(responses: Responses = {}, hooks: BehaviourHooks = {}) {
  const file = await softwareArtifact('release-2');
  const server = await StubServer.start({
    'post-auth-request': () => ({ status: 200, body: token }),
    'put-deployment-status': recorded,
    'put-deployment-log': recorded,
    'download-artifact': () => ({ status: 200, body: file }),
    ...responses,
  });
  const fixture = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => fixture.close(),
  );
  const device = deviceOf(behaving(hooks));
  const session = await sessionOf();
  session.token = token;
  const environment = new InstantEnvironment(fixture);
  const run = (change?: Partial<DeploymentInstructionsV2['artifact']>) =>
    runUpdate(
      { device, session, environment },
      instructionsFor('release-2', server.baseUrl, change),
    );
  return { server, device, environment, run };
}

function statuses(server: StubServer): unknown[] {
  const bodies = server.requestsFor('put-deployment-status').map((request) => request.json());
  return bodies.map((body) => (body as { status: string }).status);
}

function logged(server: StubServer): string {
  return server
    .requestsFor('put-deployment-log')
    .map(({ body }) => body.toString())
    .join();
}

describe('an update on a device', () => {
  it('reports its statuses in order and leaves the new provides', async () => {
    const { server, device, environment, run } = await offered();
    device.provides = { ...device.provides, 'rootfs-image.app.old': 'x', other: 'kept' };
    expect(await run()).toBe(true);
    expect(statuses(server)).toEqual(['downloading', 'installing', 'rebooting', 'success']);
    expect({ ...device.provides }).toEqual({
      device_type: 'board',
      artifact_name: 'release-2',
      'rootfs-image.app.version': 'release-2',
      other: 'kept',
    });
    expect(environment.settledDeployments).toMatchObject([
      { state: 'success', unacknowledgedStatus: undefined },
    ]);
    expect(environment.sleepsMs).toEqual([100, 100, 300]);
    expect(server.requestsFor('put-deployment-log')).toHaveLength(0);
  });

  it('needs no reboot for a configuration, and stores only its texts', async () => {
    const configuration = { timezone: 'UTC', level: 7 };
    const file = await configurationArtifact('release-2', configuration);
    const { server, device, run } = await offered({
      'download-artifact': () => ({ status: 200, body: file }),
    });
    expect(await run()).toBe(true);
    expect(statuses(server)).toEqual(['downloading', 'installing', 'success']);
    expect(device.configuration).toEqual({ timezone: 'UTC' });
  });

  it('reports already-installed and downloads nothing if the artifact is installed', async () => {
    const { server, device, environment, run } = await offered();
    device.provides = { ...device.provides, artifact_name: 'release-2' };
    expect(await run()).toBe(false);
    expect(statuses(server)).toEqual(['already-installed']);
    expect(server.requestsFor('download-artifact')).toHaveLength(0);
    expect(environment.settledDeployments).toMatchObject([{ state: 'already-installed' }]);
  });

  it('uploads its log, then reports failure, when it fails on the device', async () => {
    const { server, device, environment, run } = await offered(
      {},
      {
        async whileInstalling(context) {
          context.log('warning', 'sector 7 is bad');
          throw new UpdateFailure('the payload could not be written');
        },
      },
    );
    expect(await run()).toBe(false);
    const order = server.requests.map(({ operation }) => operation);
    expect(order.slice(-2)).toEqual(['put-deployment-log', 'put-deployment-status']);
    expect(statuses(server)).toEqual(['downloading', 'installing', 'failure']);
    expect(logged(server)).toContain('sector 7 is bad');
    expect(logged(server)).toContain('"timestamp":"2026-01-31T12:00:00.100Z"');
    expect(device.provides.artifact_name).toBe('factory-image');
    expect(environment.settledDeployments).toMatchObject([{ state: 'failure' }]);
  });

  it('reports its failure even when the log is refused', async () => {
    const { server, environment, run } = await offered(
      { 'put-deployment-log': () => ({ status: 413 }) },
      { whileInstalling: () => Promise.reject(new UpdateFailure('no')) },
    );
    await run();
    expect(statuses(server).at(-1)).toBe('failure');
    expect(environment.metrics.errors()).toEqual([
      { operation: 'put-deployment-log', cause: 'status/413', count: 1 },
    ]);
  });

  it.each([
    [0, []],
    [1, ['downloading']],
    [2, ['downloading', 'installing']],
    [3, ['downloading', 'installing', 'rebooting']],
  ])('stops at the first 409, even if it answers report %i', async (acceptedReports, wanted) => {
    let reports = 0;
    const { server, device, environment, run } = await offered({
      'put-deployment-status': () => ({ status: reports++ < acceptedReports ? 204 : 409 }),
    });
    expect(await run()).toBe(false);
    expect(device.provides.artifact_name).toBe('factory-image');
    expect(statuses(server)).toHaveLength(acceptedReports + 1);
    expect(device.deployments).toMatchObject([{ state: 'aborted', reported: wanted }]);
    expect(environment.settledDeployments).toHaveLength(1);
    expect(server.requestsFor('put-deployment-log')).toHaveLength(0);
  });

  it('ends as aborted when it fails after the server has aborted it', async () => {
    let reports = 0;
    const { device, run } = await offered(
      { 'put-deployment-status': () => ({ status: reports++ < 2 ? 204 : 409 }) },
      { whileInstalling: () => Promise.reject(new UpdateFailure('no')) },
    );
    await run();
    expect(device.deployments).toMatchObject([{ state: 'aborted' }]);
  });
});

describe('a download in a device update', () => {
  it.each([
    ['a byte of it is wrong', (file: Buffer) => file.fill(7, 5000, 5001), 'artifact/'],
    ['its end is missing', (file: Buffer) => file.subarray(0, 4096), 'artifact/truncated'],
    ['it is not an artifact at all', () => Buffer.from('<html>not found</html>'), 'artifact/'],
    ['it is empty', () => Buffer.alloc(0), 'artifact/'],
  ])('fails the update when the file is damaged: %s', async (_what, spoil, cause) => {
    const file = spoil(await softwareArtifact('release-2'));
    const { server, device, environment, run } = await offered({
      'download-artifact': () => ({ status: 200, body: file }),
    });
    expect(await run()).toBe(false);
    expect(statuses(server)).toEqual(['downloading', 'failure']);
    expect(environment.metrics.errors()[0]?.cause).toContain(cause);
    expect(device.provides.artifact_name).toBe('factory-image');
    expect(server.requestsFor('put-deployment-log')).toHaveLength(1);
  });

  it('fails the update when the payload does not match the manifest', async () => {
    const name = 'release-2';
    const mine = await softwareArtifact(name);
    const checksum = /[0-9a-f]{64}(?= {2}data)/.exec(mine.toString('latin1'))?.[0] ?? '';
    const otherChecksum = checksum.replace(/^./, checksum.startsWith('0') ? '1' : '0');
    const file = Buffer.from(mine.toString('latin1').replace(checksum, otherChecksum), 'latin1');
    const { server, environment, run } = await offered({
      'download-artifact': () => ({ status: 200, body: file }),
    });
    await run();
    expect(environment.metrics.errors()).toEqual([
      { operation: 'download-artifact', cause: 'artifact/checksum', count: 1 },
    ]);
    expect(logged(server)).toContain('its SHA-256 is');
  });

  it.each([
    ['the link is expired', { status: 403 }, 'status/403'],
    ['the file is gone', { status: 404 }, 'status/404'],
    ['the server hangs up', 'cut', 'transport/'],
  ] as const)('fails the update when no file arrives: %s', async (_what, response, cause) => {
    const { server, environment, run } = await offered({ 'download-artifact': () => response });
    await run();
    expect(statuses(server)).toEqual(['downloading', 'failure']);
    expect(environment.metrics.errors()[0]?.cause).toContain(cause);
  });

  it('fails the update when the file is not the offered artifact', async () => {
    const file = await softwareArtifact('release-3');
    const { server, run } = await offered({
      'download-artifact': () => ({ status: 200, body: file }),
    });
    await run();
    expect(logged(server)).toContain('release-2 was offered, but the file holds release-3');
  });

  it('does not begin for another device type, or without a link', async () => {
    const { server, run } = await offered();
    await run({ device_types_compatible: ['panel'] });
    expect(logged(server)).toContain('not for board');
    await run({ source: {} });
    expect(logged(server)).toContain('no link to the artifact');
    expect(server.requestsFor('download-artifact')).toHaveLength(0);
  });
});

describe('a status report that gets no response', () => {
  it('is sent again until it is acknowledged, with growing waits', async () => {
    const responses: StubResponse[] = ['cut', { status: 500 }, { status: 502, body: '<html>' }];
    const { server, environment, run } = await offered({
      'put-deployment-status': () => responses.shift() ?? { status: 204 },
    });
    expect(await run()).toBe(true);
    expect(statuses(server).slice(0, 4)).toEqual(Array(4).fill('downloading'));
    const [first = 0, second = 0, third = 0] = environment.sleepsMs;
    expect(first).toBeGreaterThanOrEqual(250);
    expect(second).toBeGreaterThanOrEqual(500);
    expect(third).toBeGreaterThanOrEqual(1000);
    expect(environment.metrics.errorCount).toBe(3);
  });

  it.each([429, 503])('waits after a %i as long as the server requests', async (status) => {
    const responses: StubResponse[] = [{ status, headers: { 'retry-after': '37' } }];
    const { environment, run } = await offered({
      'put-deployment-status': () => responses.shift() ?? { status: 204 },
    });
    await run();
    expect(environment.sleepsMs[0]).toBe(37_000);
  });

  it('is abandoned after a limited number of attempts, and the update stays unfinished', async () => {
    const { server, device, environment, run } = await offered({
      'put-deployment-status': () => ({ status: 500 }),
    });
    await expect(run()).rejects.toMatchObject({ status: 500 });
    expect(server.requestsFor('put-deployment-status')).toHaveLength(ATTEMPTS_MAX);
    expect(device.deployments).toMatchObject([
      { reported: [], unacknowledgedStatus: 'downloading' },
    ]);
    expect(environment.settledDeployments).toEqual([]);
  });

  it('is not sent again after a permanent error such as 404', async () => {
    const { server, run } = await offered({ 'put-deployment-status': () => ({ status: 404 }) });
    await expect(run()).rejects.toMatchObject({ status: 404 });
    expect(server.requestsFor('put-deployment-status')).toHaveLength(1);
  });

  it('ends when the run ends', async () => {
    const { device, environment, run } = await offered({
      'put-deployment-status': () => ({ status: 500 }),
    });
    environment.onRest = () => {
      throw new FleetStopped();
    };
    await expect(run()).rejects.toThrow(FleetStopped);
    expect(device.deployments).toMatchObject([{ unacknowledgedStatus: 'downloading' }]);
  });
});

describe('the update control map', () => {
  const map = (states: Record<string, { action?: string }>) => ({ id: 'deployment-1', states });
  const answered = (states: Record<string, { action?: string }>): StubResponse => {
    return { status: 200, body: { update_control_map: map(states) } };
  };

  it.each([
    ['ArtifactInstall_Enter', 'pause_before_installing', 'downloading'],
    ['ArtifactReboot_Enter', 'pause_before_rebooting', 'installing'],
    ['ArtifactCommit_Enter', 'pause_before_committing', 'rebooting'],
  ])(
    'pauses the device at %s until a new map lets it continue',
    async (context, paused, nextStatus) => {
      const pause = { [context]: { action: 'pause' } };
      // The map of the first state comes with the instructions, those of the others are fetched.
      const fetched = context === 'ArtifactInstall_Enter' ? 1 : 2;
      const maps: StubResponse[] = Array(fetched).fill(answered(pause));
      if (context === 'ArtifactCommit_Enter') maps.unshift(answered(pause));
      const { server, environment, run } = await offered({
        'get-update-control-map': () =>
          maps.shift() ?? answered({ [context]: { action: 'force_continue' } }),
      });
      expect(await run({ update_control_map: map(pause) })).toBe(true);
      const order = ['downloading', 'installing', 'rebooting', 'success'];
      order.splice(order.indexOf(nextStatus) + 1, 0, paused);
      expect(statuses(server)).toEqual(order);
      expect(
        environment.sleepsMs.filter((waitMs) => waitMs === policy.pollIntervalMs),
      ).toHaveLength(2);
    },
  );

  it.each([
    ['the map is gone', { status: 404 }],
    ['there is none any more', { status: 200, body: {} }],
    ['it says nothing of this moment', answered({})],
    ['its action is empty', answered({ ArtifactInstall_Enter: { action: '' } })],
  ])('does not pause the device when %s', async (_what, response) => {
    const { server, run } = await offered({ 'get-update-control-map': () => response });
    expect(
      await run({ update_control_map: map({ ArtifactInstall_Enter: { action: 'pause' } }) }),
    ).toBe(true);
    expect(statuses(server).at(-1)).toBe('success');
  });

  it('is requested again when the server does not answer', async () => {
    const maps: StubResponse[] = [{ status: 500 }, answered({})];
    const { server, run } = await offered({
      'get-update-control-map': () => maps.shift() ?? { status: 404 },
    });
    await run({ update_control_map: map({ ArtifactInstall_Enter: { action: 'pause' } }) });
    // The map is requested twice while the update is paused, and once before each later state.
    expect(server.requestsFor('get-update-control-map')).toHaveLength(4);
  });

  it.each([
    ['fail', 'says fail'],
    ['dance', 'asks for the unknown action \\"dance\\"'],
  ])('fails the update if it says %s', async (action, reason) => {
    const { server, run } = await offered({
      'get-update-control-map': () => answered({ ArtifactReboot_Enter: { action } }),
    });
    await run({ update_control_map: map({ ArtifactReboot_Enter: { action } }) });
    expect(statuses(server)).toEqual(['downloading', 'installing', 'failure']);
    expect(logged(server)).toContain(reason);
  });

  it('fails the update if it changes from pause to fail', async () => {
    const { server, run } = await offered({
      'get-update-control-map': () => answered({ ArtifactInstall_Enter: { action: 'fail' } }),
    });
    await run({ update_control_map: map({ ArtifactInstall_Enter: { action: 'pause' } }) });
    expect(statuses(server)).toEqual(['downloading', 'pause_before_installing', 'failure']);
  });

  it('is not returned after the deployment was aborted, and the next report gets the 409', async () => {
    let reports = 0;
    const { device, run } = await offered({
      'put-deployment-status': () => ({ status: reports++ < 2 ? 204 : 409 }),
      'get-update-control-map': () => ({ status: 404 }),
    });
    await run({ update_control_map: map({ ArtifactInstall_Enter: { action: 'pause' } }) });
    expect(device.deployments).toMatchObject([
      { state: 'aborted', reported: ['downloading', 'pause_before_installing'] },
    ]);
  });
});
