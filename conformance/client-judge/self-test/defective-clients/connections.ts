/** Clients that use WebSockets or HTTP badly. */
import {
  all,
  authenticating,
  copyOf,
  type DefectiveClient,
  dropSteps,
  editSteps,
  hasLabel,
  insert,
  repeated,
  scene,
  silentAfter,
  socket,
} from '../alter.ts';
import { message, type Request, request, type Step } from '../steps.ts';

export const connections: readonly DefectiveClient[] = [
  {
    duty: 'connect.handshake',
    description: 'requests version 8',
    alter: editSteps('connect 1', { headers: { 'Sec-WebSocket-Version': '8' } }),
  },
  {
    duty: 'connect.key-fresh',
    description: 'uses one key for all handshakes',
    alter: editSteps('connect 2', {
      headers: { 'Sec-WebSocket-Key': Buffer.alloc(16, 1).toString('base64') },
    }),
  },
  {
    duty: 'connect.masks',
    description: 'sends frames without a mask',
    alter: socket('shell response', { violation: 'the frame is not masked' }),
  },
  {
    duty: 'connect.pong',
    description: 'answers a ping with other bytes',
    alter: socket('pong', { payload: Buffer.from('x') }),
  },
  {
    duty: 'connect.close-handshake',
    description: 'closes with the code 1015',
    alter: socket('last close', { code: 1015 }),
  },
  {
    duty: 'connect.messages',
    description: 'makes up the ID of a session',
    alter: socket('shell response', { payload: message(1, 'new', 'made-up') }),
  },
  {
    duty: 'connect.messages',
    description: 'sends JSON instead of msgpack',
    alter: socket('shell response', { payload: Buffer.from('{"hdr":{"proto":1}}') }),
  },
  {
    duty: 'connect.check-update',
    description: 'polls half a minute after check-update',
    alter: editSteps('poll after check-update', { afterMs: 30_000 }),
  },
  {
    duty: 'connect.one-socket',
    description: 'keeps the older WebSocket',
    alter: (steps) => {
      const close = steps.find(hasLabel('close'));
      const lateSteps: Step[] = [
        {
          kind: 'socket',
          label: 'late',
          event: 'message',
          from: 'device',
          socket: 's1',
          payload: message(1, 'new', 'session-1'),
          afterMs: 20_000,
        },
      ];
      return steps
        .filter((step) => step !== close)
        .flatMap((step) => (step.label === 'connect 2: opened' ? [step, ...lateSteps] : [step]));
    },
  },
  {
    duty: 'connect.backoff',
    description: 'reconnects every 2 s',
    alter: (steps) => {
      const connectRequest = steps.find(hasLabel('connect 1')) as Request;
      const tries = Array.from({ length: 8 }, (_, at) => ({
        ...copyOf(connectRequest),
        label: `try ${at}`,
        status: 503,
        afterMs: 2000,
        headers: {
          ...connectRequest.headers,
          'Sec-WebSocket-Key': Buffer.alloc(16, 50 + at).toString('base64'),
        },
      }));
      return steps.flatMap((step) => (step === connectRequest ? [...tries, step] : [step]));
    },
  },
  {
    duty: 'connect.renewed-token',
    description: 'opens its WebSocket with the former token',
    alter: (steps) => {
      const { headers } = steps.find(hasLabel('connect 2')) as Request;
      const key = { 'Sec-WebSocket-Key': Buffer.alloc(16, 3).toString('base64') };
      return insert('poll after revocation', () => [
        request('connect 3', 'connect', { status: 401, headers: { ...headers, ...key } }),
      ])(steps);
    },
  },
  {
    duty: 'connect.fragments',
    description: 'does not answer a message in fragments',
    alter: all(
      scene('websocket', 'connect 1: opened', 'poll after check-update', 60_000),
      dropSteps(/response/),
    ),
  },
  {
    duty: 'connect.notices-silence',
    description: 'keeps its WebSocket although nothing comes for three minutes',
    alter: all(
      scene('socket-silent', 'connect 1', 'shell response', 180_000),
      editSteps('connect 1', { faultsAndVariations: ['half-open'] }),
    ),
  },
  {
    duty: 'connect.unknown-message',
    description: 'falls silent after a message that it does not know',
    alter: silentAfter('unknown message'),
  },
  {
    duty: 'http.chunked-responses',
    description: 'authenticates again and again after a token in chunks',
    alter: all(
      editSteps('first token', { responseHeaders: { 'Transfer-Encoding': 'chunked' } }),
      repeated('first token', 4),
    ),
  },
  {
    duty: 'http.documented-operations',
    description: 'calls a path that does not exist',
    alter: editSteps('monitors', {
      target: '/api/devices/v1/devicemonitor/configuration',
      status: 404,
      response: { error: 'not found' },
    }),
  },
  {
    duty: 'http.documented-operations',
    description: 'sends JSON as text',
    alter: editSteps('idle 2', { headers: { 'Content-Type': 'text/plain' } }),
  },
  {
    duty: 'http.documented-operations',
    description: 'sends a parameter that the operation lacks',
    alter: editSteps('monitors', { target: '/api/devices/v1/devicemonitor/config?edition=2' }),
  },
  {
    duty: 'http.documented-operations',
    description: 'authenticates with a member that the contract lacks',
    alter: authenticating('first token', (sent) => {
      sent.scope = 'device';
    }),
  },
  {
    duty: 'http.dates',
    description: 'requests changes since a date of ISO 8601',
    alter: editSteps('d2: download', (step) => {
      step.headers['If-Modified-Since'] = '2026-01-31T12:00:00Z';
    }),
  },
  {
    duty: 'http.bearer',
    description: 'sends its token without Bearer',
    alter: editSteps('idle 2', (step) => {
      step.headers.Authorization = step.headers.Authorization?.slice(7) ?? '';
    }),
  },
  {
    duty: 'http.valid-json',
    description: 'sends a byte order mark',
    alter: editSteps('idle 2', (step) => {
      step.sent = `\ufeff${JSON.stringify(step.sent)}`;
    }),
  },
  {
    duty: 'http.framing',
    description: 'states both lengths',
    alter: editSteps('idle 2', { headers: { 'Transfer-Encoding': 'chunked' } }),
  },
  {
    duty: 'http.host',
    description: 'sends no Host',
    alter: editSteps('idle 2', { headers: { Host: '' } }),
  },
  {
    duty: 'http.retry-after',
    description: 'polls before Retry-After is over',
    alter: editSteps('after busy', { afterMs: 5000 }),
  },
  {
    duty: 'http.backoff',
    description: 'polls every 1.5 s while the server fails',
    alter: editSteps(/^outage [2-8]/, { afterMs: 1500 }),
  },
  {
    duty: 'http.no-retry-on-400',
    description: 'repeats a refused request',
    alter: repeated('refused', 4, { afterMs: 5000 }),
  },
  {
    duty: 'connect.checks-accept',
    description: 'sends a message although the handshake was wrong',
    alter: editSteps('connect 1', {
      faultsAndVariations: ['wrong-accept'],
      alteration: 'accept-header',
    }),
  },
  {
    duty: 'http.recovers',
    description: 'gives up polling after a 503',
    alter: silentAfter('outage 2'),
    consequences: ['http.errors-tolerated'],
  },
  {
    duty: 'http.errors-tolerated',
    description: 'gives up after an error in HTML',
    alter: silentAfter('v2 absent'),
  },
  {
    duty: 'http.keep-alive',
    description: 'gives up when the server closes its connection',
    alter: silentAfter('after refused'),
  },
  {
    duty: 'tls.verifies',
    description: 'sends a request to a server with a wrong certificate',
    alter: scene('tls-untrusted', 'idle 1', 'idle 2'),
  },
  {
    duty: 'tls.version',
    description: 'sends a request by TLS 1.1',
    alter: scene('tls-old-version', 'idle 1', 'idle 2'),
  },
  {
    duty: 'tls.no-downgrade',
    description: 'sends a request without TLS',
    alter: scene('tls-absent', 'idle 1', 'idle 2'),
  },
];
