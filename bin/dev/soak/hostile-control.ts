/** Hostile requests to the control listener from a client that has its token. */
import fc from 'fast-check';
import type { HostileRequest } from './hostile-requests.ts';
import { body, encoded, longText, pairsOf, targetOf, text } from './hostile-values.ts';

/**
 * Without paths that would break the rest of the run, or that may take long because of their size:
 * resets, forks, snapshots and request rates.
 */
const paths = [
  ...['/overview', '/journal', '/journal.har', '/journal/:sequence', '/await', '/assert'],
  ...['/explanations/:requestId', '/faults', '/faults/check', '/faults/schema', '/clock'],
  ...['/tenants', '/tenants/:id/device-limit', '/outbox', '/world', '/world/schema', '/snapshots'],
  ...['/ready', '/events', '/nothing/:here', '/'],
];

const queryNames = [
  ...[
    'tenant',
    'after',
    'limit',
    'whole',
    'count',
    'timeoutSeconds',
    'kind',
    'operation',
    'device',
  ],
  ...['user', 'status', 'deployment', 'text', 'since', 'until', 'method'],
];

const wellFormed = fc.constantFrom<[string, string][]>(
  [
    ['limit', '500'],
    ['whole', 'true'],
  ],
  [
    ['text', 'eyJ-eyJ-'],
    ['limit', '500'],
  ],
  [
    ['device', 'nobody'],
    ['after', '0'],
  ],
  [['after', '0']],
  [
    ['timeoutSeconds', '0.1'],
    ['count', '500'],
    ['after', '0'],
  ],
);

const assertion = fc
  .array(fc.constantFrom({ text: 'eyJ' }, { device: 'x' }, { status: '4xx' }), {
    minLength: 1,
    maxLength: 50,
  })
  .map((happened) => Buffer.from(JSON.stringify({ happened })));

const yaml = fc
  .constantFrom('faults:\n', 'a: &a [*a]\n', '- '.repeat(20), 'x: "\\u0000"\n', '? {')
  .map((line) => Buffer.from(line.repeat(10)));

/** Avoids waits of half a minute. */
const soon = ['timeoutSeconds', '0.1'] as const;

/** Generates hostile requests from a client with the control token. */
export function hostileControlRequests(controlToken: string): fc.Arbitrary<HostileRequest> {
  return fc
    .record({
      method: fc.constantFrom('GET', 'GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'),
      path: fc.constantFrom(...paths),
      parameters: fc.array(fc.oneof(text, longText).map(encoded), {
        minLength: 2,
        maxLength: 2,
      }),
      // Parameters that a path does not know are refused before anything else is looked at.
      query: fc.oneof(fc.constant<[string, string][]>([]), pairsOf(queryNames), wellFormed),
      mediaType: fc.constantFrom('application/json', 'application/json', 'application/yaml', ''),
      body: fc.oneof(body, assertion, yaml),
    })
    .map(({ method, path, parameters, query, mediaType, body: given }) => {
      const bytes = method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : given;
      const lines = [
        `${method} ${targetOf(path, parameters, path === '/await' ? [...query, soon] : query)} HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: Bearer ${controlToken}`,
        ...(mediaType === '' ? [] : [`Content-Type: ${mediaType}`]),
        `Content-Length: ${bytes.length}`,
        'Connection: close',
      ];
      const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
      return { operation: `${method} ${path}`, bytes: Buffer.concat([head, bytes]) };
    });
}
