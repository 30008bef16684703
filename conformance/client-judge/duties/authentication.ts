/**
 * Duties of authentication: requests, and reactions to what the server decides. Spec: Device
 * authentication
 */
import { parsedJson } from '../../../fixtures/base/json.ts';
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { membersOf } from '../../target/json-members.ts';
import type { Duty } from '../duty.ts';
import { digestOf, isDeviceOperation, pauseMs } from '../exchange-facts.ts';
import {
  hasReceivedResponse,
  isInFlight,
  REPEATS_IN_FLIGHT_MAX,
  TOO_FREQUENT_REPEATS_MAX,
} from '../exemptions.ts';
import { MASK } from '../secret-text.ts';
import { credentialDuties } from './credentials.ts';
import { retryProblem } from './retry-pauses.ts';

const SHRINKING_MAX = 2;
const YEAR_MS = 31_536_000_000;

const authentication = ['post-auth-request'];

const requestDuties: readonly Duty[] = [
  {
    id: 'auth.one-at-a-time',
    level: 'should',
    sentence:
      'A device waits for the response to an authentication request before it sends another.',
    source: 'Device authentication',
    evidence: 'start and end of the authentication requests of one device',
    remedy: 'send the next authentication request after the response to this one, or its timeout',
    operations: authentication,
    applies: (exchange, { client }) =>
      pauseMs(client.authentication.lastRequest, exchange) !== undefined,
    violation: (exchange, { client }) => {
      const pause = pauseMs(client.authentication.lastRequest, exchange) ?? 0;
      // Times are rounded to milliseconds.
      if (pause > -2) return undefined;
      const actual = `${Math.round(-pause)} ms before it`;
      return {
        part: 'an authentication request',
        expected: 'follow the response to the last',
        actual,
      };
    },
  },
  {
    id: 'auth.polite-while-pending',
    level: 'should',
    sentence: 'A device waits at least a second after a refusal before it authenticates again.',
    source: 'Device authentication; Errors: 429',
    evidence: 'pauses after a 401 or 403 of the authentication request; the third short one counts',
    remedy: 'wait 5 s or more after a refusal, or let the pause grow from 1 s',
    operations: authentication,
    applies: ({ status }, { client }) =>
      status !== 429 && client.authentication.lastRequest !== undefined,
    violation: (exchange, { client }) => {
      const isThird = client.authentication.tooFrequentRequests === TOO_FREQUENT_REPEATS_MAX;
      if (!isThird || !client.authentication.isTooFrequent(exchange)) return undefined;
      const actual = 'less, three times in a row';
      return { part: 'the pause after a refusal', expected: 'last 1 s or more', actual };
    },
  },
  {
    id: 'auth.renews-on-401',
    level: 'must',
    sentence: 'A device authenticates again after a 401, before it repeats the operation.',
    source: 'Authentication, rule 3',
    evidence: '401 of one operation without an authentication request; one repeat is exempt',
    remedy: 'take a 401 of any operation as the end of the token: authenticate, then repeat',
    scene: 'revocation',
    applies: ({ operation, status }, { client }) =>
      operation.id === 'post-auth-request'
        ? client.authentication.unauthorized.size > 0
        : status === 401 && isDeviceOperation(operation) && operation.authorization === 'device',
    violation: ({ operation }, { client }) => {
      if (client.authentication.unauthorized.get(operation.id) !== REPEATS_IN_FLIGHT_MAX)
        return undefined;
      const actual = 'another 401, the third without one';
      return { part: 'a 401', expected: 'lead to an authentication request', actual };
    },
  },
  {
    id: 'auth.tenant-token-kept',
    level: 'should',
    sentence: 'A device that has sent a tenant token sends the same one each time.',
    source: 'AuthRequest: tenant_token',
    evidence: 'the member tenant_token of authentication requests',
    remedy: 'read the tenant token from the configuration for every request',
    operations: authentication,
    appliesToClient: ({ authentication: { lastRequest } }) =>
      lastRequest?.tenantToken !== undefined,
    applies: (_, { client }) => client.authentication.lastRequest?.tenantToken !== undefined,
    violation: ({ requestJson }, { client }) =>
      membersOf(requestJson).tenant_token === client.authentication.lastRequest?.tenantToken
        ? undefined
        : { part: 'tenant_token', expected: 'stay the same', actual: 'another one, or none' },
  },
  {
    id: 'auth.stops-hammering-when-rejected',
    level: 'should',
    sentence: 'A device that is refused repeatedly does not authenticate faster.',
    source: 'States and transitions; Errors: 403',
    evidence: 'pauses after refusals of the authentication request',
    remedy: 'keep the interval after a 401 or 403, or let it grow',
    scene: 'rejection',
    operations: authentication,
    applies: (_, { client }) => client.authentication.lastRefusalPauseMs !== undefined,
    violation: (exchange, { client }) => {
      const pause = pauseMs(client.authentication.lastRequest, exchange);
      const isShorter =
        pause !== undefined && pause < (client.authentication.lastRefusalPauseMs ?? 0) / 2;
      if (!isShorter || client.authentication.shrinkingPauses !== SHRINKING_MAX - 1)
        return undefined;
      return {
        part: 'the pause after a refusal',
        expected: 'not shrink',
        actual: 'half of it, twice',
      };
    },
  },
  {
    id: 'auth.no-needless-renewal',
    level: 'observed',
    sentence: 'Whether a device authenticates while its token is still accepted.',
    source: 'Authentication, rule 3',
    evidence: 'the number of authentication requests that were answered with 200',
    remedy: 'keep the token until an operation is answered with 401',
    observation: ({ authentication: { issued } }) =>
      issued > 0 ? `${issued} tokens were issued` : undefined,
  },
  {
    id: 'auth.survives-503',
    level: 'should',
    sentence: 'A device retries an authentication request that failed, after a pause.',
    source: 'Errors: 500; RFC 9110, 15.6.4',
    evidence: 'authentication requests after a 5xx or a cut connection',
    remedy: 'retry after 1 s or more, and let the pause grow',
    scene: 'authentication-outage',
    operations: authentication,
    applies: (exchange, { client }) => client.retries.failures.has(exchange.operation.id),
    violation: (exchange, { client }) => retryProblem(exchange, client),
  },
];

/** Whether the device reacts to what the server decides. */
const reactionDuties: readonly Duty[] = [
  {
    id: 'auth.recovers-from-rejection',
    level: 'should',
    sentence:
      'A device that is accepted again after a rejection authenticates again without a restart.',
    source: 'States and transitions',
    evidence: 'an authentication request after the acceptance of a device that was refused',
    remedy: 'go on authenticating after a 401 or 403, at the interval',
    scene: 'rejection',
    reaction: {
      dueAfter: {
        serverEvents: ['accepted'],
        when: ({ authentication: { isRejected } }) => isRejected,
      },
      metBy: {
        exchange: ({ operation, status }) => isAuthentication(operation) && status === 200,
      },
      cancelledBy: { serverEvents: ['rejected', 'decommissioned', 'client-killed'] },
      expected: 'authenticate after it was accepted again',
    },
  },
  {
    id: 'auth.repeats-until-accepted',
    level: 'must',
    sentence: 'A device that is pending authenticates again until it is accepted.',
    source: 'States and transitions: a subsequent authentication request reflects the decision',
    evidence: 'the authentication request after a 401',
    remedy: 'authenticate again after a 401, at an interval, as long as the device runs',
    scene: 'pending',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status }, m) =>
          isAuthentication(operation) && status === 401 && hasReceivedResponse(m.event),
      },
      metBy: { exchange: ({ operation }) => isAuthentication(operation) },
      cancelledBy: { serverEvents: ['client-killed', 'decommissioned'] },
      expected: 'authenticate again after a 401',
    },
  },
  {
    id: 'auth.reads-token-plain',
    level: 'must',
    sentence: 'A device uses the body of the 200 as the token, as it is.',
    source: 'Device authentication: 200 body is a JWT as a plain string',
    evidence: 'the Authorization header of the requests after an authentication request',
    remedy: 'send the bytes of the body, without quotes, line ends or escapes',
    applies: ({ operation, token }, { client }) =>
      operation.authorization === 'device' &&
      token !== undefined &&
      token !== MASK &&
      client.authentication.tokens.size > 0,
    violation: ({ token = '' }, { client }) => {
      const bare = token.replaceAll(/^["'\s]{1,8}|(?:["'\s]|\\n|%0A){1,8}$/gi, '');
      if (
        client.authentication.tokens.has(digestOf(token)) ||
        !client.authentication.tokens.has(digestOf(bare))
      )
        return undefined;
      return {
        part: 'the token',
        expected: 'be sent as it was issued',
        actual: 'quotes or white space',
      };
    },
  },
  {
    id: 'auth.renews-on-expiry',
    level: 'must',
    sentence: 'A device renews an expired token, and sends it at most once more.',
    source: 'Authentication, rule 3; States and transitions',
    evidence: 'requests with a token whose time is over',
    remedy: 'authenticate when an operation answers 401, whatever the age of the token',
    scene: 'token-expiry',
    reaction: {
      dueAfter: {
        exchange: (exchange, { event }) =>
          hasReceivedResponse(event) && isRefusedAsExpired(exchange, event.serverNowMs),
      },
      metBy: { exchange: ({ operation }) => isAuthentication(operation) },
      brokenBy: (exchange, { client, event }) => {
        const times = client.authentication.unauthorized.get(exchange.operation.id) ?? 0;
        const isThird =
          isRefusedAsExpired(exchange, event.serverNowMs) && times === REPEATS_IN_FLIGHT_MAX;
        // The process of the WebSocket may wait for the token of another one.
        if (!isThird || exchange.operation.authorization !== 'device') return undefined;
        return { part: 'an expired token', expected: 'be renewed', actual: 'a third 401 with it' };
      },
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'authenticate after its token expired',
    },
  },
  {
    id: 'auth.new-token-used',
    level: 'should',
    sentence: 'A device stops using a token once it has a newer one.',
    source: 'Authentication, rule 3',
    evidence: 'the Authorization header after a renewal',
    remedy: 'replace the token in every process and connection',
    scene: 'token-expiry',
    applies: ({ token, operation }, { client, event }) =>
      operation.authorization === 'device' &&
      token !== undefined &&
      client.authentication.tokens.size > 1 &&
      client.authentication.tokens.has(digestOf(token)) &&
      (digestOf(token) === client.authentication.tokens.newest?.[0] ||
        !isInFlight(event, client.authentication.tokens.newest?.[1] ?? 0)),
    violation: ({ token = '' }, { client }) => {
      const name = digestOf(token);
      if (name === client.authentication.tokens.newest?.[0]) return undefined;
      if ((client.authentication.staleUses.get(name) ?? 0) !== REPEATS_IN_FLIGHT_MAX)
        return undefined;
      return {
        part: 'the former token',
        expected: 'not be used',
        actual: 'a third request with it',
      };
    },
  },
  {
    id: 'auth.token-opaque',
    level: 'should',
    sentence: 'A device accepts any token of up to 4 KB, and does not parse it.',
    source: 'Authentication, rule 1',
    evidence: 'the request after a token of another length, algorithm or with unknown claims',
    remedy: 'store the token as text of any length, and never parse it',
    scene: 'other-token',
    reaction: {
      dueAfter: {
        exchange: (exchange) => isAuthentication(exchange.operation) && isUnusualToken(exchange),
      },
      metBy: {
        exchange: ({ operation, token }, { client }) =>
          operation.authorization === 'device' &&
          token !== undefined &&
          digestOf(token) === client.authentication.tokens.newest?.[0],
      },
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'use the token that it was given',
    },
  },
  {
    id: 'auth.clock-wrong',
    level: 'should',
    sentence: 'A device works although its clock and the clock of the server are years apart.',
    source: 'Authentication, rule 3',
    evidence: 'polls after the clock of the server was moved by years',
    remedy: 'judge a token by the responses to it, not by the clock of the device',
    scene: 'clock-years-off',
    reaction: {
      dueAfter: {
        exchange: (_, { client, event }) =>
          Math.abs(event.serverNowMs - (client.serverNowMs ?? event.serverNowMs)) > YEAR_MS,
      },
      metBy: { exchange: ({ operation, isSuccess }) => isPollOperation(operation) && isSuccess },
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'poll although the clock of the server was moved by years',
    },
  },
];

export const authenticationDuties: readonly Duty[] = [
  ...credentialDuties,
  ...requestDuties,
  ...reactionDuties,
];

function isAuthentication({ id }: JudgedExchange['operation']): boolean {
  return id === 'post-auth-request';
}

function claimsOf(token: string | undefined): Readonly<Record<string, unknown>> {
  const [, claims = ''] = token?.split('.') ?? [];
  return membersOf(parsedJson(Buffer.from(claims, 'base64url').toString('utf8')));
}

function isRefusedAsExpired({ token, operation, status }: JudgedExchange, nowMs: number): boolean {
  if (status !== 401 || !['device', 'socket'].includes(operation.authorization)) return false;
  const { exp } = claimsOf(token);
  return typeof exp === 'number' && exp * 1000 < nowMs;
}

/** Returns true for a token of more than 2 KB, or by an algorithm other than the family's. */
function isUnusualToken({ response, status }: JudgedExchange): boolean {
  if (status !== 200) return false;
  const [head = ''] = response.text.split('.');
  const { alg } = membersOf(parsedJson(Buffer.from(head, 'base64url').toString('utf8')));
  return (
    response.bytes.length > 2048 || (typeof alg === 'string' && !['RS256', 'EdDSA'].includes(alg))
  );
}
