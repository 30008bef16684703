import { afterEach, describe, expect, it } from 'vitest';
import { ManagementClient } from '../api-client/management.ts';
import { beginDeployment, type SimulatedDevice } from '../device/device.ts';
import type { UpdateState } from '../device/update-states.ts';
import { ClientFixture, deviceOf, token } from '../testing/client-fixture.ts';
import { type StubResponse, StubServer } from '../testing/stub-server.ts';
import { funnelOf, outcomeOf } from './funnel.ts';
import { reconcile } from './reconciliation.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const runDeployment = { deploymentId: 'deployment-1', artifactName: 'release-2' };

interface Story {
  readonly state?: UpdateState;
  readonly reported?: SimulatedDevice['deployments'][number]['reported'];
  readonly unacknowledgedStatus?: SimulatedDevice['deployments'][number]['unacknowledgedStatus'];
  readonly abortRequested?: boolean;
  readonly life?: SimulatedDevice['life'];
  readonly artifactName?: string;
}

function deviceWith(story: Story, index = 0): SimulatedDevice {
  const device = { ...deviceOf(), index, id: `device-${index}`, life: story.life ?? 'idle' };
  if (story.artifactName)
    device.provides = { device_type: 'board', artifact_name: story.artifactName };
  if (story.state === undefined) return device;
  const deployment = beginDeployment(device, 'deployment-1', 'release-2');
  deployment.state = story.state;
  deployment.reported.push(...(story.reported ?? []));
  deployment.unacknowledgedStatus = story.unacknowledgedStatus;
  deployment.abortRequested = story.abortRequested ?? false;
  return device;
}

/** Compares devices with the server's records of them; `undefined` means no record. */
async function reconciledOf(
  devices: readonly SimulatedDevice[],
  recorded: readonly (string | undefined)[],
) {
  const listed = recorded.flatMap((status, index) => {
    const created = '2026-01-31T12:00:00Z';
    return status === undefined ? [] : [{ id: `device-${index}`, status, created, log: false }];
  });
  return reconciledAgainst(devices, { status: 200, body: listed });
}

async function reconciledAgainst(devices: readonly SimulatedDevice[], response: StubResponse) {
  const server = await StubServer.start({
    login: () => ({ status: 200, body: token }),
    'list-deployment-devices': () => response,
  });
  const { transport, clock } = new ClientFixture(server.baseUrl);
  closers.push(
    () => server.close(),
    () => transport.close(),
  );
  const credentials = { email: 'e', password: 'p' };
  const management = new ManagementClient({ transport, clock, credentials });
  return reconcile({ devices, runDeployment, management });
}

describe('the reconciliation', () => {
  it.each<[string, Story, string | undefined]>([
    ['success', { state: 'success', reported: ['downloading', 'success'] }, 'success'],
    ['failure', { state: 'failure', reported: ['failure'] }, 'failure'],
    ['an abort', { state: 'aborted', reported: ['installing'] }, 'aborted'],
    ['an update midway', { state: 'installing', reported: ['installing'] }, 'installing'],
    [
      'an abort by its own user that no response has shown it',
      { state: 'installing', reported: ['installing'], abortRequested: true },
      'aborted',
    ],
    ['an offer without a report', { state: 'offered' }, 'pending'],
    ['what the server found installed', { state: 'already-installed' }, 'already-installed'],
    ['a device that was never offered anything', {}, 'pending'],
    ['a device for which there was no artifact', {}, 'noartifact'],
    ['a device that the server does not list yet', {}, undefined],
    [
      'a report that arrived though unanswered',
      { state: 'success', reported: ['rebooting'], unacknowledgedStatus: 'success' },
      'success',
    ],
    [
      'a report that was lost',
      { state: 'success', reported: ['rebooting'], unacknowledgedStatus: 'success' },
      'rebooting',
    ],
    [
      'a poll that was answered as the run ended',
      { artifactName: 'release-2' },
      'already-installed',
    ],
  ])('agrees for %s', async (_what, story, servers) => {
    const reconciliation = await reconciledOf([deviceWith(story)], [servers]);
    expect(reconciliation).toMatchObject({
      checked: true,
      ok: true,
      deploymentsChecked: 1,
      differences: [],
    });
  });

  it.each<[string, Story, string | undefined, string, string, string]>([
    [
      'a lost success',
      { state: 'success', reported: ['rebooting', 'success'] },
      'rebooting',
      'success',
      'rebooting',
      'lost',
    ],
    [
      'a doubled outcome',
      { state: 'failure', reported: ['failure'] },
      'success',
      'failure',
      'success',
      'unknown',
    ],
    [
      'an abort that the device slept through',
      { state: 'installing', reported: ['installing'] },
      'aborted',
      'installing',
      'aborted',
      'unknown',
    ],
    [
      'a part that the server has forgotten',
      { state: 'success', reported: ['success'] },
      undefined,
      'success',
      'not listed',
      'lost',
    ],
    [
      'a lost success of a device that the server then found up to date',
      { state: 'success', reported: ['rebooting', 'success'] },
      'already-installed',
      'success',
      'already-installed',
      'lost',
    ],
    [
      'a lost success of a device that was then offered the artifact again',
      { state: 'already-installed', reported: ['success', 'already-installed'] },
      'already-installed',
      'success',
      'already-installed',
      'lost',
    ],
    ['a part that the device never had', {}, 'success', 'no offer', 'success', 'unknown'],
    [
      'an artifact that the device does not have',
      {},
      'already-installed',
      'no offer',
      'already-installed',
      'unknown',
    ],
  ])(
    'finds a difference for %s, and names the device',
    async (_what, story, theirs, fleetStatus, serverStatus, kind) => {
      const reconciliation = await reconciledOf([deviceWith(story)], [theirs]);
      expect(reconciliation.ok).toBe(false);
      expect(reconciliation.differences).toEqual([
        {
          deploymentId: 'deployment-1',
          deviceId: 'device-0',
          deviceIndex: 0,
          kind,
          fleetStatus,
          serverStatus,
        },
      ]);
    },
  );

  it('counts the devices for which the server found no artifact', async () => {
    const devices = [0, 1, 2].map((index) => deviceWith({}, index));
    const reconciliation = await reconciledOf(devices, ['noartifact', 'pending', 'noartifact']);
    expect(reconciliation).toMatchObject({ ok: true, withoutArtifact: 2 });
  });

  it('names the one device of many that differs', async () => {
    const devices = [0, 1, 2].map((index) =>
      deviceWith({ state: 'success', reported: ['success'] }, index),
    );
    const reconciliation = await reconciledOf(devices, ['success', 'failure', 'success']);
    expect(reconciliation.differences.map(({ deviceIndex }) => deviceIndex)).toEqual([1]);
  });

  it('ignores devices of other fleets in the deployment', async () => {
    const reconciliation = await reconciledOf([deviceWith({})], ['pending', 'failure', 'success']);
    expect(reconciliation.ok).toBe(true);
  });

  it('is not performed without a login, and gives the reason', async () => {
    const reconciliation = await reconcile({ devices: [], runDeployment, management: undefined });
    expect(reconciliation).toMatchObject({ checked: false, ok: false });
    expect(reconciliation.reason).toContain('no user');
  });

  it.each<[string, StubResponse]>([
    ['is refused', { status: 403 }],
    ['is not an array', { status: 200, body: {} }],
    ['does not come', 'cut'],
  ])('is not performed when the list %s', async (_what, response) => {
    const reconciliation = await reconciledAgainst([deviceWith({})], response);
    expect(reconciliation).toMatchObject({ checked: false, ok: false });
    expect(reconciliation.reason).toContain('list-deployment-devices');
  });
});

describe('the funnel of a fleet', () => {
  it('counts steps by acknowledged reports, and outcomes so that they add up', () => {
    const stories: Story[] = [
      { state: 'success', reported: ['downloading', 'installing', 'rebooting', 'success'] },
      { state: 'failure', reported: ['downloading', 'installing', 'failure'] },
      { state: 'aborted', reported: ['downloading'] },
      { state: 'already-installed' },
      { state: 'already-installed', reported: ['already-installed'] },
      { state: 'downloading', reported: ['downloading'] },
      {},
      { life: 'pending' },
      { life: 'no-contact' },
      { life: 'unstarted' },
    ];
    const devices = stories.map(deviceWith);
    expect(funnelOf(devices, runDeployment)).toEqual({
      devices: 10,
      offered: 5,
      downloading: 4,
      installing: 2,
      rebooting: 1,
      success: 1,
      failure: 1,
      aborted: 1,
      alreadyInstalled: 2,
      updating: 1,
      idle: 1,
      pending: 1,
      off: 0,
      noContact: 2,
    });
  });

  it('counts only the deployment of the run', () => {
    const device = deviceWith({ state: 'failure', reported: ['failure'] });
    beginDeployment(device, 'deployment-2', 'release-3').state = 'success';
    expect(outcomeOf(device, runDeployment)).toBe('failure');
    expect(outcomeOf(device, undefined)).toBe('success');
    expect(outcomeOf(device, { ...runDeployment, deploymentId: 'deployment-3' })).toBe('idle');
  });
});
