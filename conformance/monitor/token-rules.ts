/** Rules on tokens: how they are granted, and that they open what they should. Spec: Authentication */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { isObject } from '../context/instructions.ts';
import {
  ExpectationFailure,
  expectEqual,
  expectThat,
  shownAnswer,
} from '../target/expectations.ts';
import { membersOf } from '../target/json-members.ts';
import { claimsOf } from '../target/token-claims.ts';
import { deviceOperations } from './answer-rules.ts';
import type { Seen } from './observed.ts';
import { type Grant, isOpened, type Refusal } from './observed.ts';
import type { WatchRule } from './rule.ts';

const WEEK_SECONDS = 604_800;
const WEEK_MS = WEEK_SECONDS * 1000;
/** Clocks and the way there and back leave so much in doubt. */
const DOUBT_MS = 60_000;

const authorized = deviceOperations.filter((operation) => operation !== 'post-auth-request');

function isGranted({ status, hasWholeBody }: Seen): boolean {
  return status === 200 && hasWholeBody;
}

/**
 * The refusal of a token that was wrong, as this exchange shows: with the same key the device was
 * let in again right after, so that it has been accepted all the while.
 */
function wrongRefusal(seen: Seen): Refusal | undefined {
  const { refusal } = seen.device;
  if (refusal === undefined || seen.status !== 200) return undefined;
  const { grant, ageMs, exchange } = refusal;
  const { pubkey } = membersOf(seen.sent);
  const isWrong = pubkey === grant.pubkey && Math.abs(ageMs) < WEEK_MS - DOUBT_MS;
  return isWrong && exchange.endedMs <= seen.exchange.sentMs ? refusal : undefined;
}

/** The token opens what it should, in the stretch of its life of which the requirement speaks. */
function opens(requirement: RequirementId, isItsStretch: (grant: Grant) => boolean): WatchRule {
  return {
    requirement,
    operations: deviceOperations,
    applies: (seen) => {
      const isSigningIn = seen.operation === 'post-auth-request';
      const wrong = isSigningIn ? wrongRefusal(seen)?.grant : undefined;
      const grant = isSigningIn || !isOpened(seen) ? wrong : seen.device.grantOf(seen.token);
      return grant !== undefined && isItsStretch(grant);
    },
    expect: (seen) => {
      if (seen.operation !== 'post-auth-request') return;
      const seconds = Math.round((wrongRefusal(seen)?.ageMs ?? 0) / 1000);
      throw new ExpectationFailure(
        `the token to be accepted, ${seconds} s after it was granted`,
        '401, although the device got a new token right after',
      );
    },
    about: (seen) => wrongRefusal(seen)?.exchange,
  };
}

/** Spec: Authentication; Device authentication */
export const tokenRules: readonly WatchRule[] = [
  {
    requirement: 'auth.token-is-plain-text',
    operations: ['post-auth-request'],
    applies: isGranted,
    expect: ({ answer }) =>
      expectThat(/^[^\s"{}]+$/.test(answer.text), 'a bare token', shownAnswer(answer)),
  },
  {
    requirement: 'auth.token-is-a-jwt',
    operations: ['post-auth-request'],
    applies: isGranted,
    expect: ({ answer }) => {
      // Whether the text is bare is another requirement.
      const parts = answer.text.trim().replaceAll('"', '').split('.');
      const [header = '', claims = '', signature = ''] = parts;
      const isJwt = parts.length === 3 && isJsonPart(header) && isJsonPart(claims);
      expectThat(isJwt && /^[\w-]+$/.test(signature), 'a JWT', shownAnswer(answer));
    },
  },
  {
    requirement: 'tokens.device-token-lasts-a-week',
    operations: ['post-auth-request'],
    // Whether it is a token at all is another requirement.
    applies: (seen) => isGranted(seen) && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(seen.answer.text),
    expect: ({ answer }) => {
      const { exp, iat } = claimsOf(answer);
      expectEqual('seconds from iat to exp', exp - iat, WEEK_SECONDS);
    },
  },
  opens('tokens.device-token-opens', ({ isRenewed, hasOpened }) => !isRenewed && !hasOpened),
  opens('tokens.renewal', ({ isRenewed, hasOpened }) => isRenewed && !hasOpened),
  opens('tokens.device-token-lasts-a-week', ({ hasOpened }) => hasOpened),
  {
    requirement: 'tokens.expired-is-refused',
    operations: authorized,
    applies: (seen) => {
      const grant = seen.device.grantOf(seen.token);
      const isOver = grant !== undefined && seen.serverNowMs - grant.serverMs > WEEK_MS + DOUBT_MS;
      return isOver && (seen.status === 401 || isOpened(seen));
    },
    expect: ({ answer }) =>
      expectThat(answer.status === 401, '401 for an expired token', shownAnswer(answer)),
  },
];

/** Whether a part of a JWT is the Base64url of a JSON object. */
function isJsonPart(part: string): boolean {
  if (!/^[\w-]+$/.test(part)) return false;
  try {
    return isObject(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  } catch {
    return false;
  }
}
