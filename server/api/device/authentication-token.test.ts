import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  newDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

const week = 604_800;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function partsOf(token: string): readonly Record<string, unknown>[] {
  const [header = '', payload = ''] = token.split('.');
  return [header, payload].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
}

describe('the response to an accepted device', () => {
  let server: TestServer;
  let device: AcceptedDevice;

  beforeAll(async () => {
    server = await startTestServer();
    device = await acceptedDevice(server, 'token');
  });

  afterAll(() => server.close());

  it('is the bare JWT with its own media type, without quotes or line break', async () => {
    const response = await authenticate(server, device);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/jwt');
    expect(response.headers.get('content-length')).toBe(String(response.text.length));
    expect(response.text).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/);
  });

  it('contains the algorithm, device, authentication set and a week of validity', async () => {
    const [header, claims] = partsOf((await authenticate(server, device)).text);
    const nowSeconds = server.clock.now() / 1000;
    expect(header).toEqual({ alg: 'EdDSA', typ: 'JWT' });
    expect(claims).toEqual({
      jti: device.authSetId,
      sub: device.id,
      iss: 'fleetbed',
      iat: nowSeconds,
      exp: nowSeconds + week,
      'svc.device': true,
      'svc.tenant': expect.stringMatching(uuid),
    });
    expect(device.id).toMatch(uuid);
    expect(device.authSetId).toMatch(uuid);
  });

  it('does not end the tokens issued before', async () => {
    server.clock.advance(1000);
    const { text: laterToken } = await authenticate(server, device);
    expect(laterToken).not.toBe(device.token);
    for (const token of [device.token, laterToken]) {
      expect((await server.call('get-configuration', { token })).status).toBe(200);
    }
  });

  it('is an error instead of a token if the device is not accepted', async () => {
    const response = await authenticate(server, newDevice('nobody'));
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.text).not.toContain('eyJ');
  });
});

describe.each([
  ['one week by default', undefined, week],
  ['as chosen, short', 90, 90],
  ['as chosen, long', 10 * week, 10 * week],
])('the lifetime of tokens, %s', (_, chosen, lifetimeSeconds) => {
  let server: TestServer;

  afterEach(() => server.close());

  async function start(): Promise<void> {
    server = await startTestServer(chosen === undefined ? {} : { tokenLifetimeSeconds: chosen });
  }

  it('ends a device token exactly at its expiry', async () => {
    await start();
    const device = await acceptedDevice(server, 'lifetime');
    const ask = () => server.call('get-configuration', { token: device.token });
    server.clock.advance(lifetimeSeconds * 1000 - 1);
    expect((await ask()).status).toBe(200);
    server.clock.advance(1);
    const response = await ask();
    expect(response.status).toBe(401);
    expect(response.json().error).toBe('the token has expired; get a new one');
    const { text: token } = await authenticate(server, device);
    expect((await server.call('get-configuration', { token })).status).toBe(200);
  });

  it('ends a user token exactly at its expiry', async () => {
    await start();
    const ask = () => server.call('count-devices', { token: server.adminToken });
    server.clock.advance(lifetimeSeconds * 1000 - 1);
    expect((await ask()).status).toBe(200);
    server.clock.advance(1);
    expect((await ask()).status).toBe(401);
  });

  it('equals the difference of exp and iat in the token', async () => {
    await start();
    const { token } = await acceptedDevice(server, 'told');
    for (const each of [token, server.adminToken]) {
      const [, claims] = partsOf(each);
      expect(Number(claims?.exp) - Number(claims?.iat)).toBe(lifetimeSeconds);
    }
  });
});
