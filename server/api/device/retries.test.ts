import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment } from '../../../fixtures/contract/management/deployments.ts';
import { publish } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  deploy,
  deviceDeploymentOf,
  instructionsIn,
  nextRequests,
  report,
} from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server);
  await publish(server, { name: 'release-2' });
});

afterAll(() => server.close());

/** Returns a device with a deployment that allows this number of retries. */
async function deviceWith(retries: number): Promise<{ device: AcceptedDevice; id: string }> {
  deviceCount += 1;
  const device = await acceptedDevice(server, `retries-${deviceCount}`);
  return { device, id: await deploy(server, [device], { retries }) };
}

function next({ token }: AcceptedDevice, provides = board): Promise<TestResponse> {
  return nextRequests['POST v2'](server, token, provides);
}

async function deploymentOf(id: string): Promise<Deployment> {
  const call = { token: server.adminToken, parameters: { id } };
  return (await server.call('get-deployment', call)).json();
}

describe('a deployment with retries', () => {
  it('is offered again after each failure up to its retries, counting attempts', async () => {
    const { device, id } = await deviceWith(2);
    const seen: unknown[] = [];
    for (const attempt of [1, 2, 3]) {
      expect(instructionsIn(await next(device)).id).toBe(id);
      seen.push([attempt, (await deviceDeploymentOf(server, id, device))?.attempts]);
      await report(server, device, { id, status: 'downloading' });
      await report(server, device, { id, status: 'failure' });
    }
    expect(seen).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect((await next(device)).status).toBe(204);
    expect(await deploymentOf(id)).toMatchObject({ retries: 2, status: 'finished' });
  });

  it('shows the failure until the device polls again, and stays in progress', async () => {
    const { device, id } = await deviceWith(1);
    await next(device);
    await report(server, device, { id, status: 'failure', substate: 'no room' });
    expect(await deviceDeploymentOf(server, id, device)).toMatchObject({
      status: 'failure',
      attempts: 1,
    });
    expect(await deploymentOf(id)).toMatchObject({ status: 'inprogress' });
    await next(device);
    const retried = await deviceDeploymentOf(server, id, device);
    expect(retried).toMatchObject({ status: 'pending', attempts: 2 });
    expect(retried).not.toHaveProperty('substate');
    await report(server, device, { id, status: 'success' });
    expect(await deploymentOf(id)).toMatchObject({ status: 'finished' });
  });

  it('counts one attempt for repeated requests of the device', async () => {
    const { device, id } = await deviceWith(1);
    for (const _ of [1, 2, 3]) await next(device);
    expect((await deviceDeploymentOf(server, id, device))?.attempts).toBe(1);
  });

  it('accepts changed request data from the device at the next attempt', async () => {
    const { device, id } = await deviceWith(1);
    await next(device);
    await report(server, device, { id, status: 'failure' });
    const changed = { ...board, artifact_name: 'rolled-back' };
    expect(instructionsIn(await next(device, changed)).id).toBe(id);
    expect((await next(device, board)).status).toBe(409);
  });

  it('counts conflicting request data as a failed attempt', async () => {
    const { device, id } = await deviceWith(1);
    await next(device);
    expect((await next(device, { ...board, artifact_name: 'other' })).status).toBe(409);
    expect(instructionsIn(await next(device)).id).toBe(id);
    expect((await deviceDeploymentOf(server, id, device))?.attempts).toBe(2);
  });

  it('becomes already-installed if the device returns with the artifact', async () => {
    const { device, id } = await deviceWith(1);
    await next(device);
    await report(server, device, { id, status: 'failure' });
    expect((await next(device, { ...board, artifact_name: 'release-1' })).status).toBe(204);
    expect((await deviceDeploymentOf(server, id, device))?.status).toBe('already-installed');
  });

  it('is served before a newer deployment until its retries are used', async () => {
    const { device, id } = await deviceWith(1);
    const newer = await deploy(server, [device], { artifact_name: 'release-2' });
    await next(device);
    await report(server, device, { id, status: 'failure' });
    expect(instructionsIn(await next(device)).id).toBe(id);
    await report(server, device, { id, status: 'failure' });
    expect(instructionsIn(await next(device)).id).toBe(newer);
  });

  it('is not offered again once it is aborted', async () => {
    const { device, id } = await deviceWith(5);
    await next(device);
    await report(server, device, { id, status: 'failure' });
    expect((await abort(server, id)).status).toBe(204);
    expect((await next(device)).status).toBe(204);
    expect((await deviceDeploymentOf(server, id, device))?.status).toBe('failure');
  });

  it("is not offered again once the device's deployments are aborted", async () => {
    const { device, id } = await deviceWith(5);
    await next(device);
    await report(server, device, { id, status: 'failure' });
    const call = { token: server.adminToken, parameters: { id: device.id } };
    await server.call('abort-device-deployments', call);
    expect((await next(device)).status).toBe(204);
    expect(await deploymentOf(id)).toMatchObject({ status: 'finished' });
  });

  it('protects its artifact from deletion while retries remain', async () => {
    const { device, id } = await deviceWith(1);
    await next(device);
    await report(server, device, { id, status: 'failure' });
    const query = new URLSearchParams('name=release-1');
    const response = await server.call('delete-releases', { token: server.adminToken, query });
    expect(response.status).toBe(409);
    await abort(server, id);
  });
});

describe('a deployment without retries', () => {
  it('is finished after the first failure', async () => {
    const { device, id } = await deviceWith(0);
    await next(device);
    await report(server, device, { id, status: 'failure' });
    expect((await next(device)).status).toBe(204);
    expect(await deploymentOf(id)).toMatchObject({ retries: 0, status: 'finished' });
  });
});
