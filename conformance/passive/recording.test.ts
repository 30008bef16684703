import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { RecordingError } from '../recordings/recording.ts';
import { judgeRecording, type RecordingJudgement } from './recording.ts';
import { recordingText } from './recording-text.ts';

const server = 'https://devices.example/gateway';
const paths = {
  auth: operations['post-auth-request'].path,
  next: operations['post-next-deployment-v2'].path,
  attributes: operations['put-attributes'].path,
  configuration: operations['get-configuration'].path,
  status: operations['put-deployment-status'].path.replace('{id}', 'd-1'),
};
const link = 'https://files.example/1?x-svc-signature=c2lnbmVk';
const instructions = {
  id: 'd-1',
  artifact: {
    artifact_name: 'two',
    source: { uri: link, expire: '2026-02-01T12:00:00Z' },
    device_types_compatible: ['board'],
  },
};
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = `${part({ alg: 'none' })}.${part({ iat: 0, exp: 604_800 })}.c2ln`;

let folder: string;
let seconds = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-judged-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

function startedAt(): string {
  seconds += 1;
  return new Date(Date.UTC(2026, 0, 31, 12, 0, seconds)).toISOString();
}

interface Made {
  readonly method?: string;
  readonly url?: string;
  readonly status?: number;
  readonly sent?: unknown;
  readonly headers?: readonly (readonly [string, string])[];
  readonly responseHeaders?: readonly (readonly [string, string])[];
  /** The member `content` of the recorded response. */
  readonly content?: unknown;
}

const pairs = (list: Made['headers'] = []) => list.map(([name, value]) => ({ name, value }));
const bearer = (text: string) => [['authorization', `Bearer ${text}`]] as const;
const json = (value: unknown) => {
  const text = JSON.stringify(value);
  return { size: text.length, mimeType: 'application/json', text };
};

/** Returns a HAR entry with the members that every recorder writes. */
function entry(path: string, made: Made = {}) {
  const { method = 'PUT', url = server + path, status = 200, sent, content } = made;
  return {
    startedDateTime: startedAt(),
    time: 5,
    request: {
      method,
      url,
      headers: pairs(made.headers ?? bearer('a.b.c')),
      ...(sent !== undefined && { postData: { mimeType: '', text: JSON.stringify(sent) } }),
    },
    response: {
      status,
      headers: pairs(made.responseHeaders),
      ...('content' in made ? { content } : { content: { size: 0, mimeType: '' } }),
    },
  };
}

const har = (...entries: readonly unknown[]) =>
  JSON.stringify({ log: { version: '1.2', creator: { name: 'a proxy' }, entries } });

function judge(name: string, content: string, plan: { url?: string; bytesMax?: number } = {}) {
  return judgeRecording(fileOf(name, content), { headerPrefix: 'X-SVC', ...plan });
}

function violatedBy({ requirements }: RecordingJudgement): readonly string[] {
  return requirements.flatMap(({ requirement, violated }) => (violated > 0 ? requirement : []));
}

function reasonsOf({ leftOut }: RecordingJudgement): Readonly<Record<string, number>> {
  return Object.fromEntries(leftOut.map(({ reason, entries }) => [reason, entries]));
}

const authRequest = () =>
  entry(paths.auth, {
    method: 'POST',
    headers: [['X-SVC-Signature', 'c2ln']],
    sent: { id_data: '{"mac":"1"}', pubkey: 'key' },
    content: { size: token.length, mimeType: 'application/jwt', text: token },
  });
const polls = (content: unknown, status = 200, bearerToken = token) =>
  entry(paths.next, {
    method: 'POST',
    status,
    content,
    headers: bearer(bearerToken),
    sent: { device_provides: { device_type: 'board' } },
  });
const reports = (status: string, answered = 204) =>
  entry(paths.status, { status: answered, sent: { status }, headers: bearer(token) });

describe('the recording of a good server', () => {
  it('shows no violation when a proxy has recorded everything', async () => {
    const found = await judge(
      'proxy.har',
      har(
        authRequest(),
        polls(json(instructions)),
        entry('', { method: 'GET', url: link, headers: [], content: undefined }),
        reports('installing'),
        reports('success'),
        polls({ size: 0, mimeType: '' }, 204),
      ),
    );
    expect(violatedBy(found)).toEqual([]);
    expect(found).toMatchObject({ outcome: 'pass', server, entries: 6, judged: 6, devices: 1 });
    expect(found.alone).toBe(0);
    const judged = found.requirements.flatMap((row) => (row.judged > 0 ? row.requirement : []));
    expect(judged).toEqual(
      expect.arrayContaining([
        ...['auth.token-is-a-jwt', 'tokens.device-token-opens', 'next.finished-is-over'],
        ...['next.source-gives-the-artifact', 'status.is-204'],
      ]),
    );
  });

  it('may contain compressed responses that the recorder decoded, also as base64', async () => {
    const { text } = json({ key: 'value' });
    const content = { size: text.length, text: Buffer.from(text).toString('base64') };
    const found = await judge(
      'chrome.har',
      har(
        entry(paths.configuration, {
          method: 'GET',
          responseHeaders: [['Content-Encoding', 'br']],
          content: { ...content, encoding: 'base64' },
        }),
      ),
    );
    expect(found).toMatchObject({ outcome: 'pass', judged: 1 });
    expect(found.requirements).toContainEqual(
      expect.objectContaining({
        requirement: 'configuration.read-strings',
        judged: 1,
        violated: 0,
      }),
    );
  });

  it('is judged in the order in which the exchanges ended', async () => {
    const [successReport, idlePoll] = [reports('success'), polls({ size: 0 }, 204)];
    const found = await judge(
      'turned.har',
      har(idlePoll, successReport, authRequest(), polls(json(instructions))),
    );
    expect(found.outcome).toBe('pass');
  });
});

describe('a violation in a judged recording', () => {
  it('is reported with the entry, the expected and the actual behaviour, and no secrets', async () => {
    const entries = [authRequest(), polls(json(instructions)), reports('success')];
    const found = await judge('again.har', har(...entries, polls(json(instructions))));
    expect(violatedBy(found)).toEqual(['next.finished-is-over']);
    expect(found.outcome).toBe('fail');
    const text = recordingText(found);
    expect(text).toContain('fail: 1 of ');
    expect(text).toContain('first: entry 4, 2026-01-31T12:00:');
    expect(text).toContain('expected deployment d-1 to not be offered any more, since its end was');
    expect(JSON.stringify(found)).not.toContain(token);
    expect(JSON.stringify(found)).not.toContain('c2lnbmVk');
  });

  it('is found without device tokens when one entry suffices', async () => {
    const found = await judge(
      'bare.har',
      har(entry(paths.attributes, { status: 204, headers: [] })),
    );
    expect(violatedBy(found)).toEqual(['inventory.put-is-200']);
    expect(found).toMatchObject({ judged: 1, alone: 1, devices: 0 });
  });

  it.each([
    ['lines', (entries: readonly unknown[]) => entries.map((e) => JSON.stringify(e)).join('\n')],
    ['a list', (entries: readonly unknown[]) => `\n ${JSON.stringify(entries)}`],
  ])('is found in a journal written as %s, which tells devices apart', async (_, written) => {
    const at = { device: { id: 'one' }, tookMs: 2 };
    const call = { ...at, kind: 'exchange', method: 'PUT', path: paths.attributes };
    const found = await judge(
      'journal.ndjson',
      written([
        { ...call, at: startedAt(), status: 200, responseBytes: 0 },
        { kind: 'frame', at: startedAt() },
        { ...call, at: startedAt(), status: 204, responseHeaders: [['X-A', '1']] },
      ]),
    );
    expect(violatedBy(found)).toEqual(['inventory.put-is-200']);
    expect(found).toMatchObject({ format: 'journal', entries: 3, judged: 2, devices: 1, alone: 0 });
    expect(reasonsOf(found)).toEqual({ 'no-exchange': 1 });
  });
});

describe('a judged recording shows no violation', () => {
  it('when masked tokens hide which device has finished a deployment', async () => {
    for (const hidden of ['[masked]', '***', 'REDACTED']) {
      const entries = [polls(json(instructions)), reports('success'), polls(json(instructions))];
      const text = har(...entries).replaceAll(token, hidden);
      expect(await judge('masked.har', text), hidden).toMatchObject({ outcome: 'pass', alone: 3 });
    }
  });

  it('when the token in a response was masked', async () => {
    const [masked] = [authRequest()];
    const text = har(masked).replaceAll(token, '[masked]');
    const found = await judge('masked-token.har', text);
    expect(found.outcome).toBe('inconclusive');
    expect(reasonsOf(found)).toEqual({ 'no-body': 1 });
  });

  it('when the signature of a link was masked', async () => {
    const text = har(
      authRequest(),
      polls(json(instructions)),
      entry('', { method: 'GET', url: link, status: 403, headers: [] }),
    ).replaceAll('c2lnbmVk', '[masked]');
    const found = await judge('masked-link.har', text);
    expect(violatedBy(found)).toEqual([]);
    expect(reasonsOf(found)).toEqual({ 'other-server': 1 });
  });

  it.each<[string, Made]>([
    ['left out', { content: undefined }],
    ['left out, though it had a size', { content: { size: 20, mimeType: 'application/json' } }],
    ['cut', { content: { size: 900, text: '{"a":"b', comment: 'cut after 7 bytes' } }],
    ['shorter than it was', { content: { size: 900, text: '{"a":"b' } }],
    [
      'empty, though its length was sent',
      { content: { size: 0, text: '' }, responseHeaders: [['Content-Length', '20']] },
    ],
    [
      'empty, though it was sent in pieces',
      { content: { size: 0 }, responseHeaders: [['Transfer-Encoding', 'chunked']] },
    ],
  ])('when a response body was %s', async (_, made) => {
    const found = await judge(
      'no-body.har',
      har(entry(paths.configuration, { method: 'GET', ...made })),
    );
    expect(violatedBy(found)).toEqual([]);
    expect([found.outcome, reasonsOf(found)]).toEqual(['inconclusive', { 'no-body': 1 }]);
  });

  it('when a journal string may be a JSON string or malformed JSON', async () => {
    const call = { at: startedAt(), method: 'GET', path: paths.configuration, status: 200 };
    const type = [['Content-Type', 'application/json']];
    const line = { ...call, responseHeaders: type, responseBody: 'a string' };
    const found = await judge('text.ndjson', JSON.stringify(line));
    expect([found.outcome, reasonsOf(found)]).toEqual(['inconclusive', { 'no-body': 1 }]);
  });
});

describe('recorded entries that cannot be judged', () => {
  it.each<[keyof ReturnType<typeof reasonsOf> & string, Made, string?]>([
    ['other-server', { url: 'https://cdn.example/app.js', method: 'GET' }],
    ['other-server', { url: 'https://devices.example/gatewayx/api/devices/v1/x' }],
    ['no-operation', { url: `${server}/favicon.ico`, method: 'GET' }],
    ['no-operation', { url: `${server}${paths.attributes}`, method: 'DELETE' }],
    ['management', { url: `${server}/api/management/v1/inventory/groups`, method: 'GET' }],
    [
      'unchecked-operation',
      { url: `${server}${operations['list-artifacts'].path}`, method: 'GET' },
    ],
    ['no-response', { url: `${server}${paths.attributes}`, status: 0 }],
    [
      'planned-fault',
      { url: `${server}${paths.attributes}`, responseHeaders: [['X-SVC-Testbed-Fault', 'one']] },
    ],
    ['inconclusive', { url: `${server}${paths.attributes}`, status: 503 }],
  ])('are counted with the reason %s', async (reason, made) => {
    const found = await judge('left.har', har(entry(paths.attributes), entry('', made)));
    expect(reasonsOf(found)).toEqual({ [reason]: 1 });
    expect(found).toMatchObject({ outcome: 'pass', entries: 2, judged: 1 });
    expect(found.leftOut[0]?.first).toEqual(['entry 2']);
    expect(recordingText(found)).toContain('Not judged: 1 entry\n  1 ');
  });

  it('are all counted, and the first five are listed', async () => {
    const foreignEntries = Array.from({ length: 7 }, () =>
      entry('', { url: 'https://cdn.example/a' }),
    );
    const found = await judge('many.har', har(...foreignEntries, entry(paths.attributes)));
    expect(recordingText(found)).toContain(
      '7 of other servers: entry 1, entry 2, entry 3, entry 4, entry 5 and 2 more',
    );
  });

  it.each([
    ['an empty archive', har()],
    ['an empty file', ''],
    ['traffic of something else', har(entry('', { url: 'https://cdn.example/a' }))],
    ['a user of the management API', har(entry('/api/management/v1/inventory/groups'))],
  ])('leave every requirement inconclusive in %s', async (_, content) => {
    const found = await judge('nothing', content);
    expect(found.outcome).toBe('inconclusive');
    expect(recordingText(found)).toMatch(
      /^inconclusive: nothing was tested: no entry can be judged by a requirement/,
    );
  });
});

describe('a recording with calls to several servers', () => {
  const both = () =>
    har(
      entry(paths.attributes, { url: `http://one.example${paths.attributes}` }),
      entry(paths.attributes, { url: `http://two.example:80${paths.attributes}`, status: 204 }),
    );

  it('is refused when no server is named', async () => {
    const refused = await judge('two.har', both()).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RecordingError);
    expect(String(refused)).toContain(
      'two.har: has calls of this API to 2 servers, http://one.example (1), http://two.example (1); choose one with --url.',
    );
  });

  it('is judged for the named server, however the URL is spelled', async () => {
    const found = await judge('two.har', both(), { url: 'http://TWO.example:80' });
    expect(violatedBy(found)).toEqual(['inventory.put-is-200']);
    expect(reasonsOf(found)).toEqual({ 'other-server': 1 });
  });
});

describe('a recording file', () => {
  const without = (member: string) => {
    const { [member]: _, ...rest } = entry(paths.attributes) as Record<string, unknown>;
    return rest;
  };
  it.each<[string, string, string | RegExp]>([
    ['cut.har', har(entry(paths.attributes)).slice(0, -9), 'cut.har: is cut off or not JSON'],
    ['page.har', '<html>', 'page.har: is cut off or not JSON'],
    ['no-log.har', '{"entries":[]}', 'is not a HAR 1.2 archive: it has no array log.entries.'],
    ['a.har', har(without('request')), 'a.har, entry 1: request must be an object, missing.'],
    ['b.har', har(without('response')), 'b.har, entry 1: response must be an object, missing.'],
    ['c.har', har(without('startedDateTime')), 'entry 1: startedDateTime must be a time such as'],
    ['d.har', har(entry(paths.attributes), 7), 'd.har, entry 2: is not a JSON object.'],
    ['e.har', har(entry('', { url: '/path' })), 'entry 1: request.url must be an absolute URL'],
    ['f.har', har(entry('', { method: '' })), 'entry 1: request.method must be a string'],
    ['g.ndjson', 'no JSON', 'g.ndjson, line 1: is not a JSON object; a journal has one on each'],
    ['h.ndjson', '{"at":"now"}', 'h.ndjson, line 1: "at" must be a time such as'],
    ['i.json', '[{"kind":"frame"},3]', 'i.json, entry 2: is not a JSON object'],
    ['j.json', '[{"kind":"frame"}', 'j.json: is cut off or not JSON.'],
  ])('is refused in one sentence when it is malformed: %s', async (name, content, sentence) => {
    const refused = await judge(name, content).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RecordingError);
    expect(String(refused)).toContain(sentence);
    expect(String(refused)).not.toContain('\n');
  });

  it.each([
    ['large.har', har(entry(paths.attributes))],
    ['large.ndjson', '{"kind":"frame"}\n'.repeat(20)],
    ['large.json', `[${'{"kind":"frame"},'.repeat(20)}{}]`],
  ])('is refused when it is too large: %s', async (name, content) => {
    const refused = await judge(name, content, { bytesMax: 256 }).catch((error: unknown) => error);
    expect(String(refused)).toContain('MiB; save it in parts, or without the bodies of pages.');
  });

  it('is judged despite optional members of the wrong type', async () => {
    const odd = entry(paths.attributes) as ReturnType<typeof entry> & Record<string, unknown>;
    const request = { ...odd.request, headers: 'none', postData: [], cookies: 7 };
    const response = { ...odd.response, headers: [7, { name: 1 }, { name: 'a', value: 'b' }] };
    const found = await judge('odd.har', har({ ...odd, time: -1, request, response }));
    expect(found).toMatchObject({ outcome: 'pass', judged: 1, alone: 1 });
  });

  it('is judged despite paths that cannot be decoded', async () => {
    const path = operations['put-deployment-status'].path.replace('{id}', '%E0%A4%A');
    const found = await judge(
      'path.har',
      har(entry(path, { status: 204 }), entry(path, { status: 0 })),
    );
    expect(found).toMatchObject({ outcome: 'pass', judged: 1 });
  });
});
