/** Cases: the handshake of a device's connection. Spec: Device connect */
import { createHash } from 'node:crypto';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { acceptedDevice, requireResponse } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { bearer } from '../../target/call.ts';
import type { Headers } from '../../target/exchange.ts';
import {
  expectEach,
  expectEqual,
  expectStatus,
  expectThat,
  observationOf,
} from '../../target/expectations.ts';
import { forgeToken } from '../../target/token-claims.ts';
import { key, requestUpgrade, upgradeHeaders } from './upgrade-request.ts';

/** Appended to the key before it is hashed. RFC 6455, section 1.3 */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Other 16-byte keys, among them those with the rarer characters of Base64. */
const keys = [
  key,
  'AAAAAAAAAAAAAAAAAAAAAA==',
  '+/+/+/+/+/+/+/+/+/+/+w==',
  'dGhlIHNhbXBsZSBub25jZQ==',
];

const noConnection = upgradeHeadersWithout('connection');
const noUpgrade = upgradeHeadersWithout('upgrade');

function upgradeHeadersWithout(...names: readonly string[]): Headers {
  return Object.fromEntries(
    Object.entries(upgradeHeaders).filter(([each]) => !names.includes(each)),
  );
}

function upgradeHeadersWith(headers: Headers): Headers {
  return { ...upgradeHeaders, ...headers };
}

const refusedCaller = defineScenario({
  area: 'connect',
  name: 'No token',
  start: 'a caller without any token',
  effect: 'read',
  arrange: (context) => context,
  cases: [
    {
      id: 'missing-token-is-401',
      title: 'An upgrade without a token is answered with an HTTP 401.',
      requirements: ['tokens.missing-is-401'],
      covers: ['connect 401'],
      run: async (context) => expectStatus(await requestUpgrade(context, upgradeHeaders), 401),
    },
  ],
});

/** One requirement on the handshake, with requests that violate it, by a description. */
interface HandshakeRequirement {
  readonly id: string;
  readonly requirement: RequirementId;
  readonly title: string;
  readonly requests: Readonly<Record<string, Headers>>;
  readonly statuses: readonly number[];
}

const refusedHandshakes: readonly HandshakeRequirement[] = [
  {
    id: 'no-upgrade-is-400',
    requirement: 'connect.upgrade-is-needed',
    title: 'A request that does not request an upgrade to WebSocket is answered with 400.',
    requests: {
      'neither header': upgradeHeadersWithout('connection', 'upgrade'),
      'no Connection': noConnection,
      'no Upgrade': noUpgrade,
      'none of the four': {},
    },
    statuses: [400],
  },
  {
    id: 'other-version-is-refused',
    requirement: 'connect.version-13-only',
    title: 'A WebSocket version other than 13 is answered with 400 or 426.',
    requests: {
      'version 0': upgradeHeadersWith({ 'sec-websocket-version': '0' }),
      'version 8': upgradeHeadersWith({ 'sec-websocket-version': '8' }),
      'version 12': upgradeHeadersWith({ 'sec-websocket-version': '12' }),
      'version 14': upgradeHeadersWith({ 'sec-websocket-version': '14' }),
      'version thirteen': upgradeHeadersWith({ 'sec-websocket-version': 'thirteen' }),
      'version 130': upgradeHeadersWith({ 'sec-websocket-version': '130' }),
    },
    statuses: [400, 426],
  },
  {
    id: 'missing-version-is-refused',
    requirement: 'connect.version-is-needed',
    title: 'An upgrade without Sec-Websocket-Version is answered with 400 or 426.',
    requests: { 'no version': upgradeHeadersWithout('sec-websocket-version') },
    statuses: [400, 426],
  },
  {
    id: 'missing-key-is-400',
    requirement: 'connect.key-is-needed',
    title: 'An upgrade without Sec-Websocket-Key is answered with 400.',
    requests: { 'no key': upgradeHeadersWithout('sec-websocket-key') },
    statuses: [400],
  },
  {
    id: 'malformed-key-is-400',
    requirement: 'connect.key-is-16-bytes',
    title: 'A Sec-Websocket-Key that is not 16 bytes in Base64 is answered with 400.',
    requests: {
      'an empty key': upgradeHeadersWith({ 'sec-websocket-key': '' }),
      'a key of 15 bytes': upgradeHeadersWith({
        'sec-websocket-key': Buffer.alloc(15).toString('base64'),
      }),
      'a key of 17 bytes': upgradeHeadersWith({
        'sec-websocket-key': Buffer.alloc(17).toString('base64'),
      }),
      'no Base64': upgradeHeadersWith({ 'sec-websocket-key': 'sixteen bytes ok, but plain' }),
      'no padding': upgradeHeadersWith({ 'sec-websocket-key': key.replaceAll('=', '') }),
    },
    statuses: [400],
  },
];

function refusedCase({ id, requirement, title, requests, statuses }: HandshakeRequirement) {
  const judging: JudgingCase<SuiteDevice> = {
    id,
    title,
    requirements: [requirement],
    ...(id === 'no-upgrade-is-400' ? { covers: ['connect 400'] as const } : {}),
    run: async ({ token }, context) => {
      for (const [name, headers] of Object.entries(requests)) {
        const { status } = await requestUpgrade(context, { ...headers, ...bearer(token) });
        const expected = `${statuses.join(' or ')} for ${name}`;
        expectThat(statuses.includes(status), expected, String(status));
      }
    },
  };
  return judging;
}

/** Returns the headers of a successful handshake. */
async function handshakeHeaders(
  context: TestContext,
  { token }: SuiteDevice,
  headers: Headers = {},
) {
  const response = await requestUpgrade(context, {
    ...upgradeHeaders,
    ...headers,
    ...bearer(token),
  });
  requireResponse('connect', response, 101);
  return response.headers;
}

const handshake = defineScenario({
  area: 'connect',
  name: 'The handshake',
  start: 'an accepted device with a token',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'upgrade-is-101',
      title: 'An upgrade with a Bearer token is answered with 101.',
      requirements: ['connect.switches-protocols'],
      covers: ['connect 101'],
      run: async ({ token }, context) =>
        expectStatus(await requestUpgrade(context, { ...upgradeHeaders, ...bearer(token) }), 101),
    },
    {
      id: 'response-names-websocket',
      title: 'The 101 has the header Upgrade: websocket.',
      requirements: ['connect.response-upgrade'],
      run: async (device, context) => {
        const { upgrade } = await handshakeHeaders(context, device);
        expectEqual('Upgrade', upgrade?.toLowerCase(), 'websocket');
      },
    },
    {
      id: 'response-names-the-upgrade',
      title: 'The 101 has the header Connection: Upgrade.',
      requirements: ['connect.response-connection'],
      run: async (device, context) => {
        const { connection = '' } = await handshakeHeaders(context, device);
        const connectionOptions = connection
          .toLowerCase()
          .split(',')
          .map((word) => word.trim());
        expectThat(connectionOptions.includes('upgrade'), 'Connection: Upgrade', connection);
      },
    },
    {
      id: 'accept-matches-the-key',
      title: 'Sec-Websocket-Accept is the Base64 of the SHA-1 of the key and a fixed suffix.',
      requirements: ['connect.accept-matches-the-key'],
      run: async (device, context) => {
        for (const each of keys) {
          const headers = await handshakeHeaders(context, device, { 'sec-websocket-key': each });
          const accept = createHash('sha1').update(`${each}${acceptSuffix}`).digest('base64');
          expectEqual('Sec-Websocket-Accept', headers['sec-websocket-accept'], accept);
        }
      },
    },
    {
      id: 'no-subprotocol-unrequested',
      title: 'A device that requests no subprotocol gets none.',
      requirements: ['connect.no-subprotocol'],
      run: async (device, context) => {
        const headers = await handshakeHeaders(context, device);
        expectEqual('Sec-Websocket-Protocol', headers['sec-websocket-protocol'], undefined);
      },
    },
    {
      id: 'no-extension-unrequested',
      title: 'A device that requests no extension gets none.',
      requirements: ['connect.no-extension'],
      run: async (device, context) => {
        const headers = await handshakeHeaders(context, device);
        expectEqual('Sec-Websocket-Extensions', headers['sec-websocket-extensions'], undefined);
      },
    },
    {
      id: 'header-words-count-in-any-case',
      title: 'Connection: keep-alive, UPGRADE and Upgrade: WebSocket also request a WebSocket.',
      requirements: ['connect.header-words'],
      run: async ({ token }, context) => {
        const forms = {
          'capitals in Upgrade': { upgrade: 'WebSocket' },
          'capitals in Connection': { connection: 'UPGRADE' },
          'two words in Connection': { connection: 'keep-alive, Upgrade' },
        };
        await expectEach(101, forms, (form) =>
          requestUpgrade(context, { ...upgradeHeadersWith(form), ...bearer(token) }),
        );
      },
    },
    {
      id: 'cookie-is-101',
      title: 'The token may come in the cookie JWT instead of the Authorization header.',
      requirements: ['connect.cookie'],
      run: async ({ token }, context) =>
        expectStatus(
          await requestUpgrade(context, upgradeHeadersWith({ cookie: `JWT=${token}` })),
          101,
        ),
    },
    {
      id: 'cookie-among-others-is-101',
      title: 'The cookie JWT is found before and after other cookies.',
      requirements: ['connect.cookie-among-others'],
      run: async ({ token }, context) => {
        const cookies = {
          'before another': `JWT=${token}; theme=dark`,
          'after others': `theme=dark; XJWT=none; JWT=${token}`,
        };
        await expectEach(101, cookies, (cookie) =>
          requestUpgrade(context, upgradeHeadersWith({ cookie })),
        );
      },
    },
    {
      id: 'forged-token-is-401',
      title:
        'A token with an altered signature is answered with 401, in the header and in the cookie.',
      requirements: ['tokens.invalid-is-401'],
      run: async ({ token }, context) => {
        const stolen = forgeToken(token);
        const locations = {
          header: bearer(stolen),
          cookie: { cookie: `JWT=${stolen}` },
          'another cookie': { cookie: `TOKEN=${token}` },
        };
        await expectEach(401, locations, (location) =>
          requestUpgrade(context, upgradeHeadersWith(location)),
        );
      },
    },
    ...refusedHandshakes.map(refusedCase),
    {
      id: 'other-protocol-opens-no-websocket',
      title: 'An upgrade to h2c, or to a word that starts like WebSocket, opens no WebSocket.',
      requirements: ['connect.other-protocol'],
      run: async ({ token }, context) => {
        for (const upgrade of ['h2c', 'websocket2', 'http/2']) {
          const response = await requestUpgrade(context, {
            ...upgradeHeadersWith({ upgrade }),
            ...bearer(token),
          });
          expectThat(response.status !== 101, `no WebSocket for ${upgrade}`, `${response.status}`);
        }
      },
    },
    {
      id: 'headers-that-may-be-absent',
      title: 'What happens without each of the four headers, none of which the contract requires.',
      requirements: ['connect.headers-may-be-absent'],
      observe: async ({ token }, context) => {
        const observations: string[] = [];
        for (const name of Object.keys(upgradeHeaders)) {
          const { status } = await requestUpgrade(context, {
            ...upgradeHeadersWithout(name),
            ...bearer(token),
          });
          observations.push(`without ${name}: ${status}`);
        }
        return observationOf(observations.join(', '));
      },
    },
  ],
});

export const connectCases = [...refusedCaller, ...handshake];
