/** Duties of the identity, the key and the signature of a device. Spec: Device authentication */
import { createPublicKey } from 'node:crypto';
import { parsedJson } from '../../../fixtures/base/json.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { keyTypeOf } from '../../signing/verify.ts';
import { describeValue } from '../../target/expectations.ts';
import { isMap, membersOf } from '../../target/json-members.ts';
import type { Duty, DutyHistory } from '../duty.ts';
import { digestOf, identityIn, isDeviceOperation } from '../exchange-facts.ts';
import { doubledName } from '../json-names.ts';
import { holdsSecret, MASK } from '../secret-text.ts';

const RSA_MIN_BITS = 2048;
/** A key that is used again is no folder that was cleaned. */
const KEY_TURNS_MAX = 3;

const authentication = ['post-auth-request'];

export const credentialDuties: readonly Duty[] = [
  {
    id: 'auth.signs-exact-bytes',
    level: 'must',
    sentence: 'A device signs the bytes of the authentication request as it sends them.',
    source: 'Device authentication; Authentication, rule 6',
    evidence: 'signature header, body and key of an authentication request',
    exemptions: 'a body of which only the value is known, as in a journal',
    remedy: 'serialize the body once, sign those bytes, and send the same bytes',
    operations: authentication,
    applies: (exchange, { event }) => {
      const { pubkey } = membersOf(exchange.requestJson);
      const isKnown = event.requestBody !== undefined && event.isVerbatim !== false;
      if (!isKnown || typeof pubkey !== 'string') return false;
      return keyTypeOf(pubkey) !== undefined && signatureIn(exchange) !== MASK;
    },
    violation: (exchange, { event, fleet }) => {
      const { requestBody: body = Buffer.alloc(0) } = event;
      const signature = signatureIn(exchange);
      const actual =
        signature === undefined
          ? 'a request without a signature header'
          : fleet.signatureProblem(String(membersOf(exchange.requestJson).pubkey), body, signature);
      if (actual === undefined) return undefined;
      return {
        part: 'the signature',
        expected: 'verify over the body with the key in it',
        actual,
      };
    },
  },
  {
    id: 'auth.key-supported',
    level: 'must',
    sentence: 'A device has an RSA, P-256 or Ed25519 key, and sends it as PEM.',
    source: 'AuthRequest: pubkey',
    evidence: 'the public key in an authentication request',
    remedy: 'write the key as SubjectPublicKeyInfo between BEGIN PUBLIC KEY lines',
    operations: authentication,
    applies: ({ requestJson }) => {
      const { pubkey } = membersOf(requestJson);
      return typeof pubkey === 'string' && !holdsSecret(pubkey);
    },
    violation: ({ requestJson }) =>
      keyTypeOf(String(membersOf(requestJson).pubkey)) !== undefined
        ? undefined
        : {
            part: 'pubkey',
            expected: 'be an RSA, P-256 or Ed25519 key in PEM',
            actual: 'another text',
          },
  },
  {
    id: 'auth.body-fields',
    level: 'must',
    sentence:
      'A device sends the fields of an authentication request as strings, in one JSON object.',
    source: 'AuthRequest; RFC 8259, 4 and 8',
    evidence: 'the members of an authentication request',
    remedy: 'put the identity as JSON text into the string id_data, and each name once',
    operations: authentication,
    applies: ({ requestJson }) => isMap(requestJson),
    violation: ({ requestJson }, { event }) => {
      const { id_data: identity, pubkey, ...rest } = membersOf(requestJson);
      const violationIn = (what: string) => ({ part: what, expected: 'be a string' });
      if (typeof pubkey !== 'string')
        return { ...violationIn('pubkey'), actual: describeValue(pubkey) };
      if (typeof identity !== 'string')
        return { ...violationIn('id_data'), actual: describeValue(identity) };
      if (identity !== MASK && !isMap(parsedJson(identity))) {
        return { part: 'id_data', expected: 'hold a JSON object', actual: describeValue(identity) };
      }
      const optional = ['tenant_token', 'external_id'].find(
        (name) => rest[name] !== undefined && typeof rest[name] !== 'string',
      );
      if (optional !== undefined)
        return { ...violationIn(optional), actual: describeValue(rest[optional]) };
      const twice = event.isVerbatim === false ? undefined : doubledName(event.requestBody);
      if (twice === undefined) return undefined;
      return {
        part: 'each name',
        expected: 'appear once',
        actual: `${describeValue(twice)} twice`,
      };
    },
  },
  {
    id: 'auth.identity-stable',
    level: 'must',
    sentence: 'A device has the same identity in every authentication request.',
    source: 'AuthRequest: id_data is the identity of the device',
    evidence: 'identity and key in the authentication requests of one device',
    remedy: 'build id_data from what never changes: no time, no address that is assigned',
    operations: authentication,
    applies: ({ requestJson }, { client }) =>
      identityIn(requestJson) !== undefined &&
      client.authentication.lastRequest?.identity !== undefined,
    violation: ({ requestJson }, { client }) => {
      const { identity = '', key = '' } = identityIn(requestJson) ?? {};
      const { lastRequest } = client.authentication;
      if (lastRequest?.identity === digestOf(identity) || lastRequest?.key !== digestOf(key))
        return undefined;
      return { part: 'id_data', expected: 'stay the same', actual: describeValue(identity) };
    },
  },
  {
    id: 'auth.key-survives-restart',
    level: 'must',
    sentence: 'A device keeps its key over a restart.',
    source: 'Device authentication; States and transitions',
    evidence: 'the key in the first authentication request after a restart',
    exemptions: 'a folder that was cleaned',
    remedy: 'store the key before it is first used, in a place that survives',
    scene: 'restart-while-pending',
    operations: authentication,
    applies: ({ requestJson }, { client }) =>
      client.authentication.isRestarted &&
      client.authentication.lastRequest?.key !== undefined &&
      identityIn(requestJson) !== undefined,
    violation: ({ requestJson }, { client }) =>
      digestOf(identityIn(requestJson)?.key ?? '') === client.authentication.lastRequest?.key
        ? undefined
        : { part: 'the key', expected: 'survive a restart', actual: 'a new one' },
  },
  {
    id: 'auth.key-strong',
    level: 'should',
    sentence: 'A device with an RSA key has one of 2048 bits or more.',
    source: 'Device authentication; NIST SP 800-57 part 1, 5.6.1',
    evidence: 'the public key in an authentication request',
    remedy: 'generate an RSA key of 2048 bits or more, or an Ed25519 or P-256 key',
    operations: authentication,
    applies: ({ requestJson }) => keyTypeOf(String(membersOf(requestJson).pubkey)) !== undefined,
    violation: (exchange) => {
      const bits = rsaBits(exchange);
      if (bits === undefined || bits >= RSA_MIN_BITS) return undefined;
      return {
        part: 'the RSA key',
        expected: `have ${RSA_MIN_BITS} bits or more`,
        actual: `${bits}`,
      };
    },
  },
  {
    id: 'auth.sends-only-public',
    level: 'must',
    sentence: 'A device keeps its private key to itself.',
    source: 'AuthRequest: pubkey is the public key',
    evidence: 'the member pubkey of an authentication request, and every body',
    remedy: 'send only the public key, as PEM SubjectPublicKeyInfo, and replace the revealed key',
    applies: ({ operation, requestJson }, { event }) =>
      isDeviceOperation(operation) &&
      (typeof membersOf(requestJson).pubkey === 'string' || holdsPrivateKey(event)),
    violation: ({ operation, requestJson }, { event }) => {
      if (
        authentication.includes(operation.id) &&
        holdsSecret(String(membersOf(requestJson).pubkey))
      )
        return { part: 'pubkey', expected: 'be a public key', actual: 'a private key' };
      if (!holdsPrivateKey(event)) return undefined;
      return { part: 'the body', expected: 'hold no private key', actual: 'one' };
    },
  },
  {
    id: 'auth.identity-unique',
    level: 'should',
    sentence: 'A device uses one key under one identity.',
    source: 'AuthRequest: id_data is the identity of the device',
    evidence: 'identity and key in the authentication requests of all devices',
    remedy: 'generate a key for each device; an image with a key in it makes all devices one',
    operations: authentication,
    applies: ({ requestJson }) => identityIn(requestJson) !== undefined,
    violation: ({ requestJson }, { fleet, client, event }) => {
      const { key, identity } = identityIn(requestJson) ?? { key: '', identity: '' };
      const isTurn = client.authentication.lastRequest?.key !== digestOf(key);
      if (isTurn && client.authentication.keyTurns === KEY_TURNS_MAX - 1) {
        return {
          part: 'the identity',
          expected: 'have one key',
          actual: 'keys in turn, three times',
        };
      }
      const otherIdentity = fleet.otherIdentity(key, identity, event.client);
      // One device that changes its identity breaks another duty.
      if (otherIdentity === undefined || otherIdentity.client === event.client) return undefined;
      const actual = `${describeValue(identity)} and ${otherIdentity.text}`;
      return { part: 'the key', expected: 'belong to one identity', actual };
    },
  },
];

/** Returns the signature of a request; the prefix of its header differs between vendors. */
function signatureIn({ request: { headers } }: JudgedExchange): string | undefined {
  return Object.entries(headers).find(([name]) => /^x-[a-z0-9-]+-signature$/.test(name))?.[1];
}

function holdsPrivateKey({ requestBody }: DutyHistory['event']): boolean {
  return requestBody?.includes('PRIVATE KEY-----') ?? false;
}

/** Returns the length of the RSA key in a request; undefined for another key or none. */
function rsaBits({ requestJson }: JudgedExchange): number | undefined {
  const { pubkey } = membersOf(requestJson);
  if (typeof pubkey !== 'string' || !pubkey.includes('BEGIN PUBLIC KEY')) return undefined;
  try {
    return createPublicKey(pubkey).asymmetricKeyDetails?.modulusLength;
  } catch {
    // Not a key: the server refuses it and says why.
    return undefined;
  }
}
