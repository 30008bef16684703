import { afterAll, describe, expect, it } from 'vitest';
import { type DialectName, dialectNames } from '../../fixtures/contract/dialects.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { dialectWithout, listenerOf } from '../pipeline/mounted.ts';
import { sendCorrected } from '../testing/corrected-request.ts';
import { linkTo, publish } from '../testing/test-artifacts.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import {
  contradictionsIn,
  correctedOf,
  explanationOf,
  runInBash,
} from '../testing/test-explanations.ts';
import { startTestServer, type TestCall, type TestServer } from '../testing/test-server.ts';
import { control, testPassword } from '../testing/test-tenants.ts';

const rows: readonly Operation[] = Object.values({ ...operations, ...managementOperations });
const openSource = new Set<DialectName>(['open-source']);
const absent = rows.filter((row) => dialectWithout(row, openSource));
/** Running servers by their dialects, shared between the tests that do not change them. */
const servers = new Map<string, Promise<TestServer>>();

afterAll(async () => {
  for (const server of servers.values()) await (await server).close();
});

function startAs(...dialects: DialectName[]): Promise<TestServer> {
  const name = dialects.join();
  const known = servers.get(name);
  if (known) return known;
  const options = { dialects: new Set(dialects), adminPassword: testPassword };
  const starting = startTestServer(options);
  servers.set(name, starting);
  return starting;
}

/** Returns the explanation of a request that must be refused with this status. */
async function refusedWith(server: TestServer, status: number, [method, path, call]: RequestCall) {
  const response = await server.request(method, path, call);
  expect([path, response.status]).toEqual([path, status]);
  const explanation = await explanationOf(server, response);
  expect(contradictionsIn(explanation)).toEqual([]);
  return explanation;
}

/** Caches one device for each server. */
const devices = new Map<string, Promise<AcceptedDevice>>();

function deviceOf(server: TestServer, name: string): Promise<AcceptedDevice> {
  const known = devices.get(name) ?? acceptedDevice(server, `of ${name}`);
  devices.set(name, known);
  return known;
}

type RequestCall = readonly [method: string, path: string, call?: TestCall];

const idPath = (path: string): string => path.replace(/\{\w+\}/g, 'some');

describe('an operation that the dialect open-source lacks', () => {
  it.each(absent.map((row) => [row.id, row] as const))(
    'is explained with the dialect, its absence and a remedy: %s',
    async (_, row) => {
      const server = await startAs('open-source');
      const explained = await refusedWith(server, 404, [row.method, idPath(row.path)]);
      const { problem, before, correctedRequest } = explained;
      const { name = '', instead } = dialectWithout(row, openSource) ?? {};
      expect(problem.expected).toContain(`dialect open-source; it has no ${name} (${row.method}`);
      expect(before).toMatch(/or start the server without --dialect open-source(;|$)/);
      expect(correctedRequest === undefined).toBe(instead === undefined);
      expect(explained.command === undefined).toBe(instead === undefined);
    },
  );

  it('is corrected from version 2 of the poll to version 1', async () => {
    const server = await startAs('open-source');
    const device = await acceptedDevice(server, 'falls back');
    const { path } = operations['post-next-deployment-v2'];
    const provided = { device_type: 'board', artifact_name: 'release-0' };
    const json = { device_provides: provided, update_control_map: true };
    const response = await server.request('POST', path, { token: device.token, json });
    const { correctedRequest, before, command } = await correctedOf(server, response);
    expect(before).toMatch(/^fall back to version 1, with the content of device_provides/);
    expect(correctedRequest).toMatchObject({
      method: 'POST',
      path: operations['post-next-deployment'].path,
    });
    expect(correctedRequest.body).toBe('@$BODY_FILE');
    const lines = `echo '${JSON.stringify(provided)}' > provided; BODY_FILE=provided\n${command}`;
    const ran = await runInBash(lines, { TOKEN: device.token });
    expect([ran.status, ran.stderr]).toEqual([204, '']);
  });

  it('is not proposed for an expired link, but the next poll is', async () => {
    const server = await startAs('open-source');
    const { correctedRequest } = await refusedWith(server, 400, ['GET', '/storage/artifacts/some']);
    expect(correctedRequest?.path).toContain(operations['get-next-deployment'].path);
  });
});

describe.each(dialectNames)('the nearest path under the dialect %s', (name) => {
  const next = operations['get-next-deployment'].path;
  it.each([
    ['GET', next.replace('/v1', ''), 'get-next-deployment'],
    [
      'GET',
      next.replace('/api/devices', '/API/Devices').replace('/v1', '/V1'),
      'get-next-deployment',
    ],
    ['GET', `${next}/`, 'get-next-deployment'],
    ['GET', next.replace('/api', ''), 'get-next-deployment'],
    ['GET', next.replace('/deployments/device', '/device'), 'get-next-deployment'],
    ['PUT', '/api/devices/deployments/device/deployments/x/status', 'put-deployment-status'],
    ['PUT', '/api/devices/v1/deployments/deployments/x/status', 'put-deployment-status'],
    ['POST', '/API/DEVICES/V1/AUTHENTICATION/AUTH_REQUESTS', 'post-auth-request'],
    ['POST', '/api/devices/authentication/auth_requests', 'post-auth-request'],
    ['PATCH', '/api/devices/inventory/device/attributes', 'patch-attributes'],
    ['PUT', '/api/devices/v2/deviceconfig/configuration', 'put-configuration'],
    ['GET', '/api/devices/deviceconnect/connect', 'connect'],
    ['GET', '/api/management/devauth/devices', 'list-devices'],
    ['POST', '/api/management/v1/useradm/login', 'login'],
  ] as const)('for %s %s belongs to %s', async (method, path, id) => {
    const server = await startAs(name);
    const row: Operation = { ...operations, ...managementOperations }[id];
    const device = await deviceOf(server, name);
    const token = path.toLowerCase().includes('management') ? server.adminToken : device.token;
    const { problem } = await refusedWith(server, 404, [method, path, { token }]);
    expect(problem).toEqual({ path: 'path', expected: `${row.method} ${row.path}`, actual: path });
  });
});

it('a path unlike any of the API gets an example and not one expected path', async () => {
  const server = await startAs();
  const { problem, command } = await refusedWith(server, 404, ['GET', '/phpmyadmin/index.php']);
  expect(command).toBeUndefined();
  expect(problem.expected).toMatch(/^a path of the API, such as [A-Z]+ \//);
});

it("a path that resembles one that the dialect lacks is explained with the dialect's name", async () => {
  const server = await startAs('open-source');
  const path = '/api/management/v2/tenantadm/tenants/mee';
  const { problem, before } = await refusedWith(server, 404, ['GET', path]);
  expect(problem.expected).toContain(
    'it has no tenants (GET /api/management/v2/tenantadm/tenants/me)',
  );
  expect(before).toMatch(/^continue without it/);
});

describe('the dialect storage-host', () => {
  it('is named when the API gets a file request, with a new link', async () => {
    const server = await startAs('storage-host');
    const device = await acceptedDevice(server, 'reader');
    const { uri } = await linkTo(server, device.token, await publish(server));
    const { pathname, search, origin } = new URL(uri);
    const { problem, command = '' } = await refusedWith(server, 404, ['GET', pathname + search]);
    expect(problem.expected).toContain(
      `at ${origin}, because the dialect storage-host serves artifact files on another port`,
    );
    const ran = await runInBash(command, { TOKEN: device.token });
    expect([ran.status, ran.stderr]).toEqual([200, '']);
  });

  it('is named when the file port gets an API request', async () => {
    const server = await startAs('storage-host');
    const device = await acceptedDevice(server, 'lost');
    const { path } = operations['get-configuration'];
    const headers = { Authorization: `Bearer ${device.token}` };
    const response = await fetch(`${server.storageUrl}${path}`, { headers });
    const { problem, before, command } = await correctedOf(server, response);
    expect(problem.expected).toContain('serves only artifact files on this port');
    expect(before).toBe(`send the request to ${server.baseUrl}`);
    const ran = await runInBash(command, { TOKEN: device.token });
    expect([ran.status, ran.stderr]).toEqual([200, '']);
  });

  it('explains an expired link of the file port with a new link', async () => {
    const server = await startAs('storage-host');
    const device = await acceptedDevice(server, 'late');
    const artifact = await publish(server, { name: 'release-late' });
    const { uri } = await linkTo(server, device.token, artifact);
    await control(server, 'POST', '/clock', { advanceSeconds: 2 * 86_400 });
    const { command } = await correctedOf(server, await fetch(uri));
    const ran = await runInBash(command, { TOKEN: device.token });
    expect([ran.status, ran.stderr]).toEqual([200, '']);
  });
});

describe('the dialect token-before-routing', () => {
  it.each([
    ['GET', '/api/devices/v1/deployments/nowhere'],
    ['DELETE', operations['get-configuration'].path],
  ])('is named for a missing token if path or method is wrong too: %s %s', async (method, path) => {
    const server = await startAs('token-before-routing');
    const { problem, before, correctedRequest } = await refusedWith(server, 401, [method, path]);
    expect(problem.path).toBe('header.Authorization');
    expect(before).toMatch(/token-before-routing checks first; then correct the (path|method)$/);
    const device = await deviceOf(server, 'token-before-routing');
    if (!correctedRequest) throw new Error('no corrected request');
    const sender = { device, userToken: server.adminToken, variables: {} };
    const sent = await sendCorrected(server, correctedRequest, sender);
    expect([401, 405]).not.toContain(sent.status);
    expect(sent.text).not.toContain('no such path');
  });
});

it('the dialect asynchronous-provisioning advises a device to wait for its records', async () => {
  const dialects = new Set<DialectName>(['asynchronous-provisioning']);
  const server = await startTestServer({ dialects, provisioningDelayMs: 60_000 });
  servers.set('asynchronous', Promise.resolve(server));
  const { token } = await acceptedDevice(server, 'early');
  const { path } = operations['get-configuration'];
  const { problem, before, isUnchanged } = await refusedWith(server, 404, ['GET', path, { token }]);
  expect([problem.path, isUnchanged]).toEqual(['state', true]);
  expect(before).toMatch(/^wait until the device is provisioned/);
});

it.each(['open-source', 'storage-host'] as const)(
  'corrected requests use only operations that %s has',
  async (name) => {
    const server = await startAs(name);
    const dialects = new Set<DialectName>([name]);
    for (const row of rows) {
      const response = await server.request(row.method, `${idPath(row.path)}/x`);
      const { correctedRequest } = await explanationOf(server, response);
      if (!correctedRequest) continue;
      const { method, path } = correctedRequest;
      const found = rows.find(
        (one) => one.method === method && isOf(one.path, path.split('?')[0] ?? ''),
      );
      expect([row.path, path, found && listenerOf(found, dialects)]).toEqual([
        row.path,
        path,
        'api',
      ]);
    }
  },
);

/** Returns whether a path matches this path template. */
function isOf(form: string, path: string): boolean {
  return new RegExp(`^${form.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
}
