/** The result of a client test with a duty in each state, whose texts try to be markup. */
import type { ClientTestResult, TestedDuty } from '../report/client-test-result.ts';

/** Text of a client that a page must not interpret. */
export const hostile = `<img src=x onerror="document.title='taken'">`;

const base = {
  level: 'must',
  source: 'Errors: 401',
  remedy: 'authenticate after a 401',
  judged: 1,
  scenes: ['revocation'],
  violationCount: 0,
  violations: [],
} as const;

function duty(name: string, more: Partial<TestedDuty>): TestedDuty {
  return { ...base, duty: name, state: 'met', sentence: `A device meets ${name}.`, ...more };
}

const exchange = {
  sequence: 7,
  line: `PUT /status ${hostile} -> 401`,
  method: 'PUT',
  url: 'http://127.0.0.1:1/status',
  requestHeaders: [['Host', '127.0.0.1:1']],
  requestBody: hostile,
  status: 401,
  responseBody: '{"error":"unauthorized"}',
  faultsAndVariations: ['revoke-token'],
} as const;

const violation = {
  scene: 'revocation',
  journalEntry: 7,
  operation: 'put-deployment-status',
  atMs: 1200,
  message: `a 401 must lead to an authentication request, not ${hostile}`,
  request: exchange.line,
  exchanges: [exchange],
} as const;

const nextStep = { text: 'revoke the token', scene: 'revocation' } as const;
const brokenState = { state: 'broken', violationCount: 3, violations: [violation] } as const;
const waiver = { reason: 'known', owner: 'firmware', expires: '2027-01-31' };

export const sampleClientTest: ClientTestResult = {
  schema: 'fleetbed-client-test/1',
  outcome: 'broken',
  headline: 'The client breaks 1 MUST and 0 SHOULDs.',
  failOn: 'must',
  seed: '7',
  command: `./client '${hostile}' {server}`,
  intervalMs: 2000,
  capabilities: ['tls'],
  scenes: [
    {
      scene: 'revocation',
      outcome: 'completed',
      durationMs: 9000,
      session: [
        { atMs: 0, by: 'client-test', text: 'client-started' },
        { sequence: 7, atMs: 1200, by: 'client', text: `PUT /status ${hostile}`, response: '401' },
      ],
    },
    { scene: 'websocket', outcome: 'skipped', reason: 'no WebSocket', durationMs: 0 },
    { scene: 'abort', outcome: 'stopped', reason: 'there was no report', durationMs: 100 },
  ],
  cuts: [
    {
      point: 'at half of the download',
      sentRequestAgain: true,
      finalStatuses: ['success'],
      polledAgain: true,
      reportedFalseSuccess: true,
    },
    {
      point: 'after the whole download',
      sentRequestAgain: false,
      finalStatuses: [],
      polledAgain: false,
      reportedFalseSuccess: false,
    },
  ],
  cutBy: 'process killed',
  duties: [
    duty('auth.renews-on-401', brokenState),
    duty('http.backoff', { ...brokenState, level: 'should', waiver }),
    duty('auth.key-strong', {}),
    duty('report.final', {
      state: 'open',
      openSinceMs: 1,
      reason: 'its scene stopped',
      next: nextStep,
    }),
    duty('get.gzip', {
      level: 'should',
      state: 'not-tested',
      reason: 'no such file',
      next: nextStep,
    }),
    duty('http.slow-responses', {
      level: 'observed',
      state: 'not-tested',
      reason: 'nothing',
      next: nextStep,
    }),
    duty('next.interval-kept', { level: 'observed', state: 'observed', observation: '2.0 s' }),
    duty('connect.pong', {
      state: 'not-applicable',
      reason: 'it opens no WebSocket',
      next: nextStep,
    }),
  ],
  waivers: [{ ...waiver, duty: 'http.backoff', state: 'used' }],
  problems: ['the waiver of x on y is no longer needed: the duty is met; remove it'],
};
