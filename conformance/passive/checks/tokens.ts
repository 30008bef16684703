/**
 * Checks on tokens: how they are granted, and that requests with a valid one are accepted.
 * Spec: Authentication; Device authentication
 */
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { responseSummary } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { ExchangeHistory, PassiveCheck } from '../check.ts';
import { acceptsToken, type TokenGrant, type TokenRefusal } from '../device-history.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { deviceOperations, passiveCheckOn } from './device-responses.ts';

const WEEK_SECONDS = 604_800;
const WEEK_MS = WEEK_SECONDS * 1000;
/** Tolerance for differences between clocks and for the time in transit. */
const DOUBT_MS = 60_000;

const authorized = deviceOperations.filter((operation) => operation !== 'post-auth-request');

function isGranted({ status, hasBody }: JudgedExchange): boolean {
  return status === 200 && hasBody;
}

function isAuthRequest({ operation }: JudgedExchange): boolean {
  return operation.id === 'post-auth-request';
}

/**
 * Returns the last refusal of the device's token if this exchange proves it wrong: the device got a
 * new token with the same key right afterwards, so it was accepted all the time, and the refused
 * token was less than a week old.
 */
function wrongRefusal(
  { status, requestJson, request }: JudgedExchange,
  { device }: ExchangeHistory,
): TokenRefusal | undefined {
  const { refusal } = device;
  if (refusal === undefined || status !== 200) return undefined;
  const { grant, ageMs, exchange } = refusal;
  const { pubkey } = membersOf(requestJson);
  const isWrong = pubkey === grant.pubkey && Math.abs(ageMs) < WEEK_MS - DOUBT_MS;
  return isWrong && exchange.request.endedMs <= request.sentMs ? refusal : undefined;
}

/** Returns a check: requests with a token for which `appliesToGrant` holds pass authentication. */
function tokenAcceptanceCheck(
  requirement: RequirementId,
  appliesToGrant: (grant: TokenGrant) => boolean,
): PassiveCheck {
  return {
    requirement,
    operations: deviceOperations,
    applies: (exchange, history) => {
      const refusedGrant = isAuthRequest(exchange)
        ? wrongRefusal(exchange, history)?.grant
        : undefined;
      const isUsed = !isAuthRequest(exchange) && acceptsToken(exchange);
      const grant = isUsed ? history.device.grantOf(exchange.token) : refusedGrant;
      return grant !== undefined && appliesToGrant(grant);
    },
    violation: (exchange, history) => {
      if (!isAuthRequest(exchange)) return undefined;
      const seconds = Math.round((wrongRefusal(exchange, history)?.ageMs ?? 0) / 1000);
      return {
        part: 'the token',
        expected: `be accepted, ${seconds} s after it was granted`,
        actual: '401, although the device got a new token right after',
      };
    },
    about: (exchange, history) => wrongRefusal(exchange, history)?.exchange,
  };
}

/** Returns the seconds from `iat` to `exp` in a granted token; undefined if one is missing. */
function lifetimeSeconds({ response }: JudgedExchange): number | undefined {
  const { exp, iat } = membersOf(partOf(response.text.split('.')[1]));
  return typeof exp === 'number' && typeof iat === 'number' ? exp - iat : undefined;
}

export const tokenChecks: readonly PassiveCheck[] = [
  passiveCheckOn('token-is-bare', ['post-auth-request']),
  {
    requirement: 'auth.token-is-a-jwt',
    operations: ['post-auth-request'],
    applies: isGranted,
    violation: ({ response }) => {
      // Another requirement covers white space and quotes around the token.
      const parts = response.text.trim().replaceAll('"', '').split('.');
      const [header = '', claims = '', signature = ''] = parts;
      const isJwt = parts.length === 3 && isObject(partOf(header)) && isObject(partOf(claims));
      if (isJwt && /^[\w-]+$/.test(signature)) return undefined;
      return { part: '200 body', expected: 'be a JWT', actual: responseSummary(response) };
    },
  },
  {
    requirement: 'tokens.device-token-lasts-a-week',
    operations: ['post-auth-request'],
    // Another requirement covers a body that is not a token; the contract requires no claims.
    applies: (exchange) =>
      isGranted(exchange) &&
      /^[\w-]+\.[\w-]+\.[\w-]*$/.test(exchange.response.text) &&
      lifetimeSeconds(exchange) !== undefined,
    violation: (exchange) => {
      const seconds = lifetimeSeconds(exchange);
      if (seconds === WEEK_SECONDS) return undefined;
      return {
        part: 'seconds from iat to exp',
        expected: `be ${WEEK_SECONDS}`,
        actual: `${seconds}`,
      };
    },
  },
  tokenAcceptanceCheck(
    'tokens.device-token-opens',
    ({ isRenewed, hasOpened }) => !isRenewed && !hasOpened,
  ),
  tokenAcceptanceCheck('tokens.renewal', ({ isRenewed, hasOpened }) => isRenewed && !hasOpened),
  tokenAcceptanceCheck('tokens.device-token-lasts-a-week', ({ hasOpened }) => hasOpened),
  {
    requirement: 'tokens.expired-is-refused',
    operations: authorized,
    applies: (exchange, { device }) => {
      const grant = device.grantOf(exchange.token);
      const isOver =
        grant !== undefined && exchange.serverNowMs - grant.serverMs > WEEK_MS + DOUBT_MS;
      return isOver && (exchange.status === 401 || acceptsToken(exchange));
    },
    violation: ({ response, status }) =>
      status === 401
        ? undefined
        : {
            part: 'the status',
            expected: 'be 401 for an expired token',
            actual: responseSummary(response),
          },
  },
];

/** Returns the decoded JSON of one part of a JWT; undefined if the part is not JSON. */
function partOf(part = ''): unknown {
  if (!/^[\w-]+$/.test(part)) return undefined;
  return parsedJson(Buffer.from(part, 'base64url').toString('utf8'));
}
