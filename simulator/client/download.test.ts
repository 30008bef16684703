import { afterEach, describe, expect, it } from 'vitest';
import { Bench } from '../testing/bench.ts';
import { type Answer, type Asked, PretendServer } from '../testing/pretend-server.ts';
import { downloadedBytes } from './download.ts';
import { DownloadError, StatusError, TimeoutError } from './errors.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const file = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 251));

interface Given {
  readonly answers: readonly ((asked: Asked) => Answer)[];
  readonly fileMaxBytes?: number;
}

/** Downloads from a server that gives these answers one after the other. */
async function download({ answers, fileMaxBytes = 10_000 }: Given) {
  const left = [...answers];
  const server = await PretendServer.start({
    'download-artifact': (asked) => left.shift()?.(asked) ?? { status: 500 },
  });
  // The link leads to another host than the API, as it does in the field.
  const bench = new Bench('http://127.0.0.1:9');
  closers.push(
    () => server.close(),
    () => bench.close(),
  );
  const uri = `${server.baseUrl}/storage/artifacts/a1?x-svc-signature=abc`;
  const { transport, clock } = bench;
  const bytes = collected(
    downloadedBytes({ transport, clock, caller: 'device 0', uri, fileMaxBytes }),
  );
  return { server, bench, bytes };
}

async function collected(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error: unknown) => error,
  );
}

const whole = (): Answer => ({ status: 200, body: file });
const cutAt = (bytes: number) => (): Answer => ({ status: 200, body: file, cutAfterBytes: bytes });

function rest({ headers }: Asked): Exclude<Answer, string> {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]);
  const range = `bytes ${from}-${file.length - 1}/${file.length}`;
  return { status: 206, body: file.subarray(from), headers: { 'content-range': range } };
}

describe('a download', () => {
  it('brings every byte, with the query of the link and without any token', async () => {
    const { server, bytes } = await download({ answers: [whole] });
    expect((await bytes).equals(file)).toBe(true);
    const [asked] = server.askedOf('download-artifact');
    expect(asked?.headers.authorization).toBeUndefined();
    expect(asked?.headers.range).toBeUndefined();
    expect(asked?.query.get('x-svc-signature')).toBe('abc');
  });

  it('that breaks off is taken up where it broke', async () => {
    const { server, bytes } = await download({ answers: [cutAt(2000), rest] });
    expect((await bytes).equals(file)).toBe(true);
    expect(server.askedOf('download-artifact')[1]?.headers.range).toBe('bytes=2000-');
  });

  it('that breaks off twice fails and is not taken up again', async () => {
    const again = (asked: Asked): Answer => ({ ...rest(asked), cutAfterBytes: 500 });
    const { server, bytes } = await download({ answers: [cutAt(2000), again, rest] });
    const fault = await faultOf(bytes);
    expect(fault).toBeInstanceOf(DownloadError);
    expect(fault).toMatchObject({ label: 'download/cut-off' });
    expect(String(fault)).toContain('broke off twice, after 2500 bytes');
    expect(server.askedOf('download-artifact')).toHaveLength(2);
  });

  it('that breaks off before its first byte fails at once', async () => {
    const { server, bytes } = await download({ answers: [() => 'cut', whole] });
    expect(await faultOf(bytes)).toMatchObject({ code: 'transport' });
    expect(server.askedOf('download-artifact')).toHaveLength(1);
  });

  it.each([
    ['begins elsewhere', 'bytes 1-4999/5000'],
    ['belongs to a file of another size', 'bytes 2000-5999/6000'],
    ['says nothing of its range', undefined],
    ['says nonsense of its range', 'bytes */5000'],
  ])('is not put together with a part that %s', async (_what, range) => {
    const part = (): Answer => ({
      status: 206,
      body: file.subarray(2000),
      headers: range === undefined ? {} : { 'content-range': range },
    });
    const { bytes } = await download({ answers: [cutAt(2000), part] });
    expect(await faultOf(bytes)).toMatchObject({ label: 'download/range' });
  });

  it('is not begun anew in its middle by a server that knows no ranges', async () => {
    const { bytes } = await download({ answers: [cutAt(2000), whole] });
    expect(await faultOf(bytes)).toMatchObject({ code: 'status', status: 200 });
  });

  it.each([403, 404, 302, 206, 500])('answered with %i fails with that status', async (status) => {
    const { bytes } = await download({ answers: [() => ({ status })] });
    const fault = await faultOf(bytes);
    expect(fault).toBeInstanceOf(StatusError);
    expect(fault).toMatchObject({ status, operation: 'download-artifact' });
  });

  it('of a file that says that it is too large is refused before its first byte', async () => {
    const { bytes } = await download({ answers: [whole], fileMaxBytes: 4999 });
    const fault = await faultOf(bytes);
    expect(fault).toMatchObject({ label: 'download/too-large', passing: false });
    expect(String(fault)).toContain('larger than the 4999 bytes');
  });

  it('of a file that is too large and does not say so is refused on the way', async () => {
    const chunked = (): Answer => ({
      status: 200,
      body: file,
      headers: { 'transfer-encoding': 'chunked' },
    });
    const { bytes } = await download({ answers: [chunked], fileMaxBytes: 4999 });
    expect(await faultOf(bytes)).toMatchObject({ label: 'download/too-large' });
  });

  it('that stalls ends at the time limit', async () => {
    const { server, bench, bytes } = await download({ answers: [() => 'silence'] });
    const fault = faultOf(bytes);
    await server.untilAsked('download-artifact');
    bench.clock.advance(5000);
    expect(await fault).toBeInstanceOf(TimeoutError);
  });

  it.each(['ftp://host/file', '/relative', 'javascript:1', 'http://', ''])(
    'does not follow the link %j',
    async (uri) => {
      const bench = new Bench('http://127.0.0.1:9');
      closers.push(() => bench.close());
      const { transport, clock } = bench;
      const link = { transport, clock, caller: 'device 0', uri, fileMaxBytes: 1 };
      expect(await faultOf(collected(downloadedBytes(link)))).toMatchObject({
        label: 'answer/link',
      });
    },
  );
});
