import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decideNext, pollDataText } from '../../rules/next-deployment.ts';
import { openStore, type Store } from '../../store/store.ts';
import { choiceFor } from '../../testing/choice.ts';
import { recordOffer, recordStatus } from '../../testing/device-deployment-steps.ts';
import { publish } from '../../testing/test-artifacts.ts';
import {
  deploy,
  deviceDeploymentOf,
  instructionsIn,
  type NextRequestCall,
  nextRequests,
  type Provides,
  report,
  statusOf,
} from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let deviceCount = 0;
const pollOperations = Object.entries(nextRequests) as [
  keyof typeof nextRequests,
  NextRequestCall,
][];

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

/** Returns a device with a pending deployment of `artifact_name`. */
async function waitingDevice(artifact_name: string, overrides: Record<string, unknown> = {}) {
  deviceCount += 1;
  const device = await acceptedDevice(server, `artifacts-${deviceCount}`);
  const id = await deploy(server, [device], { artifact_name, ...overrides });
  return { device, id };
}

function ask({ token }: AcceptedDevice, provides: Provides) {
  return nextRequests['POST v2'](server, token, {
    artifact_name: 'older',
    device_type: 'board',
    ...provides,
  });
}

describe('a deployment for other device types', () => {
  it.each([
    ['another device type', 'GET v1', { device_type: 'bord' }],
    ['a device type in other letters', 'POST v1', { device_type: 'Board' }],
    ['a device type with a blank', 'POST v2', { device_type: 'board ' }],
  ] as const)(
    'is not offered for %s: %s returns 204, the status is noartifact',
    async (_, operation, provides) => {
      const name = `types-${operation}`;
      await publish(server, { name });
      const { device, id } = await waitingDevice(name);
      const pollData = { artifact_name: 'older', ...provides };
      expect((await nextRequests[operation](server, device.token, pollData)).status).toBe(204);
      expect(await deviceDeploymentOf(server, id, device)).toMatchObject({
        status: 'noartifact',
        finished: expect.stringMatching(/Z$/),
      });
    },
  );

  it('stays final for the device even if it later sends the right type', async () => {
    await publish(server, { name: 'late' });
    const { device, id } = await waitingDevice('late');
    await ask(device, { device_type: 'other' });
    expect((await ask(device, { device_type: 'board' })).status).toBe(204);
    expect(await statusOf(server, id, device)).toBe('noartifact');
  });

  it('serves the artifact of the release that fits the device type', async () => {
    const forBoard = await publish(server, { name: 'both', deviceTypes: ['board', 'board-2'] });
    const forOther = await publish(server, { name: 'both', deviceTypes: ['other'] });
    for (const [device_type, artifactId] of [
      ['board-2', forBoard],
      ['other', forOther],
    ] as const) {
      const { device } = await waitingDevice('both');
      const response = await nextRequests['POST v1'](server, device.token, {
        device_type,
        artifact_name: 'x',
      });
      expect(instructionsIn(response).artifact.id).toBe(artifactId);
    }
  });
});

describe('the dependencies of an artifact', () => {
  const depends = {
    'rootfs-image.checksum': ['aaa', 'bbb'],
    slot: ['a'],
    artifact_name: ['older'],
  };
  const met = { 'rootfs-image.checksum': 'bbb', slot: 'a' };

  beforeAll(() => publish(server, { name: 'depending', depends }));

  it.each(['POST v1', 'POST v2'] as const)(
    'are met by matching free-form pairs of %s',
    async (operation) => {
      const { device, id } = await waitingDevice('depending');
      const provides = { device_type: 'board', artifact_name: 'older', ...met, further: 'pair' };
      expect(instructionsIn(await nextRequests[operation](server, device.token, provides)).id).toBe(
        id,
      );
    },
  );

  it.each([
    ['one pair is missing', { slot: 'a' }],
    ['one value is another', { ...met, slot: 'b' }],
    ['a value only begins right', { ...met, 'rootfs-image.checksum': 'bb' }],
    ['the name differs in letters', { 'rootfs-image.checksum': 'bbb', Slot: 'a' }],
    ['the installed artifact is another', { ...met, artifact_name: 'oldest' }],
    ['the device type is another', { ...met, device_type: 'other' }],
  ])('are not met when %s', async (_, provides) => {
    const { device, id } = await waitingDevice('depending');
    expect((await ask(device, provides)).status).toBe(204);
    expect(await statusOf(server, id, device)).toBe('noartifact');
  });

  it('are not met by version 1 GET, which cannot send free-form pairs', async () => {
    const { device, id } = await waitingDevice('depending');
    const pollData = { device_type: 'board', artifact_name: 'older' };
    expect((await nextRequests['GET v1'](server, device.token, pollData)).status).toBe(204);
    expect(await statusOf(server, id, device)).toBe('noartifact');
  });
});

describe('the choice between several suitable artifacts', () => {
  // The server refuses two uploads that fit the same device, so the test calls the rule directly.
  const request = {
    deviceType: 'board',
    artifactName: 'older',
    provides: { device_type: 'board', artifact_name: 'older' },
    wantsControlMap: false,
  };
  const deviceDeployment = {
    status: 'pending',
    deployment: { type: 'software', forceInstallation: false },
  } as const;
  const candidates = [
    { id: 'large', name: 'release-1', depends: { device_type: ['board'] }, sizeBytes: 9000 },
    { id: 'small', name: 'release-1', depends: { device_type: ['board'] }, sizeBytes: 100 },
    { id: 'middle', name: 'release-1', depends: { device_type: ['board'] }, sizeBytes: 5000 },
    { id: 'tiny', name: 'release-1', depends: { device_type: ['other'] }, sizeBytes: 1 },
  ];

  it('takes the smallest artifact', () => {
    const served = { decision: 'serve', artifactId: 'small' };
    expect(decideNext(deviceDeployment, request, candidates)).toEqual(served);
    expect(decideNext(deviceDeployment, request, candidates.toReversed())).toEqual(served);
  });

  it('keeps the artifact that the device was already offered', () => {
    const offered = { ...deviceDeployment, artifactId: 'large', pollData: pollDataText(request) };
    expect(decideNext(offered, request, candidates)).toMatchObject({ artifactId: 'large' });
  });

  it('includes an artifact added to the release after the deployment was created', async () => {
    await publish(server, { name: 'joined', deviceTypes: ['board'] });
    const { device, id } = await waitingDevice('joined');
    await publish(server, { name: 'joined', deviceTypes: ['other'] });
    expect(instructionsIn(await ask(device, { device_type: 'other' })).id).toBe(id);
  });
});

describe('an artifact that the device already has', () => {
  const installed = { device_type: 'board', artifact_name: 'installed' };

  beforeAll(() => publish(server, { name: 'installed' }));

  it.each(pollOperations)(
    'is not offered by %s: 204, and the status becomes already-installed',
    async (_, ask) => {
      const { device, id } = await waitingDevice('installed');
      expect((await ask(server, device.token, installed)).status).toBe(204);
      expect(await statusOf(server, id, device)).toBe('already-installed');
      expect((await ask(server, device.token, installed)).status).toBe(204);
    },
  );

  it.each(pollOperations)('is offered by %s if force_installation is set', async (_, ask) => {
    const { device, id } = await waitingDevice('installed', { force_installation: true });
    expect(instructionsIn(await ask(server, device.token, installed)).id).toBe(id);
    expect(await statusOf(server, id, device)).toBe('pending');
  });

  it('is offered again to a device that reported progress on it', async () => {
    const { device, id } = await waitingDevice('installed');
    await ask(device, installed);
    await report(server, device, { id, status: 'installing' });
    expect(instructionsIn(await ask(device, installed)).id).toBe(id);
    expect(await statusOf(server, id, device)).toBe('installing');
  });

  it('is not recognized as installed if the letter case differs', async () => {
    const { device, id } = await waitingDevice('installed');
    expect(instructionsIn(await ask(device, { artifact_name: 'Installed' })).id).toBe(id);
  });

  it('is skipped in favour of a later deployment of a new artifact', async () => {
    await publish(server, { name: 'newer' });
    const { device } = await waitingDevice('installed');
    const newer = await deploy(server, [device], { artifact_name: 'newer' });
    expect((await ask(device, installed)).status).toBe(204);
    expect(instructionsIn(await ask(device, installed)).id).toBe(newer);
  });
});

describe('a deployment older than the last finished one', () => {
  // A device is always served its oldest deployment, so the test writes this history to a store.
  let store: Store;

  beforeAll(async () => {
    store = await openStore();
    for (const id of ['older', 'finished', 'newer']) {
      const names = { name: id, artifactName: 'release-1', deviceDigest: id };
      const otherFields = {
        type: 'software',
        deviceIds: ['device', 'other'],
        forceInstallation: false,
      } as const;
      store.deployments.create({ id, ...names, ...otherFields, nowMs: 0 });
    }
    const deviceDeployment = store.deviceDeployments.find('finished', 'device');
    if (!deviceDeployment) throw new Error('the deployment has no device deployment');
    const offered = recordOffer(store.deviceDeployments, deviceDeployment, {
      pollData: '',
      nowMs: 1,
    });
    recordStatus(store.deviceDeployments, offered, { status: 'success', nowMs: 2 });
  });

  afterAll(() => store.close());

  it('is skipped in favour of a newer one', () => {
    expect(choiceFor(store.deviceDeployments, 'device', 3)).toEqual(['offer', 'newer']);
  });

  it('is still offered to a device that has finished none', () => {
    expect(choiceFor(store.deviceDeployments, 'other', 3)).toEqual(['offer', 'older']);
  });
});
