import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '../../testing/test-artifacts.ts';
import {
  deploy,
  deviceDeploymentOf,
  instructionsIn,
  type NextRequestCall,
  nextRequests,
  report,
  statusOf,
} from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server, { name: 'release-1', deviceTypes: ['board', 'board-2'] });
});

afterAll(() => server.close());

const provides = { device_type: 'board', artifact_name: 'release-0', checksum: 'abc' };

/** Returns a device that was served a deployment by this operation. */
async function servedDevice(ask: NextRequestCall, pollData: Record<string, string> = provides) {
  deviceCount += 1;
  const device = await acceptedDevice(server, `conflict-${deviceCount}`);
  const id = await deploy(server, [device]);
  instructionsIn(await ask(server, device.token, pollData));
  return { device, id };
}

function askV2({ token }: AcceptedDevice, json: object) {
  return server.call('post-next-deployment-v2', { token, json });
}

describe.each(['POST v1', 'POST v2'] as const)(
  'a changed request for the deployment in progress through %s',
  (name) => {
    const ask = nextRequests[name];

    it.each([
      [
        'another artifact_name',
        { ...provides, artifact_name: 'release-00' },
        'artifact_name differs',
      ],
      ['another device_type', { ...provides, device_type: 'board-2' }, 'device_type differs'],
      [
        'a device_type that the artifact is not for',
        { ...provides, device_type: 'other' },
        'device_type differs',
      ],
      ['another free-form value', { ...provides, checksum: 'abd' }, 'checksum differs'],
      ['one pair more', { ...provides, slot: 'a' }, 'slot differs'],
      ['one pair less', { device_type: 'board', artifact_name: 'release-0' }, 'checksum differs'],
      [
        'the artifact name of the deployment',
        { ...provides, artifact_name: 'release-1' },
        'artifact_name differs',
      ],
      [
        'five pairs more, of which it names three',
        { ...provides, a: '1', b: '2', c: '3', ['d'.repeat(100)]: '4', e: '5' },
        'a, b, c and 2 more differ',
      ],
    ])('returns 409 for %s and fails the device deployment', async (_, changed, differing) => {
      const { device, id } = await servedDevice(ask);
      const response = await ask(server, device.token, changed);
      expect([response.status, response.json().error]).toEqual([
        409,
        `conflicting request data: ${differing} from the request for which this deployment was offered`,
      ]);
      expect(await deviceDeploymentOf(server, id, device)).toMatchObject({
        status: 'failure',
        finished: new Date(server.clock.now()).toISOString(),
      });
    });

    it('is not detected if only the order of the pairs differs', async () => {
      const { device, id } = await servedDevice(ask);
      const reordered = { checksum: 'abc', artifact_name: 'release-0', device_type: 'board' };
      expect(instructionsIn(await ask(server, device.token, reordered)).id).toBe(id);
    });

    it('returns 204 at the next call', async () => {
      const { device } = await servedDevice(ask);
      await ask(server, device.token, { ...provides, slot: 'a' });
      expect((await ask(server, device.token, provides)).status).toBe(204);
      expect((await ask(server, device.token, { ...provides, slot: 'a' })).status).toBe(204);
    });

    it('returns a newer deployment, if any, at the next call', async () => {
      const { device } = await servedDevice(ask);
      const newer = await deploy(server, [device], { name: 'newer' });
      const changed = { ...provides, slot: 'a' };
      expect((await ask(server, device.token, changed)).status).toBe(409);
      expect(instructionsIn(await ask(server, device.token, changed)).id).toBe(newer);
    });

    it('returns 409 also in the middle of an update', async () => {
      const { device, id } = await servedDevice(ask);
      await report(server, device, { id, status: 'installing' });
      expect((await ask(server, device.token, { ...provides, slot: 'a' })).status).toBe(409);
      expect(await statusOf(server, id, device)).toBe('failure');
    });

    it('does not affect the other devices of the deployment', async () => {
      const one = await acceptedDevice(server, `conflict-one-${name}`);
      const other = await acceptedDevice(server, `conflict-other-${name}`);
      const id = await deploy(server, [one, other]);
      for (const { token } of [one, other]) await ask(server, token, provides);
      await ask(server, one.token, { ...provides, slot: 'a' });
      expect(await statusOf(server, id, other)).toBe('pending');
      expect(instructionsIn(await ask(server, other.token, provides)).id).toBe(id);
    });

    it('returns 400 without a conflict if it is malformed', async () => {
      const { device, id } = await servedDevice(ask);
      expect(
        (await ask(server, device.token, { ...provides, slot: 'x'.repeat(4097) })).status,
      ).toBe(400);
      expect(await statusOf(server, id, device)).toBe('pending');
    });
  },
);

describe('the operations that return the next deployment', () => {
  it.each([
    ['GET v1', 'POST v1'],
    ['GET v1', 'POST v2'],
    ['POST v2', 'GET v1'],
  ] as const)(
    'share one record: %s opens, and another request through %s returns 409',
    async (first, second) => {
      const two = { device_type: 'board', artifact_name: 'release-0' };
      const { device, id } = await servedDevice(nextRequests[first], two);
      const changed = { ...two, artifact_name: 'release-00' };
      expect((await nextRequests[second](server, device.token, changed)).status).toBe(409);
      expect(await statusOf(server, id, device)).toBe('failure');
    },
  );

  it('return 409 if update_control_map changes', async () => {
    const { device, id } = await servedDevice(nextRequests['POST v2']);
    const json = { device_provides: provides, update_control_map: true };
    expect((await askV2(device, json)).status).toBe(409);
    expect(await statusOf(server, id, device)).toBe('failure');
  });

  it('treat an absent update_control_map as false', async () => {
    const { device, id } = await servedDevice(nextRequests['POST v2']);
    const response = await askV2(device, { device_provides: provides, update_control_map: false });
    expect(instructionsIn(response).id).toBe(id);
  });
});
