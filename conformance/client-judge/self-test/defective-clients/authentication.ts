/** Clients that authenticate badly. */
import { generateKeyPairSync } from 'node:crypto';
import { rsaKeyOf } from '../../../signing/rsa.ts';
import {
  all,
  authenticating,
  copyOf,
  type DefectiveClient,
  editSteps,
  everyAuthentication,
  hasLabel,
  insert,
  repeated,
  silentAfter,
} from '../alter.ts';
import { otherKey, type Request } from '../steps.ts';

const weak = rsaKeyOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
export const authentication: readonly DefectiveClient[] = [
  {
    duty: 'auth.signs-exact-bytes',
    description: 'signs the body without the line end that it sends',
    alter: editSteps('first token', (step) => {
      step.sent = `${String(step.sent)}\n`;
    }),
  },
  {
    duty: 'auth.key-supported',
    description: 'sends its key as PKCS #1',
    alter: authenticating(everyAuthentication, (sent) => {
      sent.pubkey = String(sent.pubkey).replaceAll('PUBLIC KEY', 'RSA PUBLIC KEY');
    }),
  },
  {
    duty: 'auth.key-strong',
    description: 'has an RSA key of 1024 bits',
    alter: authenticating(
      everyAuthentication,
      (sent) => {
        sent.pubkey = weak.publicKeyPem;
      },
      weak,
    ),
  },
  {
    duty: 'auth.body-fields',
    description: 'sends its identity as an object instead of a string',
    alter: authenticating('first token', (sent) => {
      sent.id_data = { mac: '02:00:00:00:00:01' };
    }),
  },
  {
    duty: 'auth.identity-stable',
    description: 'writes the time into its identity',
    alter: authenticating('d4: token', (sent) => {
      sent.id_data = '{"mac":"02:00:00:00:00:01","time":2}';
    }),
  },
  {
    duty: 'auth.key-survives-restart',
    description: 'makes a new key at a restart',
    alter: authenticating(
      'pending after restart',
      (sent) => {
        sent.pubkey = otherKey.publicKeyPem;
      },
      otherKey,
    ),
  },
  {
    duty: 'auth.identity-unique',
    description: 'uses two keys in turn under one identity',
    alter: authenticating(
      /^pending [13]|^d4: token/,
      (sent) => {
        sent.pubkey = otherKey.publicKeyPem;
      },
      otherKey,
    ),
    consequences: ['auth.key-survives-restart'],
  },
  {
    duty: 'auth.sends-only-public',
    description: 'sends its private key',
    alter: editSteps('first token', (step) => {
      const requestJson = JSON.parse(String(step.sent));
      requestJson.pubkey = `-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n`;
      step.sent = JSON.stringify(requestJson);
    }),
  },
  {
    duty: 'auth.sends-only-public',
    description: 'sends its private key as an attribute',
    alter: editSteps('first inventory', (step) => {
      const value = '-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n';
      step.sent = [...(step.sent as unknown[]), { name: 'host_key', value }];
    }),
  },
  {
    duty: 'auth.one-at-a-time',
    description: 'sends two authentication requests at once',
    alter: editSteps('pending 2', { afterMs: -40 }),
  },
  {
    duty: 'auth.polite-while-pending',
    description: 'authenticates every 300 ms while pending',
    alter: repeated('pending 2', 6, { afterMs: 300 }),
  },
  {
    duty: 'auth.stops-hammering-when-rejected',
    description: 'authenticates ever faster',
    alter: insert('pending 2', (copy) =>
      [8000, 3900, 1900, 1000].map((afterMs) => ({ ...copyOf(copy), afterMs })),
    ),
  },
  {
    duty: 'auth.reads-token-plain',
    description: 'leaves quotes around the token',
    alter: editSteps('idle 2', (step) => {
      step.headers.Authorization = step.headers.Authorization?.replace(/ (.*)/, ' "$1"') ?? '';
    }),
  },
  {
    duty: 'auth.renews-on-401',
    description: 'repeats a poll that was answered with 401',
    alter: repeated('revoked', 4),
  },
  {
    duty: 'auth.renews-on-expiry',
    description: 'repeats a poll with an expired token',
    alter: repeated('expired', 4),
    consequences: ['auth.renews-on-401'],
  },
  {
    duty: 'auth.new-token-used',
    description: 'goes on with the token that was replaced',
    alter: (steps) => {
      const expiredRequest = steps.find(hasLabel('expired')) as Request;
      return insert('poll after expiry', (copy) =>
        [1, 2, 3, 4].map(() => ({ ...copyOf(copy), headers: { ...expiredRequest.headers } })),
      )(steps);
    },
  },
  {
    duty: 'auth.survives-503',
    description: 'retries a failed authentication request every 200 ms',
    alter: insert('pending 3', (copy) =>
      [1, 2, 3, 4, 5, 6].map((at) => ({
        ...copyOf(copy),
        status: 503,
        afterMs: at === 1 ? 10_000 : 200,
      })),
    ),
  },
  {
    duty: 'auth.survives-503',
    description: 'retries a failed authentication request every 1.5 s',
    alter: insert('pending 3', (copy) =>
      Array.from({ length: 8 }, () => ({ ...copyOf(copy), status: 503, afterMs: 1500 })),
    ),
  },
  {
    duty: 'auth.tenant-token-kept',
    description: 'forgets its tenant token',
    alter: authenticating('d4: token', (sent) => {
      sent.tenant_token = undefined;
    }),
  },
  {
    duty: 'auth.repeats-until-accepted',
    description: 'gives up after a 401',
    alter: silentAfter('pending 2'),
  },
  {
    duty: 'auth.recovers-from-rejection',
    description: 'gives up when it is rejected',
    alter: all(
      insert('idle 2', () => [
        { kind: 'server', label: 'rejected', event: 'rejected', client: 'device-1', afterMs: 100 },
        {
          kind: 'server',
          label: 'accepted again',
          event: 'accepted',
          client: 'device-1',
          afterMs: 100,
        },
      ]),
      silentAfter('accepted again'),
    ),
  },
  {
    duty: 'auth.clock-wrong',
    description: 'does not poll with a token that seems to be from another time',
    alter: all(
      (steps) =>
        steps.map((step) => (step.label === 'clock moved' ? { ...step, about: '3650' } : step)),
      silentAfter('token after expiry'),
    ),
  },
  {
    duty: 'auth.token-opaque',
    description: 'gives up when its token is longer than it expects',
    alter: all(
      editSteps('first token', (step) => {
        step.response = `${String(step.response)}${'x'.repeat(3000)}`;
      }),
      silentAfter('first token'),
    ),
  },
];
