import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { DownloadError, StatusError } from '../network/errors.ts';
import { ClientFixture } from '../testing/client-fixture.ts';
import { type StubRequest, type StubResponse, StubServer } from '../testing/stub-server.ts';
import { downloadedBytes, REDIRECTS_MAX, RESUMPTIONS_MAX } from './download.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const pause = async (): Promise<void> => undefined;
const file = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 251));

interface Given {
  readonly responses: readonly ((request: StubRequest) => StubResponse)[];
  readonly fileMaxBytes?: number;
}

/** Downloads from a server that sends these responses in order. */
async function download({ responses, fileMaxBytes = 10_000 }: Given) {
  const left = [...responses];
  const server = await StubServer.start({
    'download-artifact': (request) => left.shift()?.(request) ?? { status: 500 },
  });
  // The link points to a different host than the API, as in the field.
  const fixture = new ClientFixture('http://127.0.0.1:9');
  closers.push(
    () => server.close(),
    () => fixture.close(),
  );
  const uri = `${server.baseUrl}/storage/artifacts/a1?x-svc-signature=abc`;
  const { transport, clock } = fixture;
  const pauses: number[] = [];
  const bytes = collected(
    downloadedBytes({
      transport,
      clock,
      caller: 'device 0',
      uri,
      fileMaxBytes,
      pause: async (_error, attempt) => void pauses.push(attempt),
    }),
  );
  return { server, fixture, bytes, pauses };
}

async function collected(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: unknown) => error,
  );
}

const whole = (): StubResponse => ({ status: 200, body: file });
const cutAt = (bytes: number) => (): StubResponse => ({
  status: 200,
  body: file,
  cutAfterBytes: bytes,
});

function partialResponse({ headers }: StubRequest): Exclude<StubResponse, string> {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]);
  const range = `bytes ${from}-${file.length - 1}/${file.length}`;
  return { status: 206, body: file.subarray(from), headers: { 'content-range': range } };
}

describe('a download', () => {
  it('returns every byte, with the query of the link and without a token', async () => {
    const { server, bytes } = await download({ responses: [whole] });
    expect((await bytes).equals(file)).toBe(true);
    const [request] = server.requestsFor('download-artifact');
    expect(request?.headers.authorization).toBeUndefined();
    expect(request?.headers.range).toBeUndefined();
    expect(request?.query.get('x-svc-signature')).toBe('abc');
  });

  it('resumes at the byte where it broke off', async () => {
    const { server, bytes } = await download({ responses: [cutAt(2000), partialResponse] });
    expect((await bytes).equals(file)).toBe(true);
    expect(server.requestsFor('download-artifact')[1]?.headers.range).toBe('bytes=2000-');
  });

  it('resumes after a pause each time that it breaks off', async () => {
    const cutAgain = (request: StubRequest): StubResponse => ({
      ...partialResponse(request),
      cutAfterBytes: 500,
    });
    const { server, bytes, pauses } = await download({
      responses: [cutAt(2000), cutAgain, cutAgain, partialResponse],
    });
    expect((await bytes).equals(file)).toBe(true);
    const ranges = server.requestsFor('download-artifact').map(({ headers }) => headers.range);
    expect(ranges).toEqual([undefined, 'bytes=2000-', 'bytes=2500-', 'bytes=3000-']);
    expect(pauses).toEqual([1, 2, 3]);
  });

  it('fails after a limited number of attempts when it breaks off repeatedly', async () => {
    const cutAgain = (request: StubRequest): StubResponse => ({
      ...partialResponse(request),
      cutAfterBytes: 100,
    });
    const { server, bytes } = await download({
      responses: [cutAt(2000), ...Array(RESUMPTIONS_MAX + 5).fill(cutAgain)],
    });
    const error = await errorOf(bytes);
    expect(error).toBeInstanceOf(DownloadError);
    expect(error).toMatchObject({ label: 'download/cut-off' });
    expect(String(error)).toContain('was cut off 11 times, the last time after 3000 bytes');
    expect(server.requestsFor('download-artifact')).toHaveLength(RESUMPTIONS_MAX + 1);
  });

  it('starts again without a range when it breaks off before its first byte', async () => {
    const { server, bytes } = await download({ responses: [() => 'cut', whole] });
    expect((await bytes).equals(file)).toBe(true);
    expect(server.requestsFor('download-artifact')[1]?.headers.range).toBeUndefined();
  });

  it('waits and retries when the server is busy', async () => {
    const busy = (): StubResponse => ({ status: 503 });
    const { bytes, pauses } = await download({
      responses: [busy, cutAt(100), busy, partialResponse],
    });
    expect((await bytes).equals(file)).toBe(true);
    expect(pauses).toEqual([1, 2, 3]);
  });

  it('fails with the last error when no byte ever arrived', async () => {
    const { server, bytes } = await download({ responses: [] });
    expect(await errorOf(bytes)).toMatchObject({ code: 'status', status: 500 });
    expect(server.requestsFor('download-artifact')).toHaveLength(RESUMPTIONS_MAX + 1);
  });

  it('follows a redirect to the file, and sends the range again', async () => {
    const redirect = () => ({ status: 307, headers: { location: '/storage/artifacts/a1?to=2' } });
    const { bytes, server } = await download({
      responses: [redirect, () => ({ status: 200, body: file })],
    });
    expect(await bytes).toEqual(file);
    expect(server.requests.map(({ query }) => query.get('to'))).toEqual([null, '2']);
  });

  it('fails at a redirect that leads to no end of redirects', async () => {
    const redirect = () => ({ status: 302, headers: { location: '/storage/artifacts/a1' } });
    const { bytes, server } = await download({ responses: Array(20).fill(redirect) });
    await expect(bytes).rejects.toThrow(StatusError);
    expect(server.requests).toHaveLength(REDIRECTS_MAX + 1);
  });

  it.each([undefined, 'http://[', 'ftp://host/file'])(
    'fails at a redirect to %j',
    async (location) => {
      const headers = location === undefined ? {} : { location };
      const { bytes } = await download({ responses: [() => ({ status: 302, headers })] });
      await expect(bytes).rejects.toThrow(StatusError);
    },
  );

  it('is complete when the connection breaks after the last byte', async () => {
    const { server, bytes } = await download({ responses: [cutAt(file.length), () => 'cut'] });
    expect((await bytes).equals(file)).toBe(true);
    expect(server.requestsFor('download-artifact')).toHaveLength(1);
  });

  it.each([
    ['a strong ETag', { etag: '"v1"', 'last-modified': 'Sat, 31 Jan 2026 12:00:00 GMT' }, '"v1"'],
    [
      'the last change where the ETag is weak',
      { etag: 'W/"v1"', 'last-modified': 'Sat, 31 Jan 2026 12:00:00 GMT' },
      'Sat, 31 Jan 2026 12:00:00 GMT',
    ],
    ['nothing where the server gives nothing', {}, undefined],
  ])('requests the rest of the same file by %s', async (_what, headers, wanted) => {
    const first = (): StubResponse => ({
      status: 200,
      body: file,
      cutAfterBytes: 2000,
      headers,
    });
    const { server, bytes } = await download({ responses: [first, partialResponse] });
    expect((await bytes).equals(file)).toBe(true);
    expect(server.requestsFor('download-artifact')[1]?.headers['if-range']).toBe(wanted);
  });

  it('skips known bytes when a server without range support sends the whole file', async () => {
    const headers = { etag: '"v1"' };
    const first = (): StubResponse => ({
      status: 200,
      body: file,
      cutAfterBytes: 2000,
      headers,
    });
    const { bytes } = await download({
      responses: [first, () => ({ status: 200, body: file, headers })],
    });
    expect((await bytes).equals(file)).toBe(true);
  });

  it.each([
    ['another ETag', { status: 200, body: Buffer.alloc(5000), headers: { etag: '"v2"' } }],
    ['no ETag', { status: 200, body: Buffer.alloc(5000) }],
    ['416, because it is shorter', { status: 416 }],
  ] as const)('never joins parts of different files: %s', async (_what, response) => {
    const headers = { etag: '"v1"' };
    const first = (): StubResponse => ({
      status: 200,
      body: file,
      cutAfterBytes: 2000,
      headers,
    });
    const { bytes } = await download({ responses: [first, () => response] });
    expect(await errorOf(bytes)).toMatchObject({ label: 'download/changed', isTransient: false });
  });

  it.each([
    ['begins elsewhere', 'bytes 1-4999/5000'],
    ['belongs to a file of another size', 'bytes 2000-5999/6000'],
    ['says nothing of its range', undefined],
    ['says nonsense of its range', 'bytes */5000'],
  ])('does not accept a partial response that %s', async (_what, range) => {
    const part = (): StubResponse => ({
      status: 206,
      body: file.subarray(2000),
      headers: range === undefined ? {} : { 'content-range': range },
    });
    const { bytes } = await download({ responses: [cutAt(2000), part] });
    expect(await errorOf(bytes)).toMatchObject({ label: 'download/range' });
  });

  it.each([403, 404, 302, 206])('fails with the status %i of its response', async (status) => {
    const { bytes } = await download({ responses: [() => ({ status })] });
    const error = await errorOf(bytes);
    expect(error).toBeInstanceOf(StatusError);
    expect(error).toMatchObject({ status, operation: 'download-artifact' });
  });

  it('never keeps more than a part of a large file in memory', async () => {
    const large = Buffer.alloc(64 * 2 ** 20, 5);
    const server = await StubServer.start({
      'download-artifact': () => ({ status: 200, body: large }),
    });
    const fixture = new ClientFixture(server.baseUrl);
    closers.push(
      () => server.close(),
      () => fixture.close(),
    );
    const { transport, clock } = fixture;
    const uri = `${server.baseUrl}/storage/artifacts/a1`;
    const link = { transport, clock, caller: 'device 0', uri, fileMaxBytes: 2 ** 30, pause };
    const atFirst = process.memoryUsage().arrayBuffers;
    let [bytes, max] = [0, 0];
    let unseen = 0;
    for await (const chunk of downloadedBytes(link)) {
      bytes += chunk.length;
      unseen += chunk.length;
      if (unseen < 8 * 2 ** 20) continue;
      unseen = 0;
      collectGarbage();
      max = Math.max(max, process.memoryUsage().arrayBuffers - atFirst);
    }
    expect(bytes).toBe(large.length);
    // The fake server makes one copy of its own.
    expect(max - large.length).toBeLessThan(large.length / 4);
  });

  it('is refused before its first byte when the stated size is too large', async () => {
    const { bytes } = await download({ responses: [whole], fileMaxBytes: 4999 });
    const error = await errorOf(bytes);
    expect(error).toMatchObject({ label: 'download/too-large', isTransient: false });
    expect(String(error)).toContain('larger than the limit of 4999 bytes');
  });

  it('is aborted when the file is too large and its size was not stated', async () => {
    const chunked = (): StubResponse => ({
      status: 200,
      body: file,
      headers: { 'transfer-encoding': 'chunked' },
    });
    const { bytes } = await download({ responses: [chunked], fileMaxBytes: 4999 });
    expect(await errorOf(bytes)).toMatchObject({ label: 'download/too-large' });
  });

  it('is abandoned at the time limit and started again when it stalls', async () => {
    const { server, fixture, bytes } = await download({ responses: [() => 'no-response', whole] });
    await server.untilAsked('download-artifact');
    fixture.clock.advance(5000);
    expect((await bytes).equals(file)).toBe(true);
    expect(fixture.metrics.operations()).toMatchObject([{ responses: { '2xx': 1 } }]);
  });

  it.each(['ftp://host/file', '/relative', 'javascript:1', 'http://', ''])(
    'does not follow the link %j',
    async (uri) => {
      const fixture = new ClientFixture('http://127.0.0.1:9');
      closers.push(() => fixture.close());
      const { transport, clock } = fixture;
      const link = { transport, clock, caller: 'device 0', uri, fileMaxBytes: 1, pause };
      expect(await errorOf(collected(downloadedBytes(link)))).toMatchObject({
        label: 'response/link',
      });
    },
  );
});
