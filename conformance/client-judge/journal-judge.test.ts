import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { duties } from './duties/duties.ts';
import { JournalJudge } from './journal-judge.ts';

const noonMs = Date.UTC(2026, 0, 31, 12);
const rows = { ...operations, ...storageOperations };

/** One request in a journal. It takes 10 ms and begins 60 s after the one before by default. */
interface Step {
  readonly operation: OperationId | keyof typeof storageOperations;
  readonly status?: number;
  readonly sent?: unknown;
  readonly response?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly query?: string;
  /** Takes the place of the parameter in the path. */
  readonly id?: string;
  readonly device?: string;
  readonly afterMs?: number;
}

/** Returns the IDs of the duties that each request broke. */
function brokenBy(steps: readonly Step[], judge = new JournalJudge()): string[][] {
  let nowMs = noonMs;
  return steps.map((step, index) => {
    nowMs += step.afterMs ?? 60_000;
    return judge.judge(entryOf(step, index + 1, nowMs)).map(({ duty }) => duty);
  });
}

function entryOf(step: Step, sequence: number, startMs: number): object {
  const { operation, status = 204, sent, response, query = '', id = 'd-1', device = 'a' } = step;
  const { method, path } = rows[operation];
  const headers = {
    Host: 'api.example',
    ...(sent !== undefined && { 'Content-Type': 'application/json' }),
    ...step.headers,
  };
  return {
    sequence,
    kind: 'exchange',
    operation,
    method,
    status,
    tookMs: 10,
    at: new Date(startMs + 10).toISOString(),
    path: path.replace(/\{\w+\}/, id) + query,
    device: { id: device },
    requestHeaders: Object.entries(headers),
    requestBody: sent,
    responseHeaders: Object.entries(step.responseHeaders ?? {}),
    responseBody: response,
  };
}

const keyOf = (bits: number): string =>
  generateKeyPairSync('rsa', {
    modulusLength: bits,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).publicKey;
const strong = keyOf(2048);
const weak = keyOf(1024);

const provides = { device_type: 'board', artifact_name: 'one' };
const uri = `http://api.example${storageOperations['download-artifact'].path.replace('{id}', 'd-1')}?x-svc-signature=[masked]`;
const instructions = { id: 'd-1', artifact: { artifact_name: 'two', source: { uri } } };

const authenticationRequest = (more: Partial<Step> = {}, pubkey = strong, mac = 'a'): Step => ({
  operation: 'post-auth-request',
  status: 200,
  sent: { id_data: JSON.stringify({ mac }), pubkey },
  ...more,
});
const poll = (more: Partial<Step> = {}): Step => ({
  operation: 'post-next-deployment-v2',
  sent: { device_provides: provides },
  ...more,
});
const offered = poll({ status: 200, response: instructions });
const fetched = (more: Partial<Step> = {}): Step => ({
  operation: 'download-artifact',
  status: 200,
  ...more,
});
const reported = (status: string, answered = 204): Step => ({
  operation: 'put-deployment-status',
  sent: { status },
  status: answered,
});
const fetchedMap = (id: string): Step => ({
  operation: 'get-update-control-map',
  status: 200,
  id,
  response: { update_control_map: { id, states: {} } },
  ...soonAfter,
});
const inventory = (sent: unknown, more: Partial<Step> = {}): Step => ({
  operation: 'put-attributes',
  status: 200,
  sent,
  ...more,
});
const logged = (...messages: string[]): Step => ({
  operation: 'put-deployment-log',
  sent: {
    messages: messages.map((message) => ({
      timestamp: '2026-01-31T12:00:00Z',
      level: 'i',
      message,
    })),
  },
});
const alerted = (more: Partial<Step> = {}, level = 'CRITICAL'): Step => ({
  operation: 'post-alerts',
  sent: [
    {
      name: 'disk',
      level,
      timestamp: '2026-01-31T12:00:00Z',
      subject: { name: 'sda', type: 'disk', status: 'full' },
    },
  ],
  ...more,
});
const times = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step);
const soonAfter = { afterMs: 500 };
const waits = { status: 503, responseHeaders: { 'Retry-After': '120' } };

/** For each duty: requests of which the last breaks it, and requests that meet it. */
const examples: Readonly<Record<string, { breaks: readonly Step[]; keeps: readonly Step[] }>> = {
  'auth.key-strong': {
    breaks: [authenticationRequest({}, weak)],
    keeps: [authenticationRequest()],
  },
  'auth.sends-only-public': {
    breaks: [authenticationRequest({}, '[masked]')],
    keeps: [authenticationRequest()],
  },
  'auth.identity-unique': {
    breaks: [authenticationRequest(), authenticationRequest({ device: 'b' }, strong, 'b')],
    keeps: [
      authenticationRequest(),
      authenticationRequest(),
      authenticationRequest({ device: 'b' }, keyOf(2048), 'b'),
    ],
  },
  'auth.one-at-a-time': {
    breaks: [authenticationRequest(), authenticationRequest({ afterMs: 5 })],
    keeps: [authenticationRequest(), authenticationRequest({ afterMs: 11 })],
  },
  'auth.polite-while-pending': {
    breaks: times(4, authenticationRequest({ status: 401, ...soonAfter })),
    keeps: [
      ...times(3, authenticationRequest({ status: 401, ...soonAfter })),
      authenticationRequest({ status: 401, afterMs: 2000 }),
      ...times(2, authenticationRequest({ status: 401, ...soonAfter })),
    ],
  },
  'auth.renews-on-401': {
    breaks: times(3, poll({ status: 401 })),
    keeps: [
      ...times(2, poll({ status: 401 })),
      authenticationRequest(),
      ...times(2, poll({ status: 401 })),
    ],
  },
  'next.not-faster-than-a-second': {
    breaks: times(10, poll(soonAfter)),
    keeps: [...times(9, poll(soonAfter)), poll(), poll(soonAfter)],
  },
  'next.request-stable': {
    breaks: [offered, poll({ sent: { device_provides: { ...provides, artifact_name: 'two' } } })],
    keeps: [
      ...[offered, offered, fetched(), reported('success')],
      poll({ sent: { device_provides: { ...provides, artifact_name: 'two' } } }),
    ],
  },
  'get.no-token-to-other-hosts': {
    breaks: [offered, fetched({ headers: { Host: 'files.example', Authorization: '[masked]' } })],
    keeps: [
      offered,
      fetched({ headers: { Host: 'files.example' } }),
      fetched({ headers: { Authorization: '[masked]' } }),
    ],
  },
  'get.resumes': {
    breaks: [fetched({ headers: { Range: 'bytes 100-' } })],
    keeps: [
      fetched({ headers: { Range: 'bytes=100-' }, status: 206 }),
      fetched({ headers: { Range: 'bytes=100-' } }),
      fetched({ headers: { Range: 'bytes 100-', 'If-Range': '"a"' } }),
    ],
  },
  'get.expired-link': {
    breaks: times(3, fetched({ status: 403 })),
    keeps: [...times(2, fetched({ status: 403 })), offered, ...times(2, fetched({ status: 403 }))],
  },
  'report.final-once': {
    breaks: [offered, fetched(), reported('success'), reported('failure')],
    keeps: [
      offered,
      fetched(),
      reported('success'),
      reported('success'),
      offered,
      reported('rebooting'),
    ],
  },
  'report.success-only-if-installed': {
    // Without a poll before, the offer may be older than the journal.
    breaks: [poll(), offered, reported('success')],
    keeps: [offered, fetched({ status: 206 }), reported('success'), reported('failure', 500)],
  },
  'report.409-ends-reporting': {
    breaks: [offered, ...times(3, reported('installing', 409))],
    keeps: [offered, ...times(2, reported('installing', 409))],
  },
  'log.no-secrets': {
    breaks: [logged('started', 'sent Authorization: Bearer [masked]')],
    keeps: [logged('started', 'sent 200 bytes')],
  },
  'log.not-empty': { breaks: [logged()], keeps: [logged('started')] },
  'inventory.names-once': {
    breaks: [inventory([...'aba'].map((name) => ({ name, value: 1 })))],
    keeps: [inventory([...'abc'].map((name) => ({ name, value: 1 })))],
  },
  'inventory.bounded': {
    breaks: [inventory(Array.from({ length: 101 }, (_, at) => ({ name: `n${at}`, value: at })))],
    keeps: [inventory(Array.from({ length: 100 }, (_, at) => ({ name: `n${at}`, value: at })))],
  },
  'inventory.device-type-agrees': {
    breaks: [poll(), inventory([{ name: 'device_type', value: 'Board' }])],
    keeps: [
      inventory([{ name: 'device_type', value: 'Board' }]),
      poll(),
      inventory([
        { name: 'device_type', value: 'board' },
        { name: 'ip', value: '::1' },
      ]),
      ...[offered, fetched(), reported('success')],
      inventory([{ name: 'artifact_name', value: 'two' }]),
    ],
  },
  'map.fetches': {
    breaks: times(4, fetchedMap('d-1')),
    keeps: [...times(3, fetchedMap('d-1')), ...times(3, fetchedMap('d-2'))],
  },
  'alert.no-flood': {
    breaks: [alerted(), alerted(soonAfter)],
    keeps: [alerted(), alerted(soonAfter, 'OK'), alerted({ afterMs: 2000 })],
  },
  'http.bearer': {
    breaks: [poll({ query: '?access_token=[masked]' })],
    keeps: [poll({ query: '?page=1' }), fetched({ query: '?token=[masked]' })],
  },
  'http.documented-operations': {
    breaks: [
      authenticationRequest({ sent: { id_data: '{"mac":"a"}', pubkey: strong, scope: 'x' } }),
    ],
    keeps: [
      authenticationRequest({ sent: { id_data: '{"mac":"a"}', pubkey: strong, external_id: 'x' } }),
    ],
  },
  'http.dates': {
    breaks: [fetched({ headers: { 'If-Modified-Since': '2026-01-31T12:00:00Z' } })],
    keeps: [fetched({ headers: { 'If-Modified-Since': 'Sat, 31 Jan 2026 12:00:00 GMT' } })],
  },
  'http.retry-after': {
    breaks: [poll(waits), poll()],
    keeps: [poll(waits), authenticationRequest(), poll({ afterMs: 121_000 }), poll()],
  },
  'http.no-retry-on-400': {
    breaks: times(4, poll({ status: 400 })),
    keeps: [
      ...times(3, poll({ status: 400 })),
      poll({ status: 400, sent: {} }),
      poll({ status: 400 }),
    ],
  },
};

describe('a duty of a device client', () => {
  it.each(Object.keys(examples))('is broken by the last of these requests: %s', (id) => {
    const broken = brokenBy(examples[id]?.breaks ?? []);
    expect(broken.at(-1)).toContain(id);
    expect(broken.slice(0, -1).flat()).not.toContain(id);
  });

  it.each(Object.keys(examples))('is met by ordinary requests: %s', (id) => {
    expect(brokenBy(examples[id]?.keeps ?? []).flat()).not.toContain(id);
    expect(examples[id]?.keeps).not.toEqual([]);
  });

  it('has a unique ID, a sentence about a device, its source and a remedy', () => {
    expect(new Set(duties.map(({ id }) => id)).size).toBe(duties.length);
    for (const { id, level, sentence, source, evidence, remedy } of duties) {
      const form =
        level === 'observed'
          ? /^(A|Whether a|At which interval a) device .*\.$/
          : /^A device .*\.$/;
      expect(sentence, id).toMatch(form);
      for (const text of [source, evidence, remedy])
        expect(text, id).toMatch(/^[^.]+(\.\S[^.]*)*$/);
    }
  });
});

describe('the client judge of a journal', () => {
  it('shows exchange, sentence and remedy of a finding', () => {
    const [finding] = new JournalJudge().judge(entryOf(logged('[masked]'), 7, noonMs));
    expect(finding).toEqual({
      duty: 'log.no-secrets',
      level: 'should',
      sentence: 'A device writes neither token nor signature nor key into a log.',
      source: 'DeploymentLog',
      journalEntry: 7,
      operation: 'put-deployment-log',
      message: 'messages.0 must hold no secret, not a token or a private key',
      remedy: 'leave headers and keys out of the log, or log only their length',
    });
  });

  it('keeps the devices apart', () => {
    const polls = times(9, poll(soonAfter)).flatMap((step) => [step, { ...step, device: 'b' }]);
    expect(brokenBy(polls).flat()).toEqual([]);
  });

  it('reports no violation while the clock of the journal is frozen or set back', () => {
    const still = [
      ...times(20, poll({ afterMs: 0 })),
      ...times(5, authenticationRequest({ afterMs: 0 })),
    ];
    expect(
      brokenBy([...still, poll({ afterMs: -5000 }), ...times(5, alerted({ afterMs: 0 }))]).flat(),
    ).toEqual([]);
  });

  it.each([
    { sequence: 1, kind: 'frame', at: '2026-01-31T12:00:00Z' },
    entryOf({ operation: 'list-audit-logs', status: 200 }, 1, noonMs),
  ])('ignores an entry that no device caused: %j', (entry) => {
    const judge = new JournalJudge();
    expect([judge.judge(entry), judge.exchanges]).toEqual([[], 0]);
  });

  it('takes about the same time for each part of a long journal of many devices', () => {
    const judge = new JournalJudge();
    const costOf = (from: number): number => {
      const startUsage = process.cpuUsage();
      for (let at = from; at < from + 6000; at += 1) {
        judge.judge(entryOf(poll({ device: `d-${at}` }), at, noonMs + at * 1000));
      }
      const { user } = process.cpuUsage(startUsage);
      return user;
    };
    const firstCost = costOf(1);
    expect(costOf(6001) + costOf(12_001)).toBeLessThan(firstCost * 10);
    expect(judge.exchanges).toBe(18_000);
  });
});
