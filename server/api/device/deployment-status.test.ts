import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportableStatuses } from '../../../fixtures/contract/vocabulary.ts';
import { publish } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  deploy,
  deviceDeploymentOf,
  nextRequests,
  report,
  statusOf,
} from '../../testing/test-deployments.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let deviceCount = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server);
});

afterAll(() => server.close());

const finals = ['success', 'failure', 'already-installed'];
const unknownId = '00000000-0000-4000-8000-000000000000';

function someDevice() {
  deviceCount += 1;
  return acceptedDevice(server, `status-${deviceCount}`);
}

/** Returns a device that has been offered a deployment. */
async function offeredDevice(provides = board) {
  const device = await someDevice();
  const id = await deploy(server, [device]);
  await nextRequests['POST v1'](server, device.token, provides);
  return { device, id };
}

describe('a status report of a device', () => {
  it.each(reportableStatuses)(
    'returns 204 for each status while the status is %s',
    async (from) => {
      const { device, id } = await offeredDevice();
      for (const to of reportableStatuses) {
        expect((await report(server, device, { id, status: from })).status).toBe(204);
        expect(await statusOf(server, id, device)).toBe(from);
        const response = await report(server, device, { id, status: to });
        expect([response.status, response.text]).toEqual([204, '']);
        expect(await statusOf(server, id, device)).toBe(to);
      }
    },
  );

  it.each(reportableStatuses)(
    'returns 204 for %s as the first report after pending',
    async (status) => {
      const { device, id } = await offeredDevice();
      expect(await statusOf(server, id, device)).toBe('pending');
      expect((await report(server, device, { id, status })).status).toBe(204);
      expect(await statusOf(server, id, device)).toBe(status);
    },
  );

  it.each(reportableStatuses)('returns 204 for %s after noartifact', async (status) => {
    const { device, id } = await offeredDevice({ ...board, device_type: 'other' });
    expect(await statusOf(server, id, device)).toBe('noartifact');
    expect((await report(server, device, { id, status })).status).toBe(204);
    expect(await statusOf(server, id, device)).toBe(status);
  });

  it.each(reportableStatuses)(
    'sets at %s the start and, if final, the finish time of the device deployment',
    async (status) => {
      const { device, id } = await offeredDevice();
      server.clock.advance(1500);
      const started = new Date(server.clock.now()).toISOString();
      await report(server, device, { id, status: 'downloading' });
      server.clock.advance(1500);
      const nowText = new Date(server.clock.now()).toISOString();
      await report(server, device, { id, status });
      const deviceDeployment = await deviceDeploymentOf(server, id, device);
      expect([deviceDeployment?.started, deviceDeployment?.finished]).toEqual([
        started,
        finals.includes(status) ? nowText : undefined,
      ]);
    },
  );

  it('sets the substate, or keeps the former one if it has none', async () => {
    const { device, id } = await offeredDevice();
    const seen: unknown[] = [];
    for (const substate of ['Executing script: A', 'ü'.repeat(200), '']) {
      await report(server, device, { id, status: 'installing', substate });
      seen.push((await deviceDeploymentOf(server, id, device))?.substate);
    }
    await report(server, device, { id, status: 'rebooting' });
    seen.push((await deviceDeploymentOf(server, id, device))?.substate);
    const longest = 'ü'.repeat(200);
    expect(seen).toEqual(['Executing script: A', longest, longest, longest]);
  });

  it('is accepted with unknown fields', async () => {
    const { device, id } = await offeredDevice();
    const json = { status: 'success', progress: 100 };
    const call = { token: device.token, parameters: { id }, json };
    expect((await server.call('put-deployment-status', call)).status).toBe(204);
  });

  it('counts in the statistics, and the last one finishes the deployment', async () => {
    const { device, id } = await offeredDevice();
    const read = async () => {
      const call = { token: server.adminToken, parameters: { id } };
      const deployment = (await server.call('get-deployment', call)).json();
      const statistics = (await server.call('get-deployment-statistics', call)).json();
      return [deployment.status, Object.entries(statistics).filter(([, count]) => count !== 0)];
    };
    expect(await read()).toEqual(['pending', [['pending', 1]]]);
    await report(server, device, { id, status: 'downloading' });
    expect(await read()).toEqual(['inprogress', [['downloading', 1]]]);
    await report(server, device, { id, status: 'success' });
    expect(await read()).toEqual(['finished', [['success', 1]]]);
    await report(server, device, { id, status: 'rebooting' });
    expect(await read()).toEqual(['inprogress', [['rebooting', 1]]]);
  });
});

describe('a report after the abort of a deployment', () => {
  it.each(reportableStatuses)('returns 409 for %s and changes nothing', async (status) => {
    const { device, id } = await offeredDevice();
    await report(server, device, { id, status: 'installing', substate: 'before' });
    await abort(server, id);
    const deploymentBefore = await deviceDeploymentOf(server, id, device);
    server.clock.advance(1000);
    const response = await report(server, device, { id, status, substate: 'after' });
    expect([response.status, response.json()]).toEqual([
      409,
      {
        error: expect.stringContaining('aborted'),
        request_id: response.headers.get('x-svc-requestid'),
      },
    ]);
    expect(await deviceDeploymentOf(server, id, device)).toEqual(deploymentBefore);
    expect(deploymentBefore).toMatchObject({ status: 'aborted', substate: 'before' });
    expect((await report(server, device, { id, status })).status).toBe(409);
  });

  it('returns 409 only to the device whose deployments were aborted', async () => {
    const [one, other] = [await someDevice(), await someDevice()];
    const id = await deploy(server, [one, other]);
    for (const { token } of [one, other]) await nextRequests['POST v1'](server, token, board);
    const call = { token: server.adminToken, parameters: { id: one.id } };
    expect((await server.call('abort-device-deployments', call)).status).toBe(204);
    expect((await report(server, one, { id, status: 'success' })).status).toBe(409);
    expect((await report(server, other, { id, status: 'success' })).status).toBe(204);
  });

  it.each(finals)(
    'is still accepted from a device that reported %s before the abort',
    async (status) => {
      const [one, other] = [await someDevice(), await someDevice()];
      const id = await deploy(server, [one, other]);
      for (const { token } of [one, other]) await nextRequests['POST v1'](server, token, board);
      await report(server, one, { id, status });
      await abort(server, id);
      expect(await statusOf(server, id, one)).toBe(status);
      expect((await report(server, one, { id, status })).status).toBe(204);
      expect(await statusOf(server, id, other)).toBe('aborted');
    },
  );
});

describe('a status report for a deployment that was not offered', () => {
  it.each([unknownId, 'no-uuid', '%', 'ü', '../next', "'; DROP TABLE deployments; --"])(
    'returns 404 for the ID %s',
    async (id) => {
      const { device } = await offeredDevice();
      const response = await report(server, device, { id, status: 'success' });
      expect(response.status).toBe(404);
      expect(response.json()).toHaveProperty('request_id');
    },
  );

  it('returns 404 and keeps the status of the other device', async () => {
    const { device, id } = await offeredDevice();
    const otherDevice = await offeredDevice();
    const response = await report(server, otherDevice.device, { id, status: 'failure' });
    expect(response.status).toBe(404);
    expect(await statusOf(server, id, device)).toBe('pending');
  });

  it('returns 404 before the device has polled', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    expect((await report(server, device, { id, status: 'success' })).status).toBe(404);
    expect(await statusOf(server, id, device)).toBe('pending');
  });

  it('returns 404 if the abort came before the device polled', async () => {
    const device = await someDevice();
    const id = await deploy(server, [device]);
    await abort(server, id);
    expect((await report(server, device, { id, status: 'success' })).status).toBe(404);
  });
});

describe('a malformed status report', () => {
  it.each([
    ['no status', {}],
    ['an empty status', { status: '' }],
    ['aborted', { status: 'aborted' }],
    ['pending', { status: 'pending' }],
    ['noartifact', { status: 'noartifact' }],
    ['decommissioned', { status: 'decommissioned' }],
    ['capitals', { status: 'SUCCESS' }],
    ['a blank behind', { status: 'success ' }],
    ['an underscore', { status: 'already_installed' }],
    ['the name of a member', { status: 'constructor' }],
    ['a status that is null', { status: null }],
    ['a status that is a number', { status: 3 }],
    ['a list of statuses', { status: ['success'] }],
    ['a substate that is too long', { status: 'success', substate: 'x'.repeat(201) }],
    ['a substate that is a number', { status: 'success', substate: 1 }],
    ['a substate that is null', { status: 'success', substate: null }],
    ['an array', [{ status: 'success' }]],
    ['a string', 'success'],
    ['null', null],
  ])('returns 400 and changes nothing for %s', async (_, json) => {
    const { device, id } = await offeredDevice();
    const call = { token: device.token, parameters: { id }, json };
    const response = await server.call('put-deployment-status', call);
    expect(response.status).toBe(400);
    expect(response.json().error).toMatch(/^body: /);
    expect(await statusOf(server, id, device)).toBe('pending');
  });

  it('returns 400 even for an unknown deployment, as the body is checked first', async () => {
    const { device } = await offeredDevice();
    expect((await report(server, device, { id: unknownId, status: 'done' })).status).toBe(400);
  });

  it.each(['', '{', '{"status":"success"'])(
    'returns 400 for the text %j as a body',
    async (body) => {
      const { device, id } = await offeredDevice();
      const headers = { 'Content-Type': 'application/json' };
      const call = { token: device.token, parameters: { id }, headers, body };
      expect((await server.call('put-deployment-status', call)).status).toBe(400);
    },
  );

  it('returns 400 for a body that is not UTF-8', async () => {
    const { device, id } = await offeredDevice();
    const headers = { 'Content-Type': 'application/json' };
    const body = Buffer.from('{"status":"success","substate":"\xff"}', 'latin1');
    const call = { token: device.token, parameters: { id }, headers, body };
    expect((await server.call('put-deployment-status', call)).status).toBe(400);
  });
});
