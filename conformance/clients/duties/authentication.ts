/** Duties of signing in. Spec: Device authentication */
import { createPublicKey } from 'node:crypto';
import { parsedJson } from '../../../fixtures/json.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { keyTypeOf } from '../../signing/verify.ts';
import { shown } from '../../target/expectations.ts';
import { isMap, membersOf } from '../../target/json-members.ts';
import type { Duty } from '../duty.ts';
import { digestOf, identityIn, isOfDevice, pauseMs, polls } from '../exchange-facts.ts';
import { HASTY_MAX, isAnswered, isUnderway, REPEATS_UNDERWAY_MAX } from '../excuses.ts';
import { doubledName } from '../json-names.ts';
import { holdsSecret, MASK } from '../secret-text.ts';
import { retryProblem } from './retry-pauses.ts';

const RSA_MIN_BITS = 2048;
/** A key that comes back is no folder that was cleaned. */
const KEY_TURNS_MAX = 3;
const SHRINKING_MAX = 2;
const YEAR_MS = 31_536_000_000;

const signingIn = ['post-auth-request'];

const credentialDuties: readonly Duty[] = [
  {
    id: 'auth.signs-exact-bytes',
    level: 'must',
    sentence: 'A device signs the bytes of the authentication request as it sends them.',
    source: 'Device authentication; Authentication, rule 6',
    looksAt: 'signature header, body and key of an authentication request',
    excuses: 'a body of which only the value is known, as in a journal',
    wayOut: 'serialize the body once, sign those bytes, and send the same bytes',
    operations: signingIn,
    applies: (exchange, { event }) => {
      const { pubkey } = membersOf(exchange.sent);
      const isKnown = event.requestBody !== undefined && event.isVerbatim !== false;
      if (!isKnown || typeof pubkey !== 'string') return false;
      return keyTypeOf(pubkey) !== undefined && signatureIn(exchange) !== MASK;
    },
    violation: (exchange, { event, fleet }) => {
      const { requestBody: body = Buffer.alloc(0) } = event;
      const signature = signatureIn(exchange);
      const seen =
        signature === undefined
          ? 'a request without a signature header'
          : fleet.signatureProblem(String(membersOf(exchange.sent).pubkey), body, signature);
      if (seen === undefined) return undefined;
      return { where: 'the signature', must: 'verify over the body with the key in it', seen };
    },
  },
  {
    id: 'auth.key-supported',
    level: 'must',
    sentence: 'A device has an RSA, P-256 or Ed25519 key, and sends it as PEM.',
    source: 'AuthRequest: pubkey',
    looksAt: 'the public key in an authentication request',
    wayOut: 'write the key as SubjectPublicKeyInfo between BEGIN PUBLIC KEY lines',
    operations: signingIn,
    applies: ({ sent }) => {
      const { pubkey } = membersOf(sent);
      return typeof pubkey === 'string' && !holdsSecret(pubkey);
    },
    violation: ({ sent }) =>
      keyTypeOf(String(membersOf(sent).pubkey)) !== undefined
        ? undefined
        : { where: 'pubkey', must: 'be an RSA, P-256 or Ed25519 key in PEM', seen: 'another text' },
  },
  {
    id: 'auth.body-fields',
    level: 'must',
    sentence:
      'A device sends the fields of an authentication request as strings, in one JSON object.',
    source: 'AuthRequest; RFC 8259, 4 and 8',
    looksAt: 'the members of an authentication request',
    wayOut: 'put the identity as JSON text into the string id_data, and each name once',
    operations: signingIn,
    applies: ({ sent }) => isMap(sent),
    violation: ({ sent }, { event }) => {
      const { id_data: identity, pubkey, ...rest } = membersOf(sent);
      const seen = (what: string) => ({ where: what, must: 'be a string' });
      if (typeof pubkey !== 'string') return { ...seen('pubkey'), seen: shown(pubkey) };
      if (typeof identity !== 'string') return { ...seen('id_data'), seen: shown(identity) };
      if (identity !== MASK && !isMap(parsedJson(identity))) {
        return { where: 'id_data', must: 'hold a JSON object', seen: shown(identity) };
      }
      const optional = ['tenant_token', 'external_id'].find(
        (name) => rest[name] !== undefined && typeof rest[name] !== 'string',
      );
      if (optional !== undefined) return { ...seen(optional), seen: shown(rest[optional]) };
      const twice = event.isVerbatim === false ? undefined : doubledName(event.requestBody);
      if (twice === undefined) return undefined;
      return { where: 'each name', must: 'appear once', seen: `${shown(twice)} twice` };
    },
  },
  {
    id: 'auth.identity-stable',
    level: 'must',
    sentence: 'A device has the same identity in every authentication request.',
    source: 'AuthRequest: id_data is the identity of the device',
    looksAt: 'identity and key in the authentication requests of one device',
    wayOut: 'build id_data from what never changes: no time, no address that is assigned',
    operations: signingIn,
    applies: ({ sent }, { client }) =>
      identityIn(sent) !== undefined && client.lastAuthentication?.identity !== undefined,
    violation: ({ sent }, { client }) => {
      const { identity = '', key = '' } = identityIn(sent) ?? {};
      const before = client.lastAuthentication;
      if (before?.identity === digestOf(identity) || before?.key !== digestOf(key))
        return undefined;
      return { where: 'id_data', must: 'stay the same', seen: shown(identity) };
    },
  },
  {
    id: 'auth.key-survives-restart',
    level: 'must',
    sentence: 'A device keeps its key over a restart.',
    source: 'Device authentication; States and transitions',
    looksAt: 'the key in the first authentication request after a restart',
    excuses: 'a folder that was cleaned',
    wayOut: 'store the key before it is first used, in a place that survives',
    scene: 'restart-while-pending',
    operations: signingIn,
    applies: ({ sent }, { client }) =>
      client.isRestarted &&
      client.lastAuthentication?.key !== undefined &&
      identityIn(sent) !== undefined,
    violation: ({ sent }, { client }) =>
      digestOf(identityIn(sent)?.key ?? '') === client.lastAuthentication?.key
        ? undefined
        : { where: 'the key', must: 'survive a restart', seen: 'a new one' },
  },
  {
    id: 'auth.key-strong',
    level: 'should',
    sentence: 'A device with an RSA key has one of 2048 bits or more.',
    source: 'Device authentication; NIST SP 800-57 part 1, 5.6.1',
    looksAt: 'the public key in an authentication request',
    wayOut: 'generate an RSA key of 2048 bits or more, or an Ed25519 or P-256 key',
    operations: signingIn,
    applies: ({ sent }) => keyTypeOf(String(membersOf(sent).pubkey)) !== undefined,
    violation: (exchange) => {
      const bits = rsaBits(exchange);
      if (bits === undefined || bits >= RSA_MIN_BITS) return undefined;
      return { where: 'the RSA key', must: `have ${RSA_MIN_BITS} bits or more`, seen: `${bits}` };
    },
  },
  {
    id: 'auth.sends-only-public',
    level: 'must',
    sentence: 'A device keeps its private key to itself.',
    source: 'AuthRequest: pubkey is the public key',
    looksAt: 'the member pubkey of an authentication request',
    wayOut: 'send only the public key, as PEM SubjectPublicKeyInfo, and replace the revealed key',
    operations: signingIn,
    applies: ({ sent }) => typeof membersOf(sent).pubkey === 'string',
    violation: ({ sent }) =>
      holdsSecret(String(membersOf(sent).pubkey))
        ? { where: 'pubkey', must: 'be a public key', seen: 'a private key' }
        : undefined,
  },
  {
    id: 'auth.identity-unique',
    level: 'should',
    sentence: 'A device uses one key under one identity.',
    source: 'AuthRequest: id_data is the identity of the device',
    looksAt: 'identity and key in the authentication requests of all devices',
    wayOut: 'generate a key for each device; an image with a key in it makes all devices one',
    operations: signingIn,
    applies: ({ sent }) => identityIn(sent) !== undefined,
    violation: ({ sent }, { fleet, client, event }) => {
      const { key, identity } = identityIn(sent) ?? { key: '', identity: '' };
      const isTurn = client.lastAuthentication?.key !== digestOf(key);
      if (isTurn && client.keyTurns === KEY_TURNS_MAX - 1) {
        return { where: 'the identity', must: 'have one key', seen: 'keys in turn, three times' };
      }
      const other = fleet.otherIdentity(key, identity, event.client);
      // One device that changes its identity breaks another duty.
      if (other === undefined || other.client === event.client) return undefined;
      const seen = `${shown(identity)} and ${other.text}`;
      return { where: 'the key', must: 'belong to one identity', seen };
    },
  },
];

const requestDuties: readonly Duty[] = [
  {
    id: 'auth.one-at-a-time',
    level: 'should',
    sentence: 'A device waits for the answer to an authentication request before it sends another.',
    source: 'Device authentication',
    looksAt: 'start and end of the authentication requests of one device',
    wayOut: 'send the next authentication request after the answer to this one, or its timeout',
    operations: signingIn,
    applies: (exchange, { client }) => pauseMs(client.lastAuthentication, exchange) !== undefined,
    violation: (exchange, { client }) => {
      const pause = pauseMs(client.lastAuthentication, exchange) ?? 0;
      // Times are rounded to milliseconds.
      if (pause > -2) return undefined;
      const seen = `${Math.round(-pause)} ms before it`;
      return { where: 'an authentication request', must: 'follow the answer to the last', seen };
    },
  },
  {
    id: 'auth.polite-while-pending',
    level: 'should',
    sentence: 'A device waits at least a second after a refusal before it asks again.',
    source: 'Device authentication; Errors: 429',
    looksAt: 'pauses after a 401 or 403 of the authentication request; the third short one counts',
    wayOut: 'wait 5 s or more after a refusal, or let the pause grow from 1 s',
    operations: signingIn,
    applies: ({ status }, { client }) => status !== 429 && client.lastAuthentication !== undefined,
    violation: (exchange, { client }) => {
      const isThird = client.hastyAuthentications === HASTY_MAX;
      if (!isThird || !client.isHastyAuthentication(exchange)) return undefined;
      const seen = 'less, three times in a row';
      return { where: 'the pause after a refusal', must: 'last 1 s or more', seen };
    },
  },
  {
    id: 'auth.renews-on-401',
    level: 'must',
    sentence: 'A device signs in again after a 401, before it repeats the operation.',
    source: 'Authentication, rule 3',
    looksAt: '401 of one operation without an authentication request; one repeat is excused',
    wayOut: 'take a 401 of any operation as the end of the token: sign in, then repeat',
    scene: 'revocation',
    applies: ({ row, status }, { client }) =>
      row.id === 'post-auth-request'
        ? client.unauthorized.size > 0
        : status === 401 && isOfDevice(row) && row.authorization === 'device',
    violation: ({ row }, { client }) => {
      if (client.unauthorized.get(row.id) !== REPEATS_UNDERWAY_MAX) return undefined;
      const seen = 'another 401, the third without one';
      return { where: 'a 401', must: 'lead to an authentication request', seen };
    },
  },
  {
    id: 'auth.tenant-token-kept',
    level: 'should',
    sentence: 'A device that has sent a tenant token sends the same one each time.',
    source: 'AuthRequest: tenant_token',
    looksAt: 'the member tenant_token of authentication requests',
    wayOut: 'read the tenant token from the configuration for every request',
    operations: signingIn,
    concerns: ({ lastAuthentication: last }) => last?.tenantToken !== undefined,
    applies: (_, { client }) => client.lastAuthentication?.tenantToken !== undefined,
    violation: ({ sent }, { client }) =>
      membersOf(sent).tenant_token === client.lastAuthentication?.tenantToken
        ? undefined
        : { where: 'tenant_token', must: 'stay the same', seen: 'another one, or none' },
  },
  {
    id: 'auth.stops-hammering-when-rejected',
    level: 'should',
    sentence: 'A device that is refused does not ask ever faster.',
    source: 'States and transitions; Errors: 403',
    looksAt: 'pauses after refusals of the authentication request',
    wayOut: 'keep the interval after a 401 or 403, or let it grow',
    scene: 'rejection',
    operations: signingIn,
    applies: (_, { client }) => client.lastRefusalPauseMs !== undefined,
    violation: (exchange, { client }) => {
      const pause = pauseMs(client.lastAuthentication, exchange);
      const isShorter = pause !== undefined && pause < (client.lastRefusalPauseMs ?? 0) / 2;
      if (!isShorter || client.shrinkingPauses !== SHRINKING_MAX - 1) return undefined;
      return { where: 'the pause after a refusal', must: 'not shrink', seen: 'half of it, twice' };
    },
  },
  {
    id: 'auth.no-needless-renewal',
    level: 'observed',
    sentence: 'A device signs in while its token is still accepted, or does not.',
    source: 'Authentication, rule 3',
    looksAt: 'the number of authentication requests that were answered 200',
    wayOut: 'keep the token until an operation is answered 401',
    observation: ({ signIns }) => (signIns > 0 ? `${signIns} tokens were issued` : undefined),
  },
  {
    id: 'auth.survives-503',
    level: 'should',
    sentence: 'A device retries a sign-in that failed, after a pause.',
    source: 'Errors: 500; RFC 9110, 15.6.4',
    looksAt: 'authentication requests after a 5xx or a cut connection',
    wayOut: 'retry after 1 s or more, and let the pause grow',
    scene: 'sign-in-outage',
    operations: signingIn,
    applies: (exchange, { client }) => client.failures.has(exchange.row.id),
    violation: (exchange, { client }) => retryProblem(exchange, client),
  },
];

/** Whether the device reacts to what the server decides. */
const reactionDuties: readonly Duty[] = [
  {
    id: 'auth.recovers-from-rejection',
    level: 'should',
    sentence: 'A device that is accepted again after a rejection comes back by itself.',
    source: 'States and transitions',
    looksAt: 'a sign-in after the acceptance of a device that was refused',
    wayOut: 'go on asking after a 401 or 403, at the interval',
    scene: 'rejection',
    sequence: {
      begins: { acts: ['rejected'] },
      keeps: { exchange: ({ row, status }) => row.id === 'post-auth-request' && status === 200 },
      lapses: { acts: ['decommissioned', 'client-killed', 'scene-ended'] },
      must: 'sign in after it was accepted again',
    },
  },
  {
    id: 'auth.keeps-asking',
    level: 'must',
    sentence: 'A device that is pending asks again until it is accepted.',
    source: 'States and transitions: a subsequent authentication request reflects the decision',
    looksAt: 'the authentication request after a 401',
    wayOut: 'ask again after a 401, at an interval, as long as the device runs',
    scene: 'pending',
    sequence: {
      begins: {
        exchange: ({ row, status }, m) => isSignIn(row) && status === 401 && isAnswered(m.event),
      },
      keeps: { exchange: ({ row }) => isSignIn(row) },
      lapses: { acts: ['client-killed', 'decommissioned'] },
      must: 'ask again after a 401',
    },
  },
  {
    id: 'auth.reads-token-plain',
    level: 'must',
    sentence: 'A device uses the body of the 200 as the token, as it is.',
    source: 'Device authentication: 200 body is a JWT as a plain string',
    looksAt: 'the Authorization header of the requests after a sign-in',
    wayOut: 'send the bytes of the body, without quotes, line ends or escapes',
    applies: ({ row, token }, { client }) =>
      row.authorization === 'device' &&
      token !== undefined &&
      token !== MASK &&
      client.tokens.size > 0,
    violation: ({ token = '' }, { client }) => {
      const bare = token.replaceAll(/^["'\s]+|(?:["'\s]|\\n|%0A)+$/gi, '');
      if (client.tokens.has(digestOf(token)) || !client.tokens.has(digestOf(bare)))
        return undefined;
      return {
        where: 'the token',
        must: 'be sent as it was issued',
        seen: 'quotes or white space',
      };
    },
  },
  {
    id: 'auth.renews-on-expiry',
    level: 'must',
    sentence: 'A device renews an expired token, and sends it at most once more.',
    source: 'Authentication, rule 3; States and transitions',
    looksAt: 'requests with a token whose time is over',
    wayOut: 'sign in when an operation answers 401, whatever the age of the token',
    scene: 'token-expiry',
    sequence: {
      begins: {
        exchange: (exchange, { event }) =>
          isAnswered(event) && isRefusedAsExpired(exchange, event.serverNowMs),
      },
      keeps: { exchange: ({ row }) => isSignIn(row) },
      breaks: (exchange, { client, event }) => {
        const times = client.unauthorized.get(exchange.row.id) ?? 0;
        const isThird =
          isRefusedAsExpired(exchange, event.serverNowMs) && times === REPEATS_UNDERWAY_MAX;
        if (!isThird) return undefined;
        return { where: 'an expired token', must: 'be renewed', seen: 'a third 401 with it' };
      },
      lapses: { acts: ['client-killed'] },
      must: 'sign in after its token expired',
    },
  },
  {
    id: 'auth.new-token-used',
    level: 'should',
    sentence: 'A device stops using a token once it has a newer one.',
    source: 'Authentication, rule 3',
    looksAt: 'the Authorization header after a renewal',
    wayOut: 'replace the token in every process and connection',
    scene: 'token-expiry',
    applies: ({ token, row }, { client, event }) =>
      row.authorization === 'device' &&
      token !== undefined &&
      client.tokens.size > 1 &&
      client.tokens.has(digestOf(token)) &&
      (digestOf(token) === client.tokens.newest?.[0] ||
        !isUnderway(event, client.tokens.newest?.[1] ?? 0)),
    violation: ({ token = '' }, { client }) => {
      const name = digestOf(token);
      if (name === client.tokens.newest?.[0]) return undefined;
      if ((client.staleUses.get(name) ?? 0) !== REPEATS_UNDERWAY_MAX) return undefined;
      return { where: 'the former token', must: 'not be used', seen: 'a third request with it' };
    },
  },
  {
    id: 'auth.token-opaque',
    level: 'should',
    sentence: 'A device takes any token of up to 4 KB without looking into it.',
    source: 'Authentication, rule 1',
    looksAt: 'the request after a token of another length, algorithm or with unknown claims',
    wayOut: 'store the token as text of any length, and never parse it',
    scene: 'other-token',
    sequence: {
      begins: { exchange: (exchange) => isSignIn(exchange.row) && isUnusualToken(exchange) },
      keeps: {
        exchange: ({ row, token }, { client }) =>
          row.authorization === 'device' &&
          token !== undefined &&
          digestOf(token) === client.tokens.newest?.[0],
      },
      lapses: { acts: ['client-killed'] },
      must: 'use the token that it was given',
    },
  },
  {
    id: 'auth.clock-wrong',
    level: 'should',
    sentence: 'A device works although its clock and the clock of the server are years apart.',
    source: 'Authentication, rule 3',
    looksAt: 'polls after the clock of the server was moved by years',
    wayOut: 'judge a token by the answers to it, not by the clock of the device',
    scene: 'clock-wrong',
    sequence: {
      begins: {
        exchange: (_, { client, event }) =>
          Math.abs(event.serverNowMs - (client.serverNowMs ?? event.serverNowMs)) > YEAR_MS,
      },
      keeps: { exchange: ({ row, isSuccess }) => polls.includes(row.id) && isSuccess },
      lapses: { acts: ['client-killed'] },
      must: 'poll although the clock of the server was moved by years',
    },
  },
];

export const authenticationDuties: readonly Duty[] = [
  ...credentialDuties,
  ...requestDuties,
  ...reactionDuties,
];

function isSignIn({ id }: JudgedExchange['row']): boolean {
  return id === 'post-auth-request';
}

/** Returns the signature of a request; the prefix of its header differs between vendors. */
function signatureIn({ request: { headers } }: JudgedExchange): string | undefined {
  return Object.entries(headers).find(([name]) => /^x-[a-z0-9-]+-signature$/.test(name))?.[1];
}

function claimsOf(token: string | undefined): Readonly<Record<string, unknown>> {
  const [, claims = ''] = token?.split('.') ?? [];
  return membersOf(parsedJson(Buffer.from(claims, 'base64url').toString('utf8')));
}

function isRefusedAsExpired({ token, row, status }: JudgedExchange, nowMs: number): boolean {
  if (status !== 401 || row.authorization !== 'device') return false;
  const { exp } = claimsOf(token);
  return typeof exp === 'number' && exp * 1000 < nowMs;
}

/** Returns true for a token of more than 2 KB, or by an algorithm other than the family's. */
function isUnusualToken({ answer, status }: JudgedExchange): boolean {
  if (status !== 200) return false;
  const [head = ''] = answer.text.split('.');
  const { alg } = membersOf(parsedJson(Buffer.from(head, 'base64url').toString('utf8')));
  return (
    answer.bytes.length > 2048 || (typeof alg === 'string' && !['RS256', 'EdDSA'].includes(alg))
  );
}

/** Returns the length of the RSA key in a request; undefined for another key or none. */
function rsaBits({ sent }: JudgedExchange): number | undefined {
  const { pubkey } = membersOf(sent);
  if (typeof pubkey !== 'string' || !pubkey.includes('BEGIN PUBLIC KEY')) return undefined;
  try {
    return createPublicKey(pubkey).asymmetricKeyDetails?.modulusLength;
  } catch {
    // Not a key: the server refuses it and says why.
    return undefined;
  }
}
