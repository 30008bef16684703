import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { publish } from '../testing/test-artifacts.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  newDevice,
  signatureOf,
} from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

const names = ['X-SVC', 'X-MEN', 'X-Acme-2'] as const;

describe.each(names)('a server with the header prefix %s', (prefix) => {
  const otherPrefixes = names.filter((name) => name !== prefix);
  let server: TestServer;
  let device: AcceptedDevice;

  beforeAll(async () => {
    server = await startTestServer({ headerPrefix: prefix });
    device = await acceptedDevice(server, 'prefix');
  });

  afterAll(() => server.close());

  it('shows its prefix and accepts its own signature header', () => {
    expect(server.headerPrefix).toBe(prefix);
    expect(device.token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('ignores a signature under another prefix', async () => {
    const body = JSON.stringify({ id_data: device.idData, pubkey: device.publicKeyPem });
    const signature = signatureOf(body, device.privateKey);
    for (const otherPrefix of otherPrefixes) {
      const headers = { [`${otherPrefix}-Signature`]: signature };
      const response = await authenticate(server, device, { signature: null, headers });
      expect(response.status).toBe(400);
      expect(response.json().error).toContain(`${prefix}-Signature`);
    }
  });

  it('refuses a wrong signature despite a valid one under another prefix', async () => {
    const unknownDevice = newDevice('stranger');
    const body = JSON.stringify({
      id_data: unknownDevice.idData,
      pubkey: unknownDevice.publicKeyPem,
    });
    const validSignature = signatureOf(body, unknownDevice.privateKey);
    const headers = Object.fromEntries(
      otherPrefixes.map((otherPrefix) => [`${otherPrefix}-Signature`, validSignature]),
    );
    const wrong = signatureOf(`${body} `, unknownDevice.privateKey);
    const response = await authenticate(server, unknownDevice, { body, signature: wrong, headers });
    expect(response.json().error).toBe('signature verification failed');
  });

  it('reads and writes the request ID under its own prefix only', async () => {
    const headers = Object.fromEntries(names.map((name) => [`${name}-RequestID`, `of ${name}`]));
    const response = await server.request('GET', '/nowhere', { headers });
    expect(response.headers.get(`${prefix}-RequestID`)).toBe(`of ${prefix}`);
    expect(response.json().request_id).toBe(`of ${prefix}`);
    for (const otherPrefix of otherPrefixes)
      expect(response.headers.get(`${otherPrefix}-RequestID`)).toBeNull();
  });

  it('signs and reads links only under its own prefix, in lower case', async () => {
    const parameters = { id: await publish(server) };
    const { token } = device;
    const response = await server.call('get-artifact-link', { token, parameters });
    const link = new URL(response.json<{ uri: string }>().uri);
    const small = prefix.toLowerCase();
    expect([...link.searchParams.keys()].toSorted()).toEqual(
      ['device_id', 'tenant_id', `${small}-expire`, `${small}-signature`].toSorted(),
    );
    expect((await fetch(link)).status).toBe(200);
    for (const otherPrefix of otherPrefixes) {
      const renamed = link.href.replaceAll(small, otherPrefix.toLowerCase());
      expect((await fetch(renamed)).status).toBe(400);
    }
  });

  it('allows and exposes its own headers to pages', async () => {
    const headers = {
      Origin: 'https://console.example',
      'Access-Control-Request-Headers': names.map((name) => `${name}-more`).join(','),
    };
    const { path } = operations['post-auth-request'];
    const response = await server.request('OPTIONS', path, { headers });
    const allowed = response.headers.get('access-control-allow-headers') ?? '';
    expect(allowed).toContain(`${prefix}-Signature`);
    expect(allowed).toContain(`${prefix}-more`);
    expect(response.headers.get('access-control-expose-headers')).toContain(`${prefix}-RequestID`);
    for (const otherPrefix of otherPrefixes) expect(allowed).not.toContain(otherPrefix);
  });

  it('keeps the paths and fields of its API whatever the prefix', async () => {
    const response = await server.request('GET', managementOperations['count-devices'].path, {
      token: server.adminToken,
    });
    expect(response.json()).toEqual({ count: 1 });
  });
});

describe('an invalid header prefix', () => {
  it.each(['', 'X SVC', 'X-SVC-', '-X', 'X_SVC', '9X', 'X--Y', 'X:', 'X-\u00c9', 'X\r\nY'])(
    'prevents the start and is named in the error: %j',
    async (headerPrefix) => {
      const starting = startTestServer({ headerPrefix });
      await expect(starting).rejects.toThrow(`such as X-SVC, not "${headerPrefix}"`);
    },
  );
});
