import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { rawRequest, sendRaw } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'paths');
});

afterAll(() => server.close());

const everyOperation: readonly Operation[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
];
const everyPath = [...new Set(everyOperation.map(({ path }) => path))];

function methodsOf(path: string): readonly string[] {
  return everyOperation.filter((row) => row.path === path).map(({ method }) => method);
}

function filledIn(path: string): string {
  return path.replace(/\{\w+\}/g, 'some');
}

it('the root path returns 404 with the addresses of API and console', async () => {
  const response = await server.request('GET', '/');
  expect([response.status, response.json().error]).toEqual([
    404,
    expect.stringMatching(
      /^there is no page at \/: devices call \/api\/devices\/\S+, users \/api\/management\/\S+; the console is at http:\/\/127\.0\.0\.1:\d+\/$/,
    ),
  ]);
});

describe('a path outside the API', () => {
  it.each([
    '/api',
    '/api/devices/v1',
    '/api/devices/v3/deployments/device/deployments/next',
    '/api/devices/v2/deployments/artifacts',
    '/api/devices/v1/deviceconfig',
    '/api/devices/v1/inventory/attributes',
    '/api/0.1.0/attributes',
  ])('returns 404 with and without a token: %s', async (path) => {
    for (const token of [device.token, server.adminToken, undefined]) {
      const response = await server.request('GET', path, { ...(token && { token }) });
      expect(response.status).toBe(404);
      expect(response.json()).toEqual({
        error: 'this API has no such path',
        request_id: expect.any(String),
      });
    }
  });

  it.each([
    ['a slash at the end', '/api/devices/v1/deviceconfig/configuration/'],
    ['a capital letter', '/api/devices/v1/deviceconfig/Configuration'],
    ['a doubled slash', '/api/devices/v1//deviceconfig/configuration'],
    ['a matrix parameter', '/api/devices/v1/deviceconfig/configuration;v=1'],
    ['an empty parameter', '/api/devices/v1/deployments/device/deployments//status'],
    ['a step upwards that stays in the path', '/api/devices/v1/deviceconfig/x/%2e%2e%2fy'],
  ])('returns 404 even when it resembles a known one: %s', async (_, path) => {
    const text = rawRequest(`GET ${path}`, [`Authorization: Bearer ${device.token}`]);
    expect((await sendRaw(server, text)).status).toBe(404);
  });

  it.each([
    '/api/internal/v1/devauth/tokens/verify',
    '/api/internal/v1/deployments/tenants',
    '/api/internal/v1/inventory/tenants/x/devices',
    '/api/internal/v1/useradm/tenants/x/users',
    '/api/internal/v2/devauth/health',
  ])('returns 404 for internal paths with any method and token: %s', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const response = await server.request(method, path, { token: server.adminToken });
      expect(response.status).toBe(404);
    }
  });
});

describe.each(everyPath)('the known path %s', (path) => {
  const known = methodsOf(path);
  const otherMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'PROPFIND'].filter(
    (method) => !known.includes(method),
  );

  it('returns 405 with its methods to any other method, also without a token', async () => {
    for (const method of otherMethods) {
      const response = await server.request(method, filledIn(path));
      expect([method, response.status]).toEqual([method, 405]);
      expect(response.headers.get('allow')?.split(', ')).toEqual([...known, 'OPTIONS']);
      if (method === 'HEAD') expect(response.text).toBe('');
      else expect(response.json().error).toBe(`method not allowed; use ${allowed(known)}`);
    }
  });

  it('returns 204 with its methods and no body to OPTIONS', async () => {
    const response = await server.request('OPTIONS', filledIn(path));
    expect([response.status, response.text]).toEqual([204, '']);
    expect(response.headers.get('allow')).toBe(allowed(known));
    expect(response.headers.get('access-control-allow-methods')).toBe(allowed(known));
  });
});

function allowed(methods: readonly string[]): string {
  return [...methods, 'OPTIONS'].join(', ');
}

describe('a percent escape in a path', () => {
  const status = (id: string): string =>
    operations['put-deployment-status'].path.replace('{id}', id);
  const report = async (id: string) => {
    const body = '{"status":"success"}';
    const headers = [
      `Authorization: Bearer ${device.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    return sendRaw(server, rawRequest(`PUT ${status(id)}`, headers, body));
  };

  it.each([
    operations['get-configuration'].path.replace('config', 'conf%69g'),
    operations['get-artifact'].path.replace('artifacts', '%61rtifact%73'),
    operations['get-artifact'].path.replace('artifacts', 'artifact%73').replace('{id}', '%7e%41'),
  ])('names the same path if it stands for a plain letter: %s', async (path) => {
    const headers = [`Authorization: Bearer ${device.token}`];
    const response = await sendRaw(server, rawRequest(`GET ${path}`, headers));
    expect(response.body).not.toContain('this API has no such path');
  });

  it.each(['a%2Fb', 'a%20b', '%00', '%C3%A9', '..', '%2e%2e', "';DROP TABLE devices"])(
    'is decoded in an ID, and the ID is looked up as usual: %s',
    async (id) => {
      const response = await report(id.replaceAll(' ', '%20'));
      expect(response.status).toBe(404);
      expect(JSON.parse(response.body).error).toBe(
        'this device was not offered a deployment with this ID',
      );
    },
  );

  it.each(['%', '%z', '%zz', '%2', '%ff', '%C3', '%C3%28'])(
    'returns 400 when it cannot be decoded: %s',
    async (id) => {
      const response = await report(id);
      expect(response.status).toBe(400);
      expect(JSON.parse(response.body).error).toBe(
        'path: contains a percent escape that cannot be decoded',
      );
    },
  );

  it.each(['/%', '/%zz/x', '/api/devices/v1/deviceconfig/%ff'])(
    'returns 404 outside the API, decodable or not: %s',
    async (path) => {
      expect((await sendRaw(server, rawRequest(`GET ${path}`))).status).toBe(404);
    },
  );

  it('belongs to the parameter and separates nothing if it stands for a slash', async () => {
    const path = operations['get-artifact'].path.replace('{id}', 'x%2Fdownload');
    const response = await server.request('GET', path, { token: device.token });
    expect(response.json().error).toBe('no artifact has this ID');
  });
});
