/** Duties of signing in. Spec: Device authentication */
import { createPublicKey } from 'node:crypto';
import { jsonInOrder, parsedJson } from '../../../fixtures/json.ts';
import { shown } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { isOfDevice, pauseMs } from './client-memory.ts';
import { type Duty, holdsSecret } from './duty.ts';

const RSA_MIN_BITS = 2048;
/** A client with two processes may send two hasty requests; a third is a habit. */
const HASTY_MAX = 2;
/** A request and its repeat on another connection may be underway when a token ends. */
const UNAUTHORIZED_MAX = 2;

const signingIn = ['post-auth-request'];

export const authenticationDuties: readonly Duty[] = [
  {
    id: 'auth.key-strong',
    level: 'should',
    sentence: 'A device with an RSA key has one of 2048 bits or more.',
    source: 'Device authentication; NIST SP 800-57 part 1, 5.6.1',
    looksAt: 'the public key in an authentication request',
    wayOut: 'generate an RSA key of 2048 bits or more, or an Ed25519 or P-256 key',
    operations: signingIn,
    applies: (exchange) => rsaBits(exchange) !== undefined,
    violation: (exchange) => {
      const bits = rsaBits(exchange) ?? 0;
      if (bits >= RSA_MIN_BITS) return undefined;
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
    violation: ({ sent }, { fleet }) => {
      const { key, identity } = identityIn(sent) ?? { key: '', identity: '' };
      const other = fleet.otherIdentity(key, identity);
      if (other === undefined) return undefined;
      const seen = `${shown(identity)} and ${other}`;
      return { where: 'the key', must: 'belong to one identity', seen };
    },
  },
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
    applies: ({ row, status }) =>
      status === 401 && isOfDevice(row) && row.authorization === 'device',
    violation: ({ row }, { client }) => {
      if (client.unauthorized.get(row.id) !== UNAUTHORIZED_MAX) return undefined;
      const seen = 'another 401, the third without one';
      return { where: 'a 401', must: 'lead to an authentication request', seen };
    },
  },
];

function identityIn(sent: unknown) {
  const { pubkey: key, id_data: identity } = membersOf(sent);
  if (typeof key !== 'string' || typeof identity !== 'string') return undefined;
  if (holdsSecret(key) || holdsSecret(identity)) return undefined;
  // The order of the members does not matter.
  return { key, identity: jsonInOrder(parsedJson(identity) ?? identity) };
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
