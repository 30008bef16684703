/** Duties of every request. Spec: Errors; RFC 9110 */
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import { jsonExcess } from '../../../fixtures/base/json-bounds.ts';
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import { pollOperations } from '../../../fixtures/contract/operations.ts';
import { authRequestShape } from '../../../fixtures/contract/resources.ts';
import { httpDate } from '../../passive/checks/headers.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { describeValue } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { Duty } from '../duty.ts';
import { contentOf, downloadOperations, isDeviceOperation, pauseMs } from '../exchange-facts.ts';
import { hasReceivedResponse, TOO_FREQUENT_REPEATS_MAX } from '../exemptions.ts';
import type { SceneName } from '../scene-names.ts';
import { MASK } from '../secret-text.ts';
import { isRetry, retryProblem } from './retry-pauses.ts';

const REPEATS_MAX = 3;
const SHOWN_MAX_CHARACTERS = 120;
const datedHeaders = ['if-modified-since', 'if-unmodified-since'];
const tokenName = /^((access|id)?_?token|jwt|authorization)$/i;

const requestDuties: readonly Duty[] = [
  {
    id: 'http.bearer',
    level: 'must',
    sentence: 'A device sends its token as Bearer in a header, never in a query.',
    source: 'Authentication, rules 1 and 7; RFC 6750, 2.1 and 2.3',
    evidence: 'the Authorization header, and the names of query parameters',
    exemptions:
      'a device without a token, as before the first authentication request after a restart',
    remedy: 'send "Authorization: Bearer TOKEN"; a URL is written into logs on its way',
    applies: ({ operation }) => isDeviceOperation(operation) && operation.authorization !== 'link',
    violation: (exchange, { client }) => {
      const { request, operation } = exchange;
      const names = [...new URL(request.url).searchParams.keys()];
      const name = names.find((each) => tokenName.test(each));
      if (name !== undefined) {
        return {
          part: 'the token',
          expected: 'be in a header',
          actual: `in the parameter ${name}`,
        };
      }
      const value = exchange.header('authorization');
      // A device without a token may send a request to learn that it needs one, also after a restart.
      const hasToken = client.authentication.tokens.size > 0 && !client.authentication.isRestarted;
      if (operation.authorization !== 'device' || !hasToken) return undefined;
      if (value === MASK || /^Bearer [^\s]+$/i.test(value ?? '')) return undefined;
      const actual = value === undefined ? 'no Authorization' : 'a value in another format';
      return { part: 'Authorization', expected: 'be Bearer and the token', actual };
    },
  },
  {
    id: 'http.retry-after',
    level: 'should',
    sentence: 'A device waits as long as Retry-After says.',
    source: 'Errors: 429; RFC 9110, 10.2.3',
    evidence: 'the next request of an operation after a 429 or 503 with Retry-After',
    remedy: 'read Retry-After, in seconds or as a date, and send nothing before that time',
    scene: 'overload',
    applies: (exchange, { client }) => {
      const wait = client.retries.waits.get(exchange.operation.id);
      // A request that was in flight when the response came is exempt.
      const pause = pauseMs(wait, exchange);
      return isDeviceOperation(exchange.operation) && pause !== undefined && pause >= 0;
    },
    violation: (exchange, { client }) => {
      const wait = client.retries.waits.get(exchange.operation.id);
      const seconds = (pauseMs(wait, exchange) ?? 0) / 1000;
      if (wait === undefined || seconds + ROUNDED_SECONDS >= wait.seconds) return undefined;
      const actual = `${seconds.toFixed(1)} s`;
      return { part: 'the pause', expected: `last ${Math.ceil(wait.seconds)} s`, actual };
    },
  },
  {
    id: 'http.no-retry-on-400',
    level: 'should',
    sentence: 'A device repeats a request that was answered with 400 unchanged at most twice.',
    source: 'Errors: 400, invalid request',
    evidence: 'URL and body of requests of one operation that were answered with 400 in a row',
    remedy: 'take a 400 as final: the same bytes get the same response; read its error member',
    scene: 'bad-request',
    applies: ({ operation, status }) =>
      isDeviceOperation(operation) && operation.authorization !== 'link' && status === 400,
    violation: (exchange, { client }) => {
      const earlierRefusal = client.retries.malformed.get(exchange.operation.id);
      const isRepeat =
        earlierRefusal?.content === contentOf(exchange) && earlierRefusal.times === REPEATS_MAX;
      if (!isRepeat) return undefined;
      return {
        part: 'a 400',
        expected: 'not be repeated',
        actual: 'the same request a fourth time',
      };
    },
  },
  {
    id: 'http.documented-operations',
    level: 'should',
    sentence: 'A device calls the operations of the contract, with their media type.',
    source: 'Endpoints',
    evidence:
      'method, path, names of the query and Content-Type of a request, and members of an authentication request',
    exemptions: 'HEAD and OPTIONS',
    remedy:
      'compare path, method, query and body with the contract, since what it lacks is ignored; escape & in values as %26, and send application/json',
    applies: (_, { event: { method } }) => method !== 'HEAD' && method !== 'OPTIONS',
    violation: (exchange, { event: { method } }) => {
      const { operation, request } = exchange;
      if (operation.id === 'unknown') {
        const { pathname } = new URL(request.url);
        const actual = `${method} ${pathname}`.slice(0, SHOWN_MAX_CHARACTERS);
        return { part: 'the request', expected: 'be one of the contract', actual };
      }
      const name = unknownParameter(exchange);
      if (name !== undefined) {
        const actual = `"${name.slice(0, SHOWN_MAX_CHARACTERS)}"`;
        return { part: 'the query', expected: 'have only parameters of the operation', actual };
      }
      const member = unknownMember(exchange);
      if (member !== undefined) {
        const actual = `"${member.slice(0, SHOWN_MAX_CHARACTERS)}"`;
        return { part: 'the body', expected: 'have only members of AuthRequest', actual };
      }
      const type = exchange.header('content-type')?.split(';')[0]?.trim().toLowerCase();
      const takesJson = operation.body !== undefined && operation.mediaType === undefined;
      if (!takesJson || request.bodyBytes === 0 || type === 'application/json') return undefined;
      const expected = 'be application/json';
      return {
        part: 'Content-Type',
        expected,
        actual: type === undefined ? 'missing' : `"${type}"`,
      };
    },
  },
  {
    id: 'http.valid-json',
    level: 'must',
    sentence: 'A device sends bodies that are one JSON value in UTF-8.',
    source: 'RFC 8259, 2, 6 and 8.1',
    evidence: 'the bytes of a body',
    remedy: 'let a JSON library write the body, without a byte order mark or a null byte',
    applies: ({ operation, request }, { event }) =>
      isDeviceOperation(operation) &&
      operation.body !== undefined &&
      request.bodyBytes > 0 &&
      event.requestBody !== undefined &&
      event.isVerbatim !== false,
    violation: (_, { event: { requestBody: body = Buffer.alloc(0) } }) => {
      const actual = jsonProblem(body);
      return actual === undefined ? undefined : { part: 'the body', expected: 'be JSON', actual };
    },
  },
  {
    id: 'http.framing',
    level: 'must',
    sentence: 'A device states the length of a body, or sends it in chunks with their end.',
    source: 'RFC 9112, 6.1 to 6.3',
    evidence: 'Content-Length and Transfer-Encoding of a request, and its body',
    exemptions: 'a body that was not kept',
    remedy: 'count the bytes, not the characters, and send one of the two headers',
    applies: ({ operation }) => isDeviceOperation(operation),
    violation: (exchange, { event }) => {
      const length = exchange.header('content-length');
      const coding = exchange.header('transfer-encoding');
      if (length !== undefined && coding !== undefined) {
        return { part: 'the body', expected: 'have one length', actual: 'both headers' };
      }
      if (length !== undefined && !/^\d+$/.test(length)) {
        return { part: 'Content-Length', expected: 'be one number', actual: length };
      }
      const isKept = event.requestBody !== undefined && event.isVerbatim !== false;
      const isOther =
        isKept && length !== undefined && Number(length) > (event.requestBody?.length ?? 0);
      if (!isOther) return undefined;
      return {
        part: 'the body',
        expected: `have ${length} bytes`,
        actual: `${event.requestBody?.length}`,
      };
    },
  },
  {
    id: 'http.dates',
    level: 'should',
    sentence: 'A device sends dates in headers in the format of HTTP.',
    source: 'RFC 9110, 5.6.7 and 13.1.3',
    evidence: 'If-Modified-Since and If-Unmodified-Since of a request',
    remedy: 'send the Last-Modified of the response as it is; a date in another format is ignored',
    applies: ({ operation }) => isDeviceOperation(operation),
    violation: (exchange) => {
      const name = datedHeaders.find((each) => !isHttpDate(exchange.header(each)));
      if (name === undefined) return undefined;
      const expected = 'be a date such as "Sat, 31 Jan 2026 12:00:00 GMT"';
      return { part: name, expected, actual: describeValue(exchange.header(name)) };
    },
  },
  {
    id: 'http.host',
    level: 'must',
    sentence: 'A device names the host once in every request.',
    source: 'RFC 9112, 3.2',
    evidence: 'the Host headers of a request',
    exemptions: 'HTTP/2, where the target is :authority',
    remedy: 'send one Host header with the name and port of the URL',
    applies: ({ operation }) => isDeviceOperation(operation),
    violation: (_, { event: { requestHeaders } }) => {
      const hosts = requestHeaders.filter(([name]) => /^(host|:authority)$/i.test(name));
      const [host] = hosts;
      if (hosts.length === 1 && host !== undefined && /^[\w.:[\]%-]+$/.test(host[1]))
        return undefined;
      const actual =
        host === undefined ? 'none' : hosts.map(([, value]) => `"${value}"`).join(', ');
      return { part: 'Host', expected: 'be there once', actual };
    },
  },
  {
    id: 'http.backoff',
    level: 'should',
    sentence: 'A device waits longer with each failure of the server.',
    source: 'Errors: 429 and 500; RFC 9110, 15.6.4',
    evidence: 'pauses after a 429, a 5xx or a cut connection',
    exemptions: 'pauses of a minute or more, or of its own interval',
    remedy: 'wait 1 s after the first failure, and double the pause up to some minutes',
    scene: 'outage',
    operations: [
      ...pollOperations,
      ...downloadOperations,
      'put-attributes',
      'patch-attributes',
      'put-configuration',
    ],
    applies: (exchange, { client }) => isRetry(exchange, client),
    violation: (exchange, { client }) => retryProblem(exchange, client),
  },
  {
    id: 'http.slow-responses',
    level: 'observed',
    sentence: 'A device waits for a response as long as it chooses.',
    source: 'RFC 9112, 9.5',
    evidence: 'the time until a connection was closed before its response',
    remedy: 'none is needed',
    scene: 'outage',
    observation: ({ retries: { slowestMs } }) =>
      slowestMs === 0 ? undefined : `waited ${(slowestMs / 1000).toFixed(1)} s for a response`,
  },
  {
    id: 'http.request-id',
    level: 'observed',
    sentence: 'Whether a device sends request IDs of its own.',
    source: 'Error: request_id',
    evidence: 'the request ID header',
    remedy: 'none is needed',
    observation: ({ requestIds }) =>
      requestIds > 0 ? `${requestIds} requests have one` : undefined,
  },
];

/** Returns true for a date in the form of HTTP, and for a header that is absent or masked. */
function isHttpDate(value: string | undefined): boolean {
  return value === undefined || value === MASK || httpDate.test(value);
}

/** Returns the name of a query parameter that the operation lacks, except for one of a token. */
function unknownParameter({ operation, request }: JudgedExchange): string | undefined {
  if (!isDeviceOperation(operation) || operation.authorization === 'link') return undefined;
  const documentedNames = new Set(Object.keys(operation.query ?? {}));
  const names = [...new URL(request.url).searchParams.keys()];
  return names.find((name) => !documentedNames.has(name) && !tokenName.test(name));
}

/** Returns the name of a member of an authentication request that the contract lacks. */
function unknownMember({ operation, requestJson }: JudgedExchange): string | undefined {
  if (operation.id !== 'post-auth-request') return undefined;
  return Object.keys(membersOf(requestJson)).find((name) => !(name in authRequestShape.entries));
}

const reactionDuties: readonly Duty[] = [
  {
    id: 'http.recovers',
    level: 'must',
    sentence: 'A device polls again within three of its intervals after any disturbance.',
    source: 'Errors: 500; RFC 9110, 15.6.4',
    evidence: 'the first poll after a failure, a restart of the server, or a scene',
    exemptions: 'pauses that grow with each failure: up to twice the longest one before',
    remedy: 'let no error end the loop of polls',
    scene: 'outage',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status }) =>
          isPollOperation(operation) && (status >= 500 || status === 0),
        serverEvents: ['server-restarted'],
      },
      metBy: {
        exchange: ({ operation, status }) =>
          isPollOperation(operation) && status > 0 && status < 500,
      },
      // Each failure gives the device its whole time again.
      cancelledBy: {
        serverEvents: ['client-killed', 'decommissioned', 'rejected'],
        exchange: ({ operation }) => isPollOperation(operation),
      },
      expected: 'poll again',
    },
  },
  {
    id: 'http.errors-tolerated',
    level: 'must',
    sentence: 'A device handles errors without a body, or with any body.',
    source: 'Errors, rule 1; field notes 8.1',
    evidence: 'the request after an error whose body is not an Error',
    remedy: 'decide by the status alone, and show the body only as far as it can be read',
    scene: 'error-bodies',
    reaction: {
      dueAfter: {
        exchange: ({ status, responseJson }, { event }) =>
          status >= 400 &&
          hasReceivedResponse(event) &&
          event.responseBody !== undefined &&
          typeof (isObject(responseJson) ? responseJson.error : undefined) !== 'string',
      },
      metBy: { exchange: () => true },
      cancelledBy: { serverEvents: ['client-killed', 'decommissioned'] },
      expected: 'go on after an error with another body',
    },
  },
  {
    id: 'http.keep-alive',
    level: 'should',
    sentence: 'A device opens a new connection when the server has closed the idle one.',
    source: 'RFC 9112, 9.5',
    evidence: 'the request after a response with Connection: close',
    remedy: 'open a new connection when a request fails on an idle one',
    scene: 'legal-variations',
    reaction: {
      dueAfter: {
        exchange: ({ operation, response }) =>
          isPollOperation(operation) && /\bclose\b/i.test(response.headers.connection ?? ''),
      },
      metBy: { exchange: () => true },
      cancelledBy: { serverEvents: ['client-killed', 'server-restarted'] },
      expected: 'send its next request on a new connection',
    },
  },
  {
    id: 'http.chunked-responses',
    level: 'must',
    sentence: 'A device reads responses in chunks.',
    source: 'RFC 9112, 7.1',
    evidence: 'what follows instructions or a token in chunks',
    remedy: 'use an HTTP library, or decode the chunks',
    scene: 'legal-variations',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status, response }, { event }) =>
          status === 200 &&
          hasReceivedResponse(event) &&
          (isPollOperation(operation) || operation.id === 'post-auth-request') &&
          /\bchunked\b/i.test(response.headers['transfer-encoding'] ?? ''),
      },
      metBy: {
        exchange: ({ operation }) => operation.authorization !== 'signature',
      },
      brokenBy: ({ operation }, { client }, { exchanges }) =>
        operation.id === 'post-auth-request' &&
        client.authentication.unauthorized.size === 0 &&
        exchanges > TOO_FREQUENT_REPEATS_MAX
          ? {
              part: 'a token in chunks',
              expected: 'be read',
              actual: 'another authentication request',
            }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed', 'deployment-aborted'] },
      expected: 'act on a response in chunks',
    },
  },
];

/** Any request shows that a handshake was completed which the device should have refused. */
const tlsRows: readonly (Pick<Duty, 'id' | 'sentence' | 'source' | 'remedy'> & {
  readonly scene: SceneName;
})[] = [
  {
    id: 'tls.verifies',
    sentence: 'A device refuses a certificate that is expired, of another host, or not trusted.',
    source: 'RFC 8446, 4.4.2.4; RFC 9110, 4.3.4',
    remedy: 'switch the verification of certificates on, and ship the authority',
    scene: 'tls-untrusted',
  },
  {
    id: 'tls.version',
    sentence: 'A device completes no handshake below TLS 1.2.',
    source: 'RFC 8996, 2',
    remedy: 'set the least version to TLS 1.2',
    scene: 'tls-old-version',
  },
  {
    id: 'tls.no-downgrade',
    sentence: 'A device does not fall back to HTTP without TLS.',
    source: 'RFC 9110, 4.2.2',
    remedy: 'use the URL as it is configured, and report the error',
    scene: 'tls-absent',
  },
];

const tlsDuties: readonly Duty[] = tlsRows.map((row) => ({
  ...row,
  level: 'must',
  evidence: 'requests that arrive while the certificate or protocol is wrong',
  applies: (_, { client }) => client.scene === row.scene,
  violation: () => ({ part: 'the device', expected: 'refuse the connection', actual: 'a request' }),
  // A scene without a request is what the duty requires.
  metAtEndOfScene: row.scene,
}));

export const httpDuties: readonly Duty[] = [...requestDuties, ...reactionDuties, ...tlsDuties];

/** Returns what is wrong with a text as JSON; undefined if nothing is. */
function jsonProblem(body: Buffer): string | undefined {
  const text = body.toString('utf8');
  if (text.startsWith('\ufeff')) return 'a byte order mark before it';
  if (!Buffer.from(text).equals(body)) return 'bytes that are not UTF-8';
  if (jsonExcess(body) !== undefined) return 'deeper or longer than any request';
  return parsedJson(text) === undefined ? 'another text' : undefined;
}

/** Retry-After as a date has whole seconds, and times in a journal are rounded. */
const ROUNDED_SECONDS = 1;
