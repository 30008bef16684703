import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import {
  openConnection,
  rawRequest,
  readResponse,
  sendRaw,
  untilClosed,
} from '../testing/raw-http.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  newDevice,
  signatureOf,
} from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

const max = 1_048_576;

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'body');
});

afterAll(() => server.close());

const path = operations['put-configuration'].path;

function headersOf(...more: readonly string[]): readonly string[] {
  return [`Authorization: Bearer ${device.token}`, 'Content-Type: application/json', ...more];
}

/** Splits the body into chunks of the given size, encoded as on the wire. */
function encodeChunks(body: Buffer, size: number): Buffer {
  const parts: Buffer[] = [];
  for (let from = 0; from < body.length; from += size) {
    const part = body.subarray(from, from + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function putChunked(body: Buffer, size: number) {
  const head = rawRequest(`PUT ${path}`, headersOf('Transfer-Encoding: chunked'));
  return sendRaw(server, Buffer.concat([Buffer.from(head), encodeChunks(body, size)]));
}

/** Returns a valid configuration of exactly this many bytes, padded with white space. */
function configurationOf(bytes: number): Buffer {
  return Buffer.from('{"speed":"9"}'.padEnd(bytes, ' '));
}

async function configuration(): Promise<unknown> {
  return (await server.call('get-configuration', { token: device.token })).json();
}

describe('a chunked request body', () => {
  it.each([1, 5, 4096])('is read like one of known length, with chunks of %i', async (size) => {
    const body = Buffer.from(`{"chunk":"${size}"}`);
    expect((await putChunked(body, size)).status).toBe(204);
    expect(await configuration()).toMatchObject({ chunk: String(size) });
  });

  it('is read up to the size limit', async () => {
    expect((await putChunked(configurationOf(max), 65_536)).status).toBe(204);
  });

  it('returns 413 beyond the limit, without a change of state', async () => {
    const configurationBefore = await configuration();
    const response = await putChunked(configurationOf(max + 1), 65_536);
    expect(response.status).toBe(413);
    expect(JSON.parse(response.body).error).toContain('1048576 bytes');
    expect(await configuration()).toEqual(configurationBefore);
  });

  it('counts as absent when it has no chunk', async () => {
    expect((await putChunked(Buffer.alloc(0), 1)).status).toBe(204);
    const head = rawRequest(
      `POST ${operations['post-alerts'].path}`,
      headersOf('Transfer-Encoding: chunked'),
    );
    const response = await sendRaw(server, `${head}0\r\n\r\n`);
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body).error).toBe('body: is required');
  });
});

describe('a request body of known length', () => {
  it('is read up to the size limit', async () => {
    const head = rawRequest(`PUT ${path}`, headersOf(`Content-Length: ${max}`));
    const response = await sendRaw(
      server,
      Buffer.concat([Buffer.from(head), configurationOf(max)]),
    );
    expect(response.status).toBe(204);
  });

  it.each([String(max + 1), '99999999999'])(
    'returns 413 by its announced length, before any byte: %s',
    async (length) => {
      const text = rawRequest(`PUT ${path}`, headersOf(`Content-Length: ${length}`));
      const response = await sendRaw(server, text);
      expect(response.status).toBe(413);
      expect(response.headers.connection).toBe('close');
    },
  );

  it.each(['-1', '1.5', 'ten', '0x10', '99999999999999999999999'])(
    'returns 400 when Content-Length is not a number: %s',
    async (length) => {
      const text = rawRequest(`PUT ${path}`, headersOf(`Content-Length: ${length}`), '{}');
      expect((await sendRaw(server, text)).status).toBe(400);
    },
  );
});

describe('a request body that is cut off', () => {
  it('changes no state, and the server keeps running', async () => {
    const unknownDevice = newDevice('cut-off');
    const body = JSON.stringify({
      id_data: unknownDevice.idData,
      pubkey: unknownDevice.publicKeyPem,
    });
    const socket = await openConnection(server);
    socket.write(
      rawRequest(`POST ${operations['post-auth-request'].path}`, [
        'Content-Type: application/json',
        `X-SVC-Signature: ${signatureOf(body, unknownDevice.privateKey)}`,
        `Content-Length: ${body.length + 1}`,
      ]) + body,
    );
    socket.end();
    expect(readResponse(await untilClosed(socket)).status).toBe(400);
    const devices = await server.call('list-devices', { token: server.adminToken });
    const identities = devices.json<Device[]>().map(({ identity_data: data }) => data.mac);
    expect(identities).toEqual(['body']);
  });
});

describe('a keep-alive connection', () => {
  it('serves several requests, even after a refused one with a body', async () => {
    const socket = await openConnection(server);
    const refused = `PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n{"a":`;
    socket.write(refused + rawRequest('GET /nowhere'));
    const responses = (await untilClosed(socket)).split(/(?=HTTP\/1\.1 )/);
    expect(responses.map((response) => readResponse(response).status)).toEqual([401, 404]);
  });

  it('accepts a body that the client sends only after 100 Continue', async () => {
    const socket = await openConnection(server);
    socket.write(rawRequest(`PUT ${path}`, headersOf('Expect: 100-continue', 'Content-Length: 2')));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{}');
    expect(readResponse(await untilClosed(socket)).status).toBe(204);
  });
});

describe('a request body with a content coding', () => {
  it.each(['gzip', 'br', 'GZIP, identity'])('returns 415 with a remedy: %s', async (coding) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': coding };
    const response = await server.call('put-configuration', {
      token: device.token,
      headers,
      body: '{}',
    });
    expect([
      response.status,
      response.headers.get('accept-encoding'),
      response.json().error,
    ]).toEqual([
      415,
      'identity',
      `Content-Encoding "${coding}" is not supported in requests; send the body uncompressed`,
    ]);
  });

  it('is read when the coding is "identity"', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'identity' };
    const call = { token: device.token, headers, body: '{}' };
    expect((await server.call('put-configuration', call)).status).toBe(204);
  });
});

describe('the text of a request body', () => {
  it.each([
    ['not JSON', Buffer.from('{"a":')],
    ['JSON with something behind it', Buffer.from('{}{}')],
    ['single quotes', Buffer.from("{'a':'b'}")],
    ['a comment', Buffer.from('{} // none')],
    ['nothing but white space', Buffer.from(' \n')],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x22, 0x22, 0x7d])],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['JSON behind a byte order mark', Buffer.from('\ufeff{}')],
  ])('returns 400 when it is malformed: %s', async (_, body) => {
    const head = rawRequest(`PUT ${path}`, headersOf(`Content-Length: ${body.length}`));
    const response = await sendRaw(server, Buffer.concat([Buffer.from(head), body]));
    expect(response.status).toBe(400);
    expect(JSON.parse(response.body).error).toMatch(
      /^body: is not JSON text in UTF-8(?:: it |, but )/,
    );
  });

  it.each(['[]', 'null', 'true', '"text"', '7'])(
    'returns 400 when it is JSON of another kind: %s',
    async (body) => {
      const headers = { 'Content-Type': 'application/json' };
      const response = await server.call('put-configuration', {
        token: device.token,
        headers,
        body,
      });
      expect(response.status).toBe(400);
      expect(response.json().error).toBe('body: must be an object');
    },
  );

  it('returns 400 and not 500 when its JSON is nested too deeply', async () => {
    const body = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
    const headers = { 'Content-Type': 'application/json' };
    const response = await server.call('put-configuration', { token: device.token, headers, body });
    expect(response.status).toBe(400);
  });
});
