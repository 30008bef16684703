import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { openConnection, readResponse, untilClosed } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { journalPage } from '../testing/test-journal.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { control } from '../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'unparsable');
});

afterAll(() => server.close());

const { path } = operations['put-configuration'];
const host = 'Host: a\r\n';
const get = `GET ${path} HTTP/1.1\r\n`;
const put = `PUT ${path} HTTP/1.1\r\n${host}`;
const chunked = 'Transfer-Encoding: chunked\r\n';

/** Sends the bytes, ends the client's side, and returns the last response. */
async function lastResponse(bytes: string | Buffer) {
  const socket = await openConnection(server);
  socket.end(bytes);
  const responses = (await untilClosed(socket)).split(/(?=HTTP\/1\.1 \d)/);
  const { body, ...response } = readResponse(responses.at(-1) ?? '');
  return { ...response, body: Buffer.from(body, 'latin1').toString() };
}

const headerCauses: [name: string, bytes: string, what: RegExp][] = [
  [
    'a space in the URL',
    `GET /a?b=c d HTTP/1.1\r\n${host}\r\n`,
    /URL contains a space: "GET \/a\?b=c d HTTP.*%20/,
  ],
  [
    'a space far behind in the URL',
    `GET ${path}?artifact_name=release-one&device_type=my board HTTP/1.1\r\n${host}\r\n`,
    /space: "\.\.\..*device_type=my board HTTP/,
  ],
  [
    'no empty line before the body',
    `${put}Content-Length: 9\r\n{"a":"b"}\r\n`,
    /body follows the headers without an empty line between them: "\{"a":"b"\}"/,
  ],
  ['no URL', `GET HTTP/1.1\r\n${host}\r\n`, /URL is missing: "GET HTTP\/1.1"/],
  [
    'a URL without a slash',
    `GET api/x HTTP/1.1\r\n\r\n`,
    /begins with "\/" nor a whole URL: "GET api\/x/,
  ],
  ['a URL of host and port', 'GET a:80/b HTTP/1.1\r\n\r\n', /nor a whole URL: "GET a:80/],
  [
    'an umlaut in the URL',
    `GET /\u00fc HTTP/1.1\r\n\r\n`,
    /not ASCII: "GET \/\u00fc HTTP.*percent-encode/,
  ],
  ['a tab in the URL', 'GET /a\tb HTTP/1.1\r\n\r\n', /control character: "GET \/a\\u\{9\}b/],
  ['a line end in the URL', 'GET /a\r\nb HTTP/1.1\r\n\r\n', /line end is within the re.*"b HTTP/],
  [
    'no version',
    `GET ${path}\r\n${host}\r\n`,
    /request line has no HTTP version; end it with HTTP\/1.1/,
  ],
  [
    'HTTP/2.0',
    `GET ${path} HTTP/2.0\r\n${host}\r\n`,
    /has the version HTTP\/2.0; end it with HTTP\/1.1/,
  ],
  [
    'HTTP/3.0',
    `GET ${path} HTTP/3.0\r\n${host}\r\n`,
    /version of the request line does not exist: "GET/,
  ],
  [
    'a version in lower case',
    `GET /a http/1.1\r\n\r\n`,
    /version is not in capital letters.*"HTTP\/1.1"/,
  ],
  [
    'another word for the version',
    'GET /a HTTX/1.1\r\n\r\n',
    /does not end with its version: "GET \/a HTTX/,
  ],
  [
    'a blank after the version',
    'GET /a HTTP/1.1 \r\n\r\n',
    /between the version and the line end: "GET \/a/,
  ],
  [
    'a spelled line end',
    'GET /a HTTP/1.1\\r\\nHost: a\\r\\n\r\n',
    /line end is spelled with a backslash.*printf/,
  ],
  [
    'bare line feeds',
    'GET /a HTTP/1.1\nHost: a\n\n',
    /request line ends with LF alone: "GET \/a HTTP\/1.1"; end each line with CR LF/,
  ],
  [
    'a line feed after a header',
    `${get}Host: a\nA: b\n\n`,
    /header line "Host" ends with LF alone; end each/,
  ],
  [
    'a line feed as the empty line',
    `${get}Host: a\r\n\n`,
    /empty line after the headers ends with LF alone/,
  ],
  [
    'two carriage returns',
    'GET /a HTTP/1.1\r\r\nHost: a\r\r\n\r\r\n',
    /ends with CR that no LF follows/,
  ],
  [
    'a method in lower case',
    `get ${path} HTTP/1.1\r\n\r\n`,
    /not in capital letters: "get .*case-sensitive/,
  ],
  [
    'an unknown method',
    `FETCH ${path} HTTP/1.1\r\n\r\n`,
    /not one of HTTP: "FETCH .*use GET, POST/,
  ],
  ['a tab after the method', 'GET\t/a HTTP/1.1\r\n\r\n', /no space follows the method/],
  [
    'a blank before the method',
    ' GET /a HTTP/1.1\r\n\r\n',
    /white space precedes the method: " GET/,
  ],
  [
    'a byte order mark',
    '\u{feff}GET /a HTTP/1.1\r\n\r\n',
    /begins with a byte order mark: the bytes ef bb bf/,
  ],
  ['a URL alone', 'http://a/b\r\n\r\n', /begins with the URL: "http:\/\/a\/b"; write the method/],
  ['a response', 'HTTP/1.0 200 OK\r\n\r\n', /begins with the version, as a response does/],
  [
    'headers without a request line',
    'Host: a\r\n\r\n',
    /begins with the header "Host"; begin with a request/,
  ],
  ['another protocol', 'SSH-2.0-client\r\n', /no request begins with "SSH-2.0-client"/],
  ['a body alone', '{"a":1}', /no request begins with "\{"a":1\}"; begin with a request line/],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /begins as HTTP\/2; send HTTP\/1.1/],
  [
    'a space before the colon',
    `${get}Host : a\r\n\r\n`,
    /white space is between the header name "Host " and its colon/,
  ],
  [
    'a blank in a header name',
    `${get}X Y: a\r\n\r\n`,
    /name of a header contains a blank: "X Y"; join/,
  ],
  ['a header without a colon', `${get}Nothing!\r\n\r\n`, /header line has no colon: "Nothing!"/],
  ['a header without a name', `${get}: b\r\n\r\n`, /header line begins with a colon/],
  [
    'an umlaut in a header name',
    `${get}X\u00fc: b\r\n\r\n`,
    /character that names do not have: "X\u00fc"/,
  ],
  ['a folded header', `${get}Accept: b\r\n c\r\n\r\n`, /header Accept continues on the next line/],
  [
    'a blank before the first header',
    `${get} A: b\r\n\r\n`,
    /first header line begins with a blank: " A"/,
  ],
  ['a NUL in a header', `${get}A: b\0c\r\n\r\n`, /value of the header "A" contains the byte 0x00/],
  [
    'a wrapped signature',
    `${get}X-SVC-Signature: abc\r\ndef==\r\n\r\n`,
    /header X-SVC-Signature is broken by a line end; the next line is "def=="; .*base64 -w0/,
  ],
  [
    'a line feed behind a signature',
    `${get}X-SVC-Signature: abc\n\r\n${host}\r\n`,
    /value of the header "X-SVC-Signature" contains a line end; remove/,
  ],
  [
    'a signature wrapped by line feeds',
    `${get}X-SVC-Signature: abc\ndef==\r\n\r\n`,
    /value of the header "X-SVC-Signature" contains a line end/,
  ],
  [
    'a carriage return in a header',
    `${get}A: b\rc\r\n\r\n`,
    /value of the header "A" contains a line end/,
  ],
  [
    'two lengths',
    `${put}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    /Content-Length was sent twice; send it once/,
  ],
  [
    'a length beside chunks',
    `${put}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`,
    /both Content-Length and Transfer-Enc/,
  ],
  [
    'chunks beside a length',
    `${put}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n`,
    /both Content-Length and Transfer-Enc/,
  ],
  [
    'a length in words',
    `${put}Content-Length: two\r\n\r\n{}`,
    /Content-Length is not a number of bytes: "two"/,
  ],
  [
    'an empty length',
    `${put}Content-Length:\r\n\r\n{}`,
    /Content-Length is not a number of bytes: ""/,
  ],
  [
    'a negative length',
    `${put}Content-Length: -1\r\n\r\n{}`,
    /Content-Length is not a number of bytes: "-1"/,
  ],
  [
    'an encoding after chunks',
    `${put}Transfer-Encoding: chunked, gzip\r\n\r\n`,
    /Transfer-Encoding is not chunked alone/,
  ],
  [
    'headers without their end',
    `${put}A: b\r\n`,
    /closed before the end of the headers; send an empty line/,
  ],
];

describe('a request that cannot be read as HTTP', () => {
  it.each(headerCauses)('returns 400 with a sentence that names %s', async (_, bytes, what) => {
    const response = await lastResponse(bytes);
    expect([response.status, response.headers.connection]).toEqual([400, 'close']);
    const { error, request_id } = JSON.parse(response.body);
    expect(error).toMatch(what);
    expect(error).not.toMatch(/HPE_|undefined|\[object/);
    expect(request_id).toBe(response.headers['x-svc-requestid']);
  });

  it('returns 400 with the first bytes in hexadecimal when it is a TLS handshake', async () => {
    const hello = Buffer.from([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]);
    expect(JSON.parse((await lastResponse(hello)).body).error).toMatch(
      /TLS handshake was sent to the port for plain HTTP; it begins with the bytes 16 03 01 .*http:\/\//,
    );
  });
});

/** Returns a request of the device with this framing header, and a body. */
describe('the responses of a connection', () => {
  it('are in the order of the requests when the last one cannot be read', async () => {
    const socket = await openConnection(server);
    const ask = `${get}${host}Authorization: Bearer ${device.token}\r\n\r\n`;
    socket.write(`${ask.repeat(20)}GET /a b HTTP/1.1\r\n\r\n`);
    const statuses = (await untilClosed(socket)).match(/(?<=HTTP\/1\.1 )\d+/g);
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => '200'), '400']);
  });

  it('are in the order of the requests when the last body cannot be read', async () => {
    const socket = await openConnection(server);
    const authorization = `Authorization: Bearer ${device.token}\r\n`;
    const ask = `${get}${host}${authorization}\r\n`;
    const type = 'Content-Type: application/json\r\n';
    socket.write(`${ask.repeat(3)}${put}${type}${authorization}${chunked}\r\nzz\r\n`);
    const statuses = (await untilClosed(socket)).match(/(?<=HTTP\/1\.1 )\d+/g);
    expect(statuses).toEqual(['200', '200', '200', '400']);
  });
});

describe('the record of input that cannot be read', () => {
  it('is in the journal and in its explanation, without a corrected request', async () => {
    const response = await lastResponse('GET /api/devices/v1/download b HTTP/1.1\r\n\r\n');
    const { error, request_id: id } = JSON.parse(response.body);
    const { entries } = await journalPage(server, 'kind=unparsable&status=400');
    expect(entries.at(-1)).toMatchObject({
      requestId: id,
      cause: 'space-in-url',
      refusal: { status: 400, error },
    });
    const { text } = await control(server, 'GET', `/explanations/${id}`);
    const explanation = JSON.parse(text);
    expect(explanation).toMatchObject({
      sentence: error,
      diagnosis: { cause: 'space-in-url', sentence: expect.stringMatching(/^The URL contains/) },
    });
    expect(explanation).not.toHaveProperty('correctedRequest');
    expect(explanation).not.toHaveProperty('command');
  });

  it.each([
    ['in the value of a header', `${get}Authorization: Bearer sesame-open\0\r\n\r\n`],
    ['in a header without a colon', `${get}Authorization sesame-open\r\n\r\n`],
    ['behind a blank before the colon', `${get}Authorization : Bearer sesame-open\r\n\r\n`],
    ['in a wrapped header', `${get}Authorization: Bearer abc\r\nsesame-open\r\n\r\n`],
    ['in a wrapped cookie', `${get}Cookie: JWT=abc\r\nsesame-open\r\n\r\n`],
    ['in a folded header', `${get}Authorization: Bearer\r\n sesame-open\r\n\r\n`],
    ['in the URL', `GET ${path}?token=sesame-open x HTTP/1.1\r\n\r\n`],
    ['in a body without a length', `${put}\r\n{"tenant_token":"sesame-open"}`],
    ['in the rest of a body', `${put}Content-Length: 18\r\n\r\n{"tenant_token":"asesame-open"}`],
    ['in a body that is not in chunks', `${put}${chunked}\r\n{"tenant_token":"sesame-open"}`],
  ])('never shows a secret %s', async (_, bytes) => {
    const response = await lastResponse(bytes);
    expect(JSON.parse(response.body).error).not.toContain('sesame');
    const { entries } = await journalPage(server, 'kind=unparsable&limit=500');
    expect(JSON.stringify(entries)).not.toContain('sesame');
  });

  it('never shows a secret that arrives in a packet of its own', async () => {
    const socket = await openConnection(server);
    socket.setNoDelay(true);
    for (const chunk of [`${get}Authorization: Bearer abc`, 'sesame-open\0def\r\n\r\n']) {
      socket.write(chunk);
      await server.call('get-configuration');
    }
    const { error } = JSON.parse(readResponse(await untilClosed(socket)).body);
    expect(error).toMatch(/contains the byte 0x00/);
    expect(error).not.toContain('sesame');
  });
});
