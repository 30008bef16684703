import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../fixtures/contract/limits.ts';
import {
  acceptedDevice,
  authenticate,
  knownDevices,
  newDevice,
  type TestDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestResponse, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let device: TestDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'body');
});

afterAll(() => server.close());

/** Sends a correctly signed body of the device's own fields, overridden by the given ones. */
function ask(
  fields: Readonly<Record<string, unknown>>,
  sender: TestDevice = device,
): Promise<TestResponse> {
  const body = JSON.stringify({ id_data: sender.idData, pubkey: sender.publicKeyPem, ...fields });
  return authenticate(server, sender, { body });
}

async function refusal(fields: Readonly<Record<string, unknown>>): Promise<string> {
  const countBefore = (await knownDevices(server)).length;
  const response = await ask(fields);
  expect(response.status).toBe(400);
  expect(await knownDevices(server)).toHaveLength(countBefore);
  return String(response.json().error);
}

describe('the field id_data of an authentication request', () => {
  it.each<[string, unknown, string]>([
    ['missing', undefined, 'is required'],
    ['null', null, 'must be a string, not null'],
    ['an object', { mac: 'x' }, 'must be a string, not an object'],
    ['a number', 7, 'must be a string, not 7'],
    ['empty', '', 'must not be empty'],
    [
      'words',
      'mac=1',
      'is not JSON text: it breaks at position 0, near mac=1: it is text of the form name=value; send JSON',
    ],
    [
      'JSON that is cut off',
      '{"mac":',
      'is not JSON text: it ends too early: it is cut off with 1 of its { and [ open, near {"mac":',
    ],
    ['the text of a list', '["mac"]', 'must be a string that holds a JSON object'],
    ['the text of a string', '"mac"', 'must be a string that holds a JSON object'],
    ['the text of null', 'null', 'must be a string that holds a JSON object'],
    ['too deep', nested(33), 'must not be nested deeper than 32 levels'],
    ['as deep as its length allows', nested(680), 'must not be nested deeper than 32 levels'],
    ['far too long', nested(50_000), 'must have at most 4096 bytes'],
    ['a number beyond every measure', '{"mac":1e999}', 'has a number that is too large'],
  ])('returns 400 and the problem if it is %s', async (_, idData, problem) => {
    expect(await refusal({ id_data: idData })).toBe(`body: id_data: ${problem}`);
  });
});

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
}

describe('the field pubkey of an authentication request', () => {
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
  const short = generateKeyPairSync('rsa', { modulusLength: 512 }).publicKey;
  const spki = { type: 'spki', format: 'pem' } as const;

  it.each<[string, unknown, string]>([
    ['missing', undefined, 'is required'],
    ['null', null, 'must be a string, not null'],
    ['a list', [], 'must be a string, not an array'],
    ['empty', '', 'must not be empty'],
    ['words', 'my key', 'is not a single PEM block'],
    ['of another curve', curve.export(spki), 'has an unsupported algorithm (secp384r1)'],
    ['RSA of 512 bits', short.export(spki), 'is an RSA key of 512 bits; use 1024 to 8192'],
    [
      'PKCS#1',
      generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
        type: 'pkcs1',
        format: 'pem',
      }),
      'is a PEM block of type "RSA PUBLIC KEY"',
    ],
  ])('returns 400 and the problem if it is %s', async (_, pubkey, problem) => {
    expect((await refusal({ pubkey })).startsWith(`body: pubkey: ${problem}`)).toBe(true);
  });

  it('returns 400 if it is the private key', async () => {
    const pkcs8 = device.privateKey.export({ type: 'pkcs8', format: 'pem' });
    expect(await refusal({ pubkey: pkcs8 })).toContain('PEM block of type "PRIVATE KEY"');
  });

  it('returns 400 if it contains two keys', async () => {
    const both = device.publicKeyPem + newDevice('x').publicKeyPem;
    expect(await refusal({ pubkey: both })).toBe('body: pubkey: is not a single PEM block');
  });

  it('returns 400 without delay if it has a million spaces', async () => {
    const pubkey = `-----BEGIN PUBLIC KEY-----${' '.repeat(1_000_000)}`;
    expect(await refusal({ pubkey })).toBe('body: pubkey: has more than 16384 characters');
  });
});

describe('an optional field of an authentication request', () => {
  it.each(['tenant_token', 'external_id'])(
    'returns 400 if it is not a string: %s',
    async (field) => {
      for (const value of [7, null, {}, ['x']]) {
        expect(await refusal({ [field]: value })).toContain(`body: ${field}: must be a string`);
      }
    },
  );

  it.each([
    ['an empty tenant token', { tenant_token: '' }],
    ['an external ID', { external_id: 'azure 1' }],
    ['an empty external ID', { external_id: '' }],
    ['the tier of newer clients', { tier: 'micro' }],
    ['unknown fields', { more: { deep: [null, { x: 1 }] }, '': 1, ID_DATA: 7 }],
  ])('is accepted: %s', async (_, fields) => {
    expect((await ask(fields)).status).toBe(200);
  });

  it('is accepted at any depth of nesting', async () => {
    const idData = JSON.stringify(device.idData);
    const depth = limits.bodyValuesMax - 10;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const body = `{"id_data":${idData},"pubkey":${JSON.stringify(device.publicKeyPem)},"x":${deep}}`;
    expect((await authenticate(server, device, { body })).status).toBe(200);
  });
});

describe('the external ID of a device', () => {
  async function shownId(name: string): Promise<unknown> {
    const known = await knownDevices(server);
    return known.find(({ identity_data: data }) => data.mac === name)?.external_id;
  }

  it('is stored from the first contact on and shown to users', async () => {
    const unknownDevice = newDevice('external');
    await ask({ external_id: 'first' }, unknownDevice);
    expect(await shownId('external')).toBe('first');
    await ask({ external_id: 'second' }, unknownDevice);
    await ask({}, unknownDevice);
    expect(await shownId('external')).toBe('second');
  });

  it('does not change by a request with an unaccepted key', async () => {
    const owner = await acceptedDevice(server, 'owner');
    await ask({ external_id: 'mine' }, owner);
    const thief = { ...newDevice('thief'), idData: owner.idData };
    for (let time = 0; time < 2; time += 1) await ask({ external_id: 'stolen' }, thief);
    expect(await shownId('owner')).toBe('mine');
  });
});

describe('the body of an authentication request', () => {
  it.each(['[]', 'null', '"text"', '7', '[{}]'])('returns 400 if it is %s', async (body) => {
    const response = await authenticate(server, device, { body });
    expect([response.status, typeof response.json().error]).toEqual([400, 'string']);
  });

  it('returns 400 if it is empty', async () => {
    const response = await authenticate(server, device, { body: '' });
    expect([response.status, response.json().error]).toEqual([400, 'body: is required']);
  });

  it.each([
    [415, 'text/plain'],
    [400, 'json'],
    [200, 'application/json;charset=UTF-8'],
  ])('returns %i for the media type %s', async (status, type) => {
    const body = JSON.stringify({ id_data: device.idData, pubkey: device.publicKeyPem });
    const headers = { 'Content-Type': type };
    expect((await authenticate(server, device, { body, headers })).status).toBe(status);
  });

  it('returns 413 beyond 1 MiB, before any other check', async () => {
    const body = `{${' '.repeat(1_048_576)}`;
    const response = await authenticate(server, device, { body, signature: null });
    expect(response.status).toBe(413);
  });
});

describe('the Authorization header of an authentication request', () => {
  it.each([
    'API_KEY',
    'Bearer',
    'Bearer ',
    'Bearer tenant-token',
    'Basic dXNlcjpwYXNz',
    'nonsense, more nonsense',
    '',
  ])('is ignored if its value is %j', async (authorization) => {
    const headers = { Authorization: authorization };
    expect((await authenticate(server, device, { headers })).status).toBe(200);
    const unknownDevice = newDevice(`with ${authorization}`);
    expect((await authenticate(server, unknownDevice, { headers })).status).toBe(401);
  });

  it('is ignored even if it contains a valid token', async () => {
    const { token } = await acceptedDevice(server, 'token holder');
    for (const validToken of [token, server.adminToken]) {
      const headers = { Authorization: `Bearer ${validToken}` };
      const unknownDevice = newDevice(`beside ${validToken.length}`);
      expect((await authenticate(server, unknownDevice, { headers })).status).toBe(401);
    }
  });
});
