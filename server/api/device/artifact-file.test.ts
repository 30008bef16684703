import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../fixtures/base/random.ts';
import { artifactBytes, fetchFile, linkTo, publish } from '../../testing/test-artifacts.ts';
import { type AcceptedDevice, acceptedDevice } from '../../testing/test-device.ts';
import { startOfTest, startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let device: AcceptedDevice;
let bytes: Buffer;
let uri: string;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'file-reader');
  const content = seededRandom('content').bytes(200_000);
  bytes = await artifactBytes({ files: [{ name: 'app.bin', content }] });
  uri = (await linkTo(server, device.token, await publish(server, bytes))).uri;
});

afterAll(() => server.close());

function fetchWith(headers: Record<string, string>) {
  return fetchFile(uri, { headers });
}

/** Returns the upload time as an HTTP date, shifted by the given seconds. */
function httpDate(bySeconds: number): string {
  return new Date(startOfTest + bySeconds * 1000).toUTCString();
}

describe('the download of a whole artifact file', () => {
  it('has headers for length, type, time and file name', async () => {
    const { status, headers, bytes: got } = await fetchWith({});
    expect([status, got.equals(bytes)]).toEqual([200, true]);
    expect(headers).toMatchObject({
      'content-length': String(bytes.length),
      'content-type': 'application/vnd.mender-artifact',
      'content-disposition': 'attachment; filename="release-1.mender"',
      'last-modified': httpDate(0),
      'accept-ranges': 'bytes',
      'x-svc-requestid': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('returns the request ID that the caller sent', async () => {
    const { headers } = await fetchWith({ 'X-SVC-RequestID': 'mine-1' });
    expect(headers['x-svc-requestid']).toBe('mine-1');
  });
});

describe('a range request for an artifact file', () => {
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-4095', 0, 4096],
    ['bytes=100000-100999', 100_000, 101_000],
    ['bytes=4096-', 4096, Number.POSITIVE_INFINITY],
    ['bytes=150000-999999999', 150_000, Number.POSITIVE_INFINITY],
    ['bytes=-100', -100, Number.POSITIVE_INFINITY],
    ['bytes=-999999999', 0, Number.POSITIVE_INFINITY],
  ])('returns 206, the requested bytes and the total size for %s', async (Range, from, to) => {
    const { status, headers, bytes: got } = await fetchWith({ Range });
    const first = from < 0 ? bytes.length + from : from;
    const end = Math.min(to, bytes.length);
    expect([status, got.equals(bytes.subarray(first, end))]).toEqual([206, true]);
    expect(headers['content-range']).toBe(`bytes ${first}-${end - 1}/${bytes.length}`);
    expect(headers['content-length']).toBe(String(end - first));
  });

  it('resumes an interrupted download part by part', async () => {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 50_000) {
      parts.push((await fetchWith({ Range: `bytes=${at}-${at + 49_999}` })).bytes);
    }
    expect(parts.length).toBeGreaterThan(4);
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });

  it.each(['bytes=999999999-', 'bytes=1000000-1000001'])(
    'returns 416 for the range %s past the end of the file',
    async (Range) => {
      const { status, headers, bytes: body } = await fetchWith({ Range });
      expect([status, JSON.parse(`${body}`)]).toEqual([
        416,
        { error: expect.stringContaining('Range'), request_id: headers['x-svc-requestid'] },
      ]);
      expect(headers['content-range']).toBe(`bytes */${bytes.length}`);
      expect(headers['content-type']).toMatch(/^application\/json/);
    },
  );

  it.each(['bytes=b-c', 'bytes=5', 'lines=0-1', 'bytes', 'bytes=0-1,5-6'])(
    'ignores the unsupported range %s: 200 and the whole file',
    async (Range) => {
      const { status, headers, bytes: got } = await fetchWith({ Range });
      expect([status, got.equals(bytes)]).toEqual([200, true]);
      expect('content-range' in headers).toBe(false);
    },
  );

  it('returns 206 if If-Range matches, otherwise 200 with the whole file', async () => {
    const etag = `${(await fetchWith({})).headers.etag}`;
    const Range = 'bytes=10-19';
    const outcomes: [number, number][] = [];
    for (const validator of [etag, '"another"', httpDate(0), httpDate(-1)]) {
      const { status, bytes: got } = await fetchWith({ Range, 'If-Range': validator });
      outcomes.push([status, got.length]);
    }
    const whole = [200, bytes.length];
    expect(outcomes).toEqual([[206, 10], whole, [206, 10], whole]);
  });
});

describe('a conditional download of an artifact file', () => {
  it.each([0, 1, 86_400])(
    'returns 304 if If-Modified-Since is %d s after the upload',
    async (secondsAfter) => {
      const {
        status,
        headers,
        bytes: body,
      } = await fetchWith({ 'If-Modified-Since': httpDate(secondsAfter) });
      expect([status, body.length]).toEqual([304, 0]);
      expect(headers['x-svc-requestid']).toMatch(/./);
    },
  );

  it.each(['before', 'no date', ''])('returns 200 if If-Modified-Since is %j', async (given) => {
    const since = given === 'before' ? httpDate(-1) : given;
    expect((await fetchWith({ 'If-Modified-Since': since })).status).toBe(200);
  });

  it.each([0, 1, 86_400])(
    'returns 200 if If-Unmodified-Since is %d s after the upload',
    async (secondsAfter) => {
      expect((await fetchWith({ 'If-Unmodified-Since': httpDate(secondsAfter) })).status).toBe(200);
    },
  );

  it.each(['0', '2015-01-01', ''])(
    'returns 200 if If-Unmodified-Since is %j, which is not an HTTP date',
    async (given) => {
      expect((await fetchWith({ 'If-Unmodified-Since': given })).status).toBe(200);
    },
  );

  it.each([-1, -86_400])(
    'returns 412 if If-Unmodified-Since is %d s before the upload',
    async (secondsBefore) => {
      const given = { 'If-Unmodified-Since': httpDate(secondsBefore), Range: 'bytes=0-9' };
      const { status, headers, bytes: body } = await fetchWith(given);
      expect([status, JSON.parse(`${body}`)]).toEqual([
        412,
        { error: expect.stringContaining('precondition'), request_id: expect.any(String) },
      ]);
      expect(headers['content-length']).toBe(String(body.length));
    },
  );

  it('compares with the time of the upload, not of the link', async () => {
    server.clock.advance(3_600_000);
    const link = await linkTo(server, device.token, uri.split('/').at(-1)?.split('?')[0] ?? '');
    const headers = { 'If-Modified-Since': httpDate(1) };
    expect((await fetchFile(link.uri, { headers })).status).toBe(304);
  });
});

describe('the file name in the Content-Disposition header', () => {
  it.each([
    ['release 1.0+b2 (final)', 'filename="release 1.0+b2 (final).mender"'],
    ['a"b\\c', 'filename="a_b_c.mender"; filename*=UTF-8\'\'a%22b%5Cc.mender'],
    ['größe/ü', 'filename="gr__e__.mender"; filename*=UTF-8\'\'gr%C3%B6%C3%9Fe%2F%C3%BC.mender'],
    [
      '../../etc/passwd',
      'filename=".._.._etc_passwd.mender"; filename*=UTF-8\'\'..%2F..%2Fetc%2Fpasswd.mender',
    ],
    [
      'a\r\nSet-Cookie: b',
      'filename="a__Set-Cookie_ b.mender"; filename*=UTF-8\'\'a%0D%0ASet-Cookie%3A%20b.mender',
    ],
    ["it's*", 'filename="it_s_.mender"; filename*=UTF-8\'\'it%27s%2A.mender'],
  ])('is escaped without loss for the artifact name %j', async (name, expected) => {
    const { uri: named } = await linkTo(server, device.token, await publish(server, { name }));
    const { status, headers } = await fetchFile(named);
    expect([status, headers['content-disposition']]).toEqual([200, `attachment; ${expected}`]);
  });

  it('is harmless for an artifact name with half a surrogate pair', async () => {
    const { uri: named } = await linkTo(
      server,
      device.token,
      await publish(server, { name: 'a\ud83d' }),
    );
    expect((await fetchFile(named)).status).toBe(200);
  });
});

describe('a refused download of an artifact file', () => {
  it.each([
    ['416', { Range: 'bytes=999999999-' }],
    ['412', { 'If-Unmodified-Since': httpDate(-1) }],
  ])('has no attachment headers when the status is %s', async (status, given) => {
    const { status: got, headers } = await fetchWith(given as Record<string, string>);
    expect(String(got)).toBe(status);
    for (const name of ['content-disposition', 'etag', 'last-modified', 'accept-ranges']) {
      expect([name, headers[name]]).toEqual([name, undefined]);
    }
  });
});
