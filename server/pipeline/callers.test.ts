import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  decide,
} from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'callers');
});

afterAll(() => server.close());

const rows: readonly Operation[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
];

function idsOf(...kinds: readonly Operation['authorization'][]) {
  return rows
    .filter(({ authorization }) => kinds.includes(authorization))
    .map(({ id, method, path }) => [id, method, path.replace(/\{\w+\}/g, 'some')] as const);
}

describe('an operation for devices', () => {
  it.each(idsOf('device', 'socket'))('returns 401 without a token: %s', async (_, method, path) => {
    const response = await server.request(method, path);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(response.json().error).toBe('the Authorization header is missing');
  });

  it.each(idsOf('device', 'socket'))(
    "returns 401 with a user's token: %s",
    async (_, method, path) => {
      const response = await server.request(method, path, { token: server.adminToken });
      expect(response.status).toBe(401);
      expect(response.json().error).toBe("the token is a user's; this operation is for devices");
    },
  );
});

describe('an operation for users', () => {
  it.each(idsOf('user'))('returns 401 without a token: %s', async (_, method, path) => {
    const response = await server.request(method, path);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each(idsOf('user'))("returns 401 with a device's token: %s", async (_, method, path) => {
    const response = await server.request(method, path, { token: device.token });
    expect(response.status).toBe(401);
    if (method === 'HEAD') expect(response.text).toBe('');
    else expect(response.json().error).toBe("the token is a device's; this operation is for users");
  });
});

function configurationWith(headers: Readonly<Record<string, string>>) {
  return server.call('get-configuration', { headers });
}

describe('the Authorization header', () => {
  it.each<[string, (token: string) => string]>([
    ['nothing in it', () => ''],
    ['the scheme alone', () => 'Bearer'],
    ['no scheme', (token) => token],
    ['another scheme', (token) => `Basic ${token}`],
    ['a scheme that only begins so', (token) => `Bearers ${token}`],
    ['no space after the scheme', (token) => `Bearer${token}`],
    ['a colon after the scheme', (token) => `Bearer: ${token}`],
    ['two tokens', (token) => `Bearer ${token} ${token}`],
    ['two tokens in a list', (token) => `Bearer ${token}, Bearer ${token}`],
    ['quotes around the token', (token) => `Bearer "${token}"`],
    ['a token with a character too many', (token) => `Bearer ${token}A`],
    ['a token with a stray character', (token) => `Bearer ${token}!`],
    ['a token with padding', (token) => `Bearer ${token}==`],
    ['a token with a character too few', (token) => `Bearer ${token.slice(0, -1)}`],
    ['two parts of a token', (token) => `Bearer ${token.split('.').slice(0, 2).join('.')}`],
    ['a token without its signature', (token) => `Bearer ${token.replace(/[^.]+$/, '')}`],
    ['four parts', (token) => `Bearer ${token}.x`],
    ['a token of this form but not ours', () => 'Bearer eyJhbGciOiJub25lIn0.e30.AAAA'],
  ])('returns 401 for %s', async (_, header) => {
    const response = await configurationWith({ Authorization: header(device.token) });
    expect(response.status).toBe(401);
    expect(response.json().error).toMatch(/^the (Authorization header must be|token) /);
  });

  it.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])('accepts the scheme %j', async (scheme) => {
    const response = await configurationWith({ Authorization: `${scheme} ${device.token}` });
    expect(response.status).toBe(200);
  });
});

describe('a cookie with a token', () => {
  it('does not authorize a device outside of the handshake', async () => {
    expect((await configurationWith({ Cookie: `JWT=${device.token}` })).status).toBe(401);
  });

  it.each(['', '"'])(
    'authorizes a user for every user operation, in quotes or not: %j',
    async (quote) => {
      const headers = { Cookie: `theme=dark; JWT=${quote}${server.adminToken}${quote}` };
      expect((await server.call('list-devices', { headers })).status).toBe(200);
      const both = { ...headers, Authorization: 'Bearer none' };
      expect((await server.call('list-devices', { headers: both })).status).toBe(401);
      const foreign = { Cookie: `JWT=${quote}${device.token}${quote}` };
      expect((await server.call('list-devices', { headers: foreign })).status).toBe(401);
    },
  );
});

describe('a token from another server', () => {
  it('returns 401 for devices and users', async () => {
    const otherServer = await startTestServer({ random: seededRandom('another server') });
    try {
      const foreignDevice = await acceptedDevice(otherServer, 'callers');
      const response = await server.call('get-configuration', { token: foreignDevice.token });
      expect(response.json().error).toBe('the token has a signature that does not verify');
      const list = await server.call('list-devices', { token: otherServer.adminToken });
      expect(list.status).toBe(401);
    } finally {
      await otherServer.close();
    }
  });
});

describe('a token of a device that lost its acceptance', () => {
  async function rightsOf({ token }: AcceptedDevice): Promise<number> {
    return (await server.call('get-configuration', { token })).status;
  }

  it.each(['rejected', 'pending'])('returns 401 at once: %s', async (status) => {
    const lost = await acceptedDevice(server, `lost-${status}`);
    expect(await rightsOf(lost)).toBe(200);
    await decide(server, lost, status);
    const response = await server.call('get-configuration', { token: lost.token });
    expect(response.status).toBe(401);
    expect(response.json().error).toBe('the device of this token is no longer accepted');
  });

  it('keeps returning 401 after a new acceptance, but a new token works', async () => {
    const back = await acceptedDevice(server, 'back');
    await decide(server, back, 'rejected');
    await decide(server, back, 'accepted');
    expect(await rightsOf(back)).toBe(401);
    server.clock.advance(1000);
    const { text: token } = await authenticate(server, back);
    expect(await rightsOf({ ...back, token })).toBe(200);
  });

  it('returns 401 after the device is decommissioned', async () => {
    const removedDevice = await acceptedDevice(server, 'gone');
    const call = { token: server.adminToken, parameters: { id: removedDevice.id } };
    expect((await server.call('decommission-device', call)).status).toBe(204);
    expect(await rightsOf(removedDevice)).toBe(401);
  });
});

describe('the check-in time of a device', () => {
  it('is the time of its last authorized call', async () => {
    const { id, token } = await acceptedDevice(server, 'check-in');
    const shownCaller = async (): Promise<string | undefined> => {
      const call = { token: server.adminToken, parameters: { id } };
      return (await server.call('get-device', call)).json<Device>().check_in_time;
    };
    expect(await shownCaller()).toBeUndefined();
    server.clock.advance(60_000);
    await server.call('get-configuration', { token });
    const last = new Date(server.clock.now()).toISOString();
    server.clock.advance(60_000);
    await server.call('get-configuration', { token: `${token}x` });
    expect(await shownCaller()).toBe(last);
  });
});
