import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { openConnection, readResponse, sendRaw, untilClosed } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'unparsable');
});

afterAll(() => server.close());

const { path } = operations['put-configuration'];
const host = 'Host: a\r\n';
const put = `PUT ${path} HTTP/1.1\r\n${host}`;

/** Sends the bytes, ends the client's side, and returns the last response. */
async function lastResponse(bytes: string | Buffer) {
  const socket = await openConnection(server);
  socket.end(bytes);
  const responses = (await untilClosed(socket)).split(/(?=HTTP\/1\.1 \d)/);
  const { body, ...response } = readResponse(responses.at(-1) ?? '');
  return { ...response, body: Buffer.from(body, 'latin1').toString() };
}

function withBody(framing: string, body: string): string {
  const type = 'Content-Type: application/json\r\n';
  return `${put}${type}Authorization: Bearer ${device.token}\r\n${framing}\r\n${body}`;
}

const chunked = 'Transfer-Encoding: chunked\r\n';

describe('a body that does not fit its framing', () => {
  it.each<[string, string, string, RegExp]>([
    [
      'a decimal chunk size',
      chunked,
      '12\r\n{"abc":"def"}\r\n0\r\n\r\n'.replace('"def"', '"de"'),
      /chunk size 12 announces 18 bytes.*hexadecimal; write c for 12 bytes/,
    ],
    [
      'a decimal size of a long chunk',
      chunked,
      `40\r\n{"a":"${'x'.repeat(32)}"}\r\n0\r\n\r\n`,
      /within a chunk that announces more.*hexadecimal, such as 28 for 40 bytes/,
    ],
    [
      'a chunk size with 0x',
      chunked,
      '0x2\r\n{}\r\n0\r\n\r\n',
      /prefix 0x: "0x2"; write hexadecimal/,
    ],
    ['a chunk size in words', chunked, 'zz\r\n{}\r\n0\r\n\r\n', /not a hexadecimal number: "zz"/],
    [
      'a body that is not in chunks',
      chunked,
      '{"a":"b"}',
      /there is no chunk size at "\{"a":"b"\}"; send each/,
    ],
    [
      'a chunk that is too small',
      chunked,
      '2\r\n{"a":"b"}\r\n0\r\n\r\n',
      /does not end after the number of bytes/,
    ],
    [
      'chunks with bare line feeds',
      chunked,
      '2\n{}\n0\n\n',
      /line with the chunk size does not end with CR LF/,
    ],
    [
      'no last chunk',
      chunked,
      '2\r\n{}\r\n',
      /in the middle of a body in chunks; end the body with a chunk of size 0/,
    ],
    [
      'a body shorter than its length',
      'Content-Length: 30\r\n',
      '{"a":"b"}',
      /closed after 9 of the 30 bytes that Content-Length announces; set/,
    ],
    [
      'another transfer encoding',
      'Transfer-Encoding: gzip\r\n',
      '{}',
      /Transfer-Encoding is not chunked alone/,
    ],
  ])('returns 400 to its own request and names %s', async (_, framing, body, what) => {
    const response = await lastResponse(withBody(`X-SVC-RequestID: framing\r\n${framing}`, body));
    expect([response.status, response.headers.connection]).toEqual([400, 'close']);
    expect(JSON.parse(response.body)).toEqual({
      error: expect.stringMatching(what),
      request_id: 'framing',
    });
  });

  it.each<[string, string, string, RegExp]>([
    [
      'no Content-Length',
      '',
      '{"a":"b"}',
      /9 bytes follow PUT \S+, which has no Content-Length, so they are not its body: "\{"a":"b"\}"/,
    ],
    [
      'a Content-Length that is too small',
      'Content-Length: 2\r\n',
      '{}{"a":"b"}',
      /9 bytes follow the body of PUT \S+, whose Content-Length is 2/,
    ],
    [
      'a second last chunk',
      chunked,
      '2\r\n{}\r\n0\r\n\r\n0\r\n\r\n',
      /5 bytes follow the last chunk of PUT/,
    ],
  ])('leaves bytes that return 400 and are named: %s', async (_, framing, body, what) => {
    const { status, body: text } = await lastResponse(withBody(framing, body));
    expect([status, JSON.parse(text).error]).toEqual([400, expect.stringMatching(what)]);
  });

  it('returns 400 without Content-Length, and says so in the response to the request', async () => {
    const text = withBody('Connection: close\r\n', '')
      .replace(path, operations['post-auth-request'].path)
      .replace('PUT', 'POST');
    const response = await sendRaw(server, text);
    expect(JSON.parse(response.body).error).toMatch(
      /body: is required; .* neither Content-Length nor/,
    );
  });
});
