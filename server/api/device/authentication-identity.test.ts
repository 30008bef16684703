import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditLog } from '../../../fixtures/contract/resources.ts';
import { keyTypes } from '../../../fixtures/contract/vocabulary.ts';
import {
  acceptedDevice,
  authenticate,
  knownDevices,
  newDevice,
  type TestDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

async function count(): Promise<number> {
  return (await knownDevices(server)).length;
}

function ask(device: TestDevice, changed: Partial<TestDevice>) {
  return authenticate(server, { ...device, ...changed });
}

describe('the identity of a device', () => {
  const first = '{"mac":"02:01","sn":{"b":1,"a":[1,{"d":2,"c":3}]}}';

  it.each([
    ['members in another order', '{"sn":{"b":1,"a":[1,{"d":2,"c":3}]},"mac":"02:01"}'],
    ['inner members in another order', '{"mac":"02:01","sn":{"a":[1,{"c":3,"d":2}],"b":1}}'],
    ['white space', ' { "mac" :\t"02:01",\n"sn": {"b":1, "a":[ 1 ,{"d":2,"c":3}]}}\r\n'],
    ['escapes', '{"m\\u0061c":"02\\u003a01","sn":{"b":1,"a":[1,{"d":2,"c":3}]}}'],
    ['numbers in another form', '{"mac":"02:01","sn":{"b":1.0,"a":[1e0,{"d":2,"c":3}]}}'],
    ['a member twice, the last one right', `{"mac":"x",${first.slice(1)}`],
  ])('is unchanged if id_data has %s', async (name, idData) => {
    const device = newDevice(name);
    await ask(device, { idData: first });
    const countBefore = await count();
    const response = await ask(device, { idData });
    expect(response.json().error).toContain('pending');
    expect(await count()).toBe(countBefore);
  });

  it.each([
    ['another value', '{"mac":"02:02","sn":{"b":1,"a":[1,{"d":2,"c":3}]}}'],
    ['another inner value', '{"mac":"02:01","sn":{"b":1,"a":[1,{"d":2,"c":4}]}}'],
    ['a list in another order', '{"mac":"02:01","sn":{"b":1,"a":[{"d":2,"c":3},1]}}'],
    ['a member more', '{"mac":"02:01","sn":{"b":1,"a":[1,{"d":2,"c":3}]},"x":null}'],
    ['a member less', '{"mac":"02:01"}'],
    ['a string for a number', '{"mac":"02:01","sn":{"b":"1","a":[1,{"d":2,"c":3}]}}'],
    ['other letters', '{"MAC":"02:01","sn":{"b":1,"a":[1,{"d":2,"c":3}]}}'],
    ['nothing at all', '{}'],
  ])('is a different one if id_data has %s', async (name, idData) => {
    const device = newDevice(name);
    await ask(device, { idData: first });
    const countBefore = await count();
    const response = await ask(device, { idData });
    expect(response.json().error).toContain('the device is new');
    expect(await count()).toBe(countBefore + 1);
  });

  it('is shown to users as the device sent it, with values of all JSON types', async () => {
    const data = { mac: 'shown', list: ['a', 1], object: { b: null, a: true }, 'x.$': '\u00e9' };
    await ask(newDevice('shown'), { idData: JSON.stringify(data) });
    const known = await knownDevices(server);
    expect(known.map(({ identity_data }) => identity_data)).toContainEqual(data);
  });

  it('gets a random device ID that does not derive from its text', async () => {
    const otherServer = await startTestServer({ headerPrefix: 'X-Other' });
    try {
      for (const name of ['before', 'same']) await authenticate(otherServer, newDevice(name));
      await ask(newDevice('same'), {});
      const idIn = async (where: TestServer) =>
        (await knownDevices(where)).find(({ identity_data: data }) => data.mac === 'same')?.id;
      expect(await idIn(server)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-/,
      );
      expect(await idIn(server)).not.toBe(await idIn(otherServer));
    } finally {
      await otherServer.close();
    }
  });
});

describe.each(keyTypes)('a public key of the kind %s', (keyType) => {
  const inner = (pem: string): string => pem.replace(/-----[^-]+-----|\s/g, '');
  const block = (body: string): string =>
    `-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----`;

  it.each<[string, (pem: string) => string]>([
    ['line ends of Windows', (pem) => pem.replaceAll('\n', '\r\n')],
    ['no last line break', (pem) => pem.trimEnd()],
    ['lines of another length', (pem) => block((inner(pem).match(/.{1,40}/g) ?? []).join('\n'))],
    ['one long line', (pem) => block(inner(pem))],
  ])('is recognized as the accepted key if its PEM text has %s', async (name, rewrite) => {
    const device = await acceptedDevice(server, `${keyType} ${name}`, keyType);
    const publicKeyPem = rewrite(device.publicKeyPem);
    expect(publicKeyPem).not.toBe(device.publicKeyPem);
    const response = await ask(device, { publicKeyPem });
    expect(response.status).toBe(200);
    const [known] = await knownDevices(server, { id: device.id });
    expect(known?.auth_sets.map(({ pubkey }) => pubkey)).toEqual([device.publicKeyPem]);
  });

  it('is recorded as a second authentication set if it differs', async () => {
    const device = await acceptedDevice(server, `${keyType} other`, keyType);
    const { privateKey, publicKeyPem } = newDevice('x', keyType);
    expect((await ask(device, { privateKey, publicKeyPem })).status).toBe(401);
    const [known] = await knownDevices(server, { id: device.id });
    expect(known?.auth_sets).toHaveLength(2);
  });
});

describe('fifty concurrent first contacts', () => {
  it('create one authentication set and one audit entry if they come from one device', async () => {
    const device = newDevice('fifty');
    const countBefore = await count();
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => authenticate(server, device)),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(401));
    const fresh = responses.filter((response) => String(response.json().error).includes('is new'));
    expect(fresh).toHaveLength(1);
    expect(await count()).toBe(countBefore + 1);
    const known = (await knownDevices(server)).find((one) => one.identity_data.mac === 'fifty');
    expect(known?.auth_sets).toHaveLength(1);
    const query = { object_id: known?.id ?? '' };
    const logs = await server.call('list-audit-logs', { token: server.adminToken, query });
    expect(logs.json<AuditLog[]>().map(({ action }) => action)).toEqual(['create']);
  });

  it('create fifty devices if they come from fifty devices', async () => {
    const countBefore = await count();
    const devices = Array.from({ length: 50 }, (_, index) => newDevice(`many ${index}`));
    await Promise.all(devices.map((device) => authenticate(server, device)));
    expect(await count()).toBe(countBefore + 50);
  });
});
