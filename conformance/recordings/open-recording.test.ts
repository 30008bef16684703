import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRecording } from './open-recording.ts';
import { type RecordedExchange, RecordingError } from './recording.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-recording-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

async function read(file: string, limits?: Parameters<typeof openRecording>[1]) {
  const { format, exchanges } = await openRecording(file, limits);
  const all: RecordedExchange[] = [];
  for await (const exchange of exchanges) all.push(exchange);
  return { format, all };
}

/** Returns the message of the expected fault, without the path of the folder. */
async function problemOf(file: string, limits?: Parameters<typeof openRecording>[1]) {
  const problem = await read(file, limits).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(problem instanceof RecordingError)) throw new Error('no fault of the recording');
  return { sentence: problem.message.replaceAll(`${folder}/`, '') };
}

const entry = {
  startedDateTime: '2026-10-02T10:00:00.500+02:00',
  time: 3,
  request: { method: 'GET', url: 'https://gw.example/base/api/x?y=1#z', headers: [] },
  response: { status: 200, content: { size: 2, mimeType: 'application/json', text: '[]' } },
};
const har = (...entries: readonly unknown[]) =>
  JSON.stringify({ log: { version: '1.2', entries } });
const line = {
  at: '2026-10-02T08:00:00Z',
  method: 'get',
  url: 'https://gw.example/a?b',
  status: 204,
};
const journal = (...lines: readonly unknown[]) =>
  lines.map((each) => JSON.stringify(each)).join('\n');

describe('a HAR file', () => {
  it('is read with the time, method, path, status and bodies of each entry', async () => {
    const { format, all } = await read(fileOf('a.har', har(entry)));
    expect(format).toBe('har');
    const atMs = Date.UTC(2026, 9, 2, 8, 0, 0, 500);
    expect(all).toMatchObject([{ atMs, method: 'GET', pathname: '/base/api/x', status: 200 }]);
    expect(all[0]?.responseBody()).toBe('[]');
    expect(all[0]?.requestBody()).toBeUndefined();
  });

  it('is recognised by its content, even after a byte order mark and white space', async () => {
    const file = fileOf('traffic.json', `\ufeff\n  {\n  "log" : ${har(entry).slice(7)}`);
    expect(await read(file)).toMatchObject({ format: 'har', all: [{ status: 200 }] });
  });

  it('may contain base64 responses, and form bodies as fields or as text', async () => {
    const content = { text: Buffer.from('{"ü":1}').toString('base64'), encoding: 'base64' };
    const params = [
      { name: 'size', value: '7' },
      { name: 'artifact', fileName: 'a.mender' },
    ];
    const post = { mimeType: 'multipart/form-data', params, text: '' };
    const entries = [
      {
        ...entry,
        request: { ...entry.request, postData: post },
        response: { status: 200, content },
      },
      {
        ...entry,
        request: { ...entry.request, postData: { mimeType: 'x', params: [], text: 'y' } },
      },
    ];
    const { all } = await read(fileOf('bodies.har', har(...entries)));
    expect(all[0]?.responseBody()).toBe('{"ü":1}');
    expect(all[0]?.requestBody()).toEqual({ size: '7', artifact: '' });
    expect(all[1]?.requestBody()).toBe('y');
  });

  it('may contain data URLs and requests that failed', async () => {
    const data = {
      ...entry,
      request: { method: 'GET', url: 'data:text/plain,/api/management/v1/x' },
    };
    const { all } = await read(
      fileOf('page.har', har(data, { ...entry, response: { status: 0 } })),
    );
    expect(all.map(({ pathname, status }) => [pathname, status])).toEqual([
      ['', 200],
      ['/base/api/x', 0],
    ]);
    expect(all[1]?.responseBody()).toBeUndefined();
  });

  it.each<[string, string, string]>([
    ['nothing', '', 'is cut off or not JSON: '],
    ['no JSON', '<html>', 'is cut off or not JSON: '],
    ['half an archive', har(entry).slice(0, -20), 'is cut off or not JSON: '],
    ['a list', '[]', 'is not a HAR 1.2 archive: it has no array log.entries.'],
    ['no log', '{"entries":[]}', 'is not a HAR 1.2 archive: it has no array log.entries.'],
    ['entries that are not an array', '{"log":{"entries":{}}}', 'it has no array log.entries.'],
  ])('is refused in one sentence for %s', async (_, content, sentence) => {
    const problem = await problemOf(fileOf('bad.har', content));
    expect(problem.sentence).toMatch(/^bad\.har: is [^\n]+\.$/);
    expect(problem.sentence).toContain(sentence);
  });

  it.each<[string, unknown, string]>([
    ['null', null, 'is not a JSON object.'],
    [
      'no time',
      { ...entry, startedDateTime: undefined },
      'startedDateTime must be a time such as 2026-01-31T12:00:00Z, missing.',
    ],
    [
      'a wrong time',
      { ...entry, startedDateTime: 'yesterday' },
      'startedDateTime must be a time such as 2026-01-31T12:00:00Z, not "yesterday".',
    ],
    ['no request', { ...entry, request: 'GET /' }, 'request must be an object, not "GET /".'],
    ['no response', { ...entry, response: null }, 'response must be an object, not null.'],
    [
      'no method',
      { ...entry, request: { url: 'https://h/' } },
      'request.method must be a string, missing.',
    ],
    [
      'a path for a URL',
      { ...entry, request: { method: 'GET', url: '/api' } },
      'request.url must be an absolute URL, not "/api".',
    ],
    [
      'a wrong status',
      { ...entry, response: { status: '200' } },
      'response.status must be an integer, not "200".',
    ],
  ])('is refused with the number of the entry for %s', async (_, wrong, sentence) => {
    const problem = await problemOf(fileOf('bad.har', har(entry, wrong)));
    expect(problem).toEqual({ sentence: `bad.har, entry 2: ${sentence}` });
  });

  it('is refused when it is larger than the limit', async () => {
    const content = har(entry);
    const file = fileOf('large.har', content);
    const limits = { harMaxBytes: content.length, lineMaxCharacters: 10 };
    expect((await read(file, limits)).all).toHaveLength(1);
    const problem = await problemOf(file, { ...limits, harMaxBytes: content.length - 1 });
    expect(problem.sentence).toMatch(/^large\.har: is larger than .* MiB; save it in parts/);
  });
});

describe('a journal file', () => {
  it('is read line by line, with a URL or a path in each', async () => {
    const { url: _, ...location } = line;
    const bodies = { requestBody: { a: 1 }, responseBody: 'text', extra: true };
    const byPath = { ...location, path: '/base/api/x?y=/z#', status: 0, ...bodies };
    const { format, all } = await read(fileOf('a.ndjson', `${journal(line, byPath)}\n\n`));
    expect(format).toBe('journal');
    expect(all).toMatchObject([
      { atMs: Date.UTC(2026, 9, 2, 8), method: 'GET', pathname: '/a', status: 204 },
      { pathname: '/base/api/x', status: 0 },
    ]);
    expect(all[0]?.requestBody()).toBeUndefined();
    expect(all[1]?.requestBody()).toEqual({ a: 1 });
    expect(all[1]?.responseBody()).toBe('text');
  });

  it('may have any line ends, no final line end, and very long lines', async () => {
    const long = { ...line, responseBody: 'ü'.repeat(200_000) };
    const text = `${JSON.stringify(line)}\r\n${JSON.stringify(long)}\n${JSON.stringify(line)}`;
    const { all } = await read(fileOf('long.ndjson', text));
    expect(all.map((each) => String(each.responseBody() ?? '').length)).toEqual([0, 200_000, 0]);
  });

  it('contains no exchange if it has no lines', async () => {
    expect(await read(fileOf('empty.ndjson', ''))).toEqual({ format: 'journal', all: [] });
  });

  it.each<[string, string, string]>([
    [
      'no JSON',
      'GET /api 200',
      'is not a JSON object; a journal has one on each line, a HAR file starts with {"log":.',
    ],
    [
      'a list',
      '[]',
      'is not a JSON object; a journal has one on each line, a HAR file starts with {"log":.',
    ],
    [
      'a line that breaks off',
      JSON.stringify(line).slice(0, 30),
      'is not a JSON object; a journal has one on each line, a HAR file starts with {"log":.',
    ],
    [
      'no time',
      journal({ ...line, at: 1_760_000_000 }),
      '"at" must be a time such as 2026-01-31T12:00:00Z, not 1760000000.',
    ],
    [
      'a day that is none',
      journal({ ...line, at: '2026-02-30T00:00:00Z' }),
      '"at" must be a time such as 2026-01-31T12:00:00Z, not "2026-02-30T00:00:00Z".',
    ],
    ['no method', journal({ ...line, method: '' }), '"method" must be a string, not "".'],
    ['no status', journal({ ...line, status: undefined }), '"status" must be an integer, missing.'],
    [
      'half a status',
      journal({ ...line, status: 200.5 }),
      '"status" must be an integer, not 200.5.',
    ],
    [
      'no place',
      journal({ ...line, url: undefined }),
      'needs "url" as an absolute URL, or "path" starting with a slash.',
    ],
    [
      'a wrong url',
      journal({ ...line, url: '/api' }),
      'needs "url" as an absolute URL, or "path" starting with a slash.',
    ],
    [
      'a wrong path',
      journal({ ...line, url: undefined, path: 'api' }),
      'needs "url" as an absolute URL, or "path" starting with a slash.',
    ],
  ])('is refused with the number of the line for %s', async (_, wrong, sentence) => {
    const problem = await problemOf(fileOf('bad.ndjson', `${JSON.stringify(line)}\n\n${wrong}\n`));
    expect(problem).toEqual({ sentence: `bad.ndjson, line 3: ${sentence}` });
  });

  it('cannot flood or control the terminal through the error message', async () => {
    const at = `\u202e\u001b[2J${'x'.repeat(10_000)}`;
    const { sentence } = await problemOf(fileOf('bad.ndjson', journal({ ...line, at })));
    expect(sentence.length).toBeLessThan(200);
    expect(sentence).toMatch(/not "\\u\{202e\}\\u001b\[2Jx+….$/);
  });

  it('is refused when a line is longer than the limit', async () => {
    const limits = { harMaxBytes: 10, lineMaxCharacters: 300 };
    const validLine = JSON.stringify({ ...line, responseBody: 'x'.repeat(100) });
    expect(
      (await read(fileOf('b.ndjson', `${validLine}\n${validLine}\n${validLine}`), limits)).all,
    ).toHaveLength(3);
    const bad = `${validLine}\n${JSON.stringify({ ...line, responseBody: 'x'.repeat(400) })}`;
    expect(await problemOf(fileOf('b.ndjson', bad), limits)).toEqual({
      sentence: 'b.ndjson, line 2: is longer than 300 characters; leave out large bodies.',
    });
  });
});

describe('a recording file', () => {
  it.each([['that is missing', 'missing.har', 'ENOENT']])(
    "is refused with the system's error code: one %s",
    async (_, name, code) => {
      await expect(read(join(folder, name))).rejects.toMatchObject({ code });
    },
  );

  it('is refused before it is opened if it is a folder', async () => {
    await expect(read(folder)).rejects.toThrow(/^it is a folder$/);
  });

  it('is refused if it is not UTF-8', async () => {
    const utf16 = Buffer.from(`\ufeff${har(entry)}`, 'utf16le');
    for (const name of ['utf16.har', 'utf16.ndjson']) {
      const { sentence } = await problemOf(fileOf(name, utf16));
      expect(sentence).toBe(`${name}: is not UTF-8 text.`);
    }
    const cut = Buffer.concat([Buffer.from(journal(line)), Buffer.from([0xc3])]);
    expect((await problemOf(fileOf('cut.ndjson', cut))).sentence).toBe(
      'cut.ndjson: is not UTF-8 text.',
    );
  });
});
