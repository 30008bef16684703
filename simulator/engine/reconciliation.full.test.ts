import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { FakeServer, release } from '../testing/fake-server.ts';
import { planWith } from '../testing/plan-with.ts';
import type { Responses, StubRequest } from '../testing/stub-server.ts';
import { simulateFleet } from './simulate-fleet.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serverOf(changed: (environment: FakeServer) => Responses): Promise<FakeServer> {
  const environment = await FakeServer.start(changed);
  closers.push(() => environment.server.close());
  return environment;
}

async function run(baseUrl: string) {
  const plan = planWith({
    baseUrl,
    devices: 3,
    pollIntervalMs: 40,
    rampMs: 20,
    deviceType: 'board',
    acceptWith: { email: 'admin@example.com', password: 'secret-word' },
    deploy: release,
    until: 'settled' as const,
    thresholds: ['lost reports = 0', 'doubled reports = 0'],
  });
  const { signal } = new AbortController();
  const result = await simulateFleet(plan, { signal, clock: systemClock });
  const verdicts = result.thresholds.map(({ verdict }) => verdict);
  const [device] = result.devices.filter(({ deviceId }) => deviceId === 'device-2');
  return { ...result, verdicts, second: device };
}

/** Handles a report like the small test server does, unless the test overrides it. */
function taking(
  environment: FakeServer,
  otherwise: (status: string, id: string) => number | undefined,
) {
  return (request: StubRequest) => {
    const device = environment.deviceOf(request);
    if (device === undefined) return { status: 401 };
    const { status } = request.json() as { status: string };
    const response = otherwise(status, device.id);
    if (response === undefined) device.status = status;
    return { status: response ?? 204 };
  };
}

const listed = { created: '2026-01-31T12:00:00Z', log: false, status: 'success' };
const all = ['device-1', 'device-2', 'device-3'];

describe('a report in the reconciliation', () => {
  it('causes an error that names the device if the server acknowledged and lost it', async () => {
    let lost = false;
    const environment = await serverOf((own) => ({
      'put-deployment-status': taking(own, (status, id) => {
        if (status !== 'success' || id !== 'device-2') return undefined;
        lost = true;
        return 204;
      }),
      // If the deployment were offered again, the device would report that it is already installed,
      // and the records would agree.
      'post-next-deployment-v2': (request) =>
        lost && own.deviceOf(request)?.id === 'device-2' ? { status: 204 } : own.next(request),
    }));
    const { reconciliation, verdicts, second } = await run(environment.server.baseUrl);
    expect(reconciliation).toMatchObject({
      checked: true,
      ok: false,
      lostReports: 1,
      duplicateReports: 0,
    });
    expect(reconciliation.differences).toEqual([
      {
        deploymentId: 'deployment-1',
        deviceId: 'device-2',
        deviceIndex: second?.index,
        kind: 'lost',
        fleetStatus: 'success',
        serverStatus: 'rebooting',
      },
    ]);
    expect(verdicts).toEqual(['missed', 'met']);
  });

  it('causes an error that names the device if it came twice and was refused once', async () => {
    const environment = await serverOf((own) => ({
      'put-deployment-status': taking(own, (_status, id) => {
        const known = [...own.devices.values()].find((device) => device.id === id);
        return known?.status === 'success' ? 409 : undefined;
      }),
    }));
    const proxyUrl = await doublingProxy(environment.server.baseUrl, 'device-2');
    const { reconciliation, verdicts, second } = await run(proxyUrl);
    expect(reconciliation.differences).toMatchObject([
      {
        deviceId: 'device-2',
        deviceIndex: second?.index,
        kind: 'doubled',
        serverStatus: 'success',
      },
    ]);
    expect(reconciliation).toMatchObject({ ok: false, lostReports: 0, duplicateReports: 1 });
    expect(verdicts).toEqual(['met', 'missed']);
  });

  it('causes an error that names the device if the list contains it twice', async () => {
    const environment = await serverOf(() => ({
      'list-deployment-devices': () => ({
        status: 200,
        body: [...all, 'device-2'].map((id) => ({ id, ...listed })),
      }),
    }));
    const { reconciliation } = await run(environment.server.baseUrl);
    expect(reconciliation.differences).toMatchObject([
      { deviceId: 'device-2', kind: 'doubled', serverStatus: 'success, listed 2 times' },
    ]);
  });
});

describe('the totals of the server', () => {
  it('are an error when its statistics count a report twice', async () => {
    const environment = await serverOf(() => ({
      'get-deployment-statistics': () => ({ status: 200, body: { success: 4, pending: 0 } }),
    }));
    const { reconciliation } = await run(environment.server.baseUrl);
    expect(reconciliation).toMatchObject({
      ok: false,
      sources: ['list', 'statistics'],
      differences: [],
    });
    expect(reconciliation.statistics).toEqual([
      { deploymentId: 'deployment-1', status: 'success', inList: 3, inStatistics: 4 },
    ]);
  });

  it('are an error when its audit log contains the deployment twice', async () => {
    const entry = {
      actor: { id: 'user', type: 'user' },
      time: '2026-01-31T12:00:00Z',
      action: 'create',
      object: { id: 'deployment-1', type: 'deployment' },
    };
    const environment = await serverOf(() => ({
      'list-audit-logs': () => ({ status: 200, body: [entry, entry] }),
    }));
    const { reconciliation } = await run(environment.server.baseUrl);
    expect(reconciliation).toMatchObject({
      ok: false,
      sources: ['list', 'statistics', 'audit log'],
    });
    expect(reconciliation.statistics).toMatchObject([{ inList: 1, inStatistics: 2 }]);
  });

  it.each([402, 403, 404, 405])('are not compared when the server answers %d', async (status) => {
    const environment = await serverOf(() => ({
      'get-deployment-statistics': () => ({ status }),
      'list-audit-logs': () => ({ status }),
    }));
    const { reconciliation } = await run(environment.server.baseUrl);
    expect(reconciliation).toMatchObject({ checked: true, ok: true, sources: ['list'] });
  });
});

/** Forwards everything, and the device's final report twice; returns the second response. */
async function doublingProxy(serverUrl: string, deviceId: string): Promise<string> {
  const subject = Buffer.from(`{"sub":"${deviceId}"}`).toString('base64url');
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = 'GET', url = '/' } = request;
    const { authorization = '' } = request.headers;
    const text = Buffer.concat(chunks).toString();
    const headers = Object.entries(request.headers)
      .filter(([name]) => !['host', 'connection', 'content-length'].includes(name))
      .map(([name, value]): [string, string] => [name, String(value)]);
    const pass = () =>
      fetch(serverUrl + url, { method, headers, ...(text === '' ? {} : { body: text }) });
    let passed = await pass();
    const isLast = method === 'PUT' && text.includes('"success"');
    if (isLast && authorization.includes(subject)) passed = await pass();
    const location = passed.headers.get('location');
    response.writeHead(passed.status, location === null ? {} : { location });
    response.end(Buffer.from(await passed.arrayBuffer()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}
