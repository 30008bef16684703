import { constants, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyTypes } from '../../../fixtures/contract/vocabulary.ts';
import { authRequestVectors } from '../../../fixtures/vectors/signatures.ts';
import {
  acceptedDevice,
  authenticate,
  knownDevices,
  newDevice,
  signatureOf,
  type TestDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  // The vectors name a tenant of their own, which only the open-source dialect ignores.
  server = await startTestServer({ dialects: new Set(['open-source']) });
});

afterAll(() => server.close());

function bodyOf({ idData, publicKeyPem }: TestDevice): string {
  return JSON.stringify({ id_data: idData, pubkey: publicKeyPem });
}

/**
 * Returns `recorded` after a valid signature of an unknown device, otherwise the kind of refusal.
 */
async function outcomeOf(body: string, signature: string): Promise<string> {
  const countBefore = (await knownDevices(server)).length;
  const headers = { 'Content-Type': 'application/json', 'X-SVC-Signature': signature };
  const response = await server.call('post-auth-request', { headers, body });
  const recorded = (await knownDevices(server)).length - countBefore;
  const error = String(response.json().error);
  if (response.status === 400 && recorded === 0)
    return `400 ${error.split(':').slice(0, 2).join(':')}`;
  if (response.status === 401 && recorded === 0) return `401 ${error}`;
  return `${response.status} recorded ${recorded}`;
}

describe('authentication requests signed with openssl', () => {
  const vectors = authRequestVectors();
  const rightOnes = vectors.filter(({ valid }) => valid);
  const wrongOnes = vectors.flatMap((vector) => (vector.valid ? [] : [vector]));
  const titled = <Vector extends { title: string }>(list: readonly Vector[]) =>
    list.map((vector) => [vector.title, vector] as const);

  it.each(titled(rightOnes))(
    'pass the signature check if they are valid: %s',
    async (_, { body, signatureBase64 }) => {
      expect(await outcomeOf(body, signatureBase64)).toMatch(
        /^401 (recorded 1|device not authorized)/,
      );
    },
  );

  it.each(titled(wrongOnes))(
    'return 401, or 400 for the key, and are not recorded if invalid: %s',
    async (_, vector) => {
      const { body, signatureBase64, invalidPart: problem } = vector;
      expect(await outcomeOf(body, signatureBase64)).toBe(
        problem === 'key' ? '400 body: pubkey' : '401 signature verification failed',
      );
    },
  );
});

describe.each(keyTypes)('a device with a key of the kind %s', (keyType) => {
  it('is accepted at each request once a user has accepted it', async () => {
    const device = await acceptedDevice(server, `in-${keyType}`, keyType);
    for (let time = 0; time < 3; time += 1) {
      expect((await authenticate(server, device)).status).toBe(200);
    }
  });

  it('gets 401 with a signature by another key', async () => {
    const device = await acceptedDevice(server, `other-${keyType}`, keyType);
    const signature = signatureOf(bodyOf(device), newDevice('x', keyType).privateKey);
    const response = await authenticate(server, device, { signature });
    expect([response.status, response.json().error]).toEqual([
      401,
      'signature verification failed',
    ]);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('gets 401 if the body differs from the signed bytes', async () => {
    const device = await acceptedDevice(server, `byte-${keyType}`, keyType);
    const signature = signatureOf(bodyOf(device), device.privateKey);
    for (const [from, to] of [
      ['byte', 'Byte'],
      ['"id_data":', '"id_data": '],
      ['}', ' }'],
    ] as const) {
      const body = bodyOf(device).replace(from, to);
      expect((await authenticate(server, device, { body, signature })).status).toBe(401);
    }
  });

  it('can end its body with a line break that it signed', async () => {
    const device = await acceptedDevice(server, `break-${keyType}`, keyType);
    const plain = bodyOf(device);
    const ended = `${plain}\n`;
    const [ofPlain, ofEnded] = [plain, ended].map((body) => signatureOf(body, device.privateKey));
    const ask = async (body: string, signature = ''): Promise<number> =>
      (await authenticate(server, device, { body, signature })).status;
    expect([await ask(plain, ofPlain), await ask(ended, ofEnded)]).toEqual([200, 200]);
    expect([await ask(ended, ofPlain), await ask(plain, ofEnded)]).toEqual([401, 401]);
  });

  it('must sign the bytes of the body, not its JSON value', async () => {
    const device = await acceptedDevice(server, `bytes-${keyType}`, keyType);
    const { idData, publicKeyPem } = device;
    const body = ` {\r\n "more" : "\u00e9\u4e2d",\t"pubkey":${JSON.stringify(publicKeyPem)} ,
      "id_data" : ${JSON.stringify(idData).replace('b', '\\u0062')}} \n`;
    expect((await authenticate(server, device, { body })).status).toBe(200);
    const rewritten = signatureOf(JSON.stringify(JSON.parse(body)), device.privateKey);
    expect((await authenticate(server, device, { body, signature: rewritten })).status).toBe(401);
  });
});

describe('a wrongly made or encoded signature of an accepted device', () => {
  it.each([
    ['RSA-PSS', 'rsa', 'sha256', { padding: constants.RSA_PKCS1_PSS_PADDING }],
    ['RSA with SHA-1', 'rsa', 'sha1', {}],
    ['ECDSA as r and s side by side', 'ecdsa', 'sha256', { dsaEncoding: 'ieee-p1363' }],
    ['ECDSA with SHA-1', 'ecdsa', 'sha1', {}],
  ] as const)('returns 401 if it is made as %s', async (name, keyType, digest, form) => {
    const device = await acceptedDevice(server, name, keyType);
    const key = { key: device.privateKey, ...form };
    const signature = sign(digest, Buffer.from(bodyOf(device)), key).toString('base64');
    expect((await authenticate(server, device, { signature })).status).toBe(401);
  });

  it.each<[string, (signature: Buffer) => string]>([
    ['base64url', (signature) => `${signature.toString('base64url')}==`],
    ['base64 without padding', (signature) => signature.toString('base64').replace(/=+$/, '')],
    ['hexadecimal', (signature) => signature.toString('hex')],
    ['base64 with a stray character', (signature) => `!${signature.toString('base64')}`],
    ['base64 twice', (signature) => Buffer.from(signature.toString('base64')).toString('base64')],
    ['words', () => 'signature'],
    ['one byte', () => 'AA=='],
  ])('returns 401 if it is encoded as %s', async (name, rewrite) => {
    const device = await acceptedDevice(server, `written as ${name}`);
    const body = withDashes(device);
    const signature = Buffer.from(signatureOf(body, device.privateKey), 'base64');
    expect((await authenticate(server, device, { body })).status).toBe(200);
    const response = await authenticate(server, device, { body, signature: rewrite(signature) });
    expect(response.status).toBe(401);
  });
});

/** Returns a body whose signature differs between base64 and base64url. */
function withDashes(device: TestDevice): string {
  for (let nonce = 0; nonce < 1000; nonce += 1) {
    const body = JSON.stringify({ ...JSON.parse(bodyOf(device)), nonce });
    if (/[+/]/.test(signatureOf(body, device.privateKey))) return body;
  }
  throw new Error('no such body was found');
}

describe('the signature header of an authentication request', () => {
  it.each([
    ['missing', null],
    ['empty', ''],
    ['nothing but spaces', '   '],
  ])('returns 400 if it is %s, and nothing is recorded', async (name, signature) => {
    const response = await authenticate(server, newDevice(`header ${name}`), { signature });
    expect([response.status, response.json().error]).toEqual([
      400,
      'the X-SVC-Signature header is missing or empty',
    ]);
    const names = (await knownDevices(server)).map(({ identity_data: data }) => data.mac);
    expect(names).not.toContain(`header ${name}`);
  });

  it('returns 401 if it is sent twice', async () => {
    const device = await acceptedDevice(server, 'header twice');
    const signature = signatureOf(bodyOf(device), device.privateKey);
    const twice = `${signature}, ${signature}`;
    expect((await authenticate(server, device, { signature: twice })).status).toBe(401);
  });

  it('is checked after the body: a malformed body returns 400', async () => {
    const device = newDevice('order');
    for (const signature of [null, 'wrong', signatureOf('{}', device.privateKey)]) {
      const response = await authenticate(server, device, { body: '{}', signature });
      expect([response.status, response.json().error]).toEqual([400, 'body: id_data: is required']);
    }
  });
});
