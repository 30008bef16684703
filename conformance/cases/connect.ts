/** Cases: the persistent connection of a device. Spec: Device connect */
import { createHash } from 'node:crypto';
import { defineScenario } from '../case.ts';
import {
  expectEach,
  expectEqual,
  expectStatus,
  expectThat,
  observed,
  shown,
} from '../expectations.ts';
import type { Stage } from '../stage/stage.ts';
import { acceptedDevice } from '../stage/start-states.ts';
import { bearer } from '../target/call.ts';
import type { Headers } from '../target/exchange.ts';
import type { UpgradeAnswer } from '../target/target.ts';
import { forged } from '../target/token-claims.ts';

/** Added to the key before it is hashed. RFC 6455, section 1.3 */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Any 16 bytes in Base64 are a key. */
const key = Buffer.from('sixteen bytes ok').toString('base64');

/** What a websocket client sends. RFC 6455, section 4.1 */
const upgradeHeaders: Headers = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': key,
  'sec-websocket-version': '13',
};

/** Asks for an upgrade with exactly these headers; the socket, if any, is closed in the end. */
async function ask(stage: Stage, headers: Headers): Promise<UpgradeAnswer> {
  const request = stage.caller().request('connect', { headers });
  const answer = await stage.session.upgrade(request);
  stage.ownership.owns('socket', async () => {
    answer.socket?.destroy();
  });
  return answer;
}

function without(name: string): Headers {
  return Object.fromEntries(Object.entries(upgradeHeaders).filter(([each]) => each !== name));
}

const refusedCaller = defineScenario({
  area: 'connect',
  name: 'No token',
  start: 'a caller without any token',
  risk: 'read',
  arrange: (stage) => stage,
  cases: [
    {
      id: 'missing-token-is-401',
      title: 'An upgrade without a token is answered 401, as HTTP.',
      requirements: ['tokens.missing-is-401'],
      covers: ['connect 401'],
      run: async (stage) => expectStatus(await ask(stage, upgradeHeaders), 401),
    },
  ],
});

const handshake = defineScenario({
  area: 'connect',
  name: 'The handshake',
  start: 'an accepted device with a token',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'upgrade-is-101',
      title: 'An upgrade with a Bearer token is answered 101 with Upgrade: websocket.',
      requirements: ['connect.switches-protocols'],
      covers: ['connect 101'],
      run: async ({ token }, stage) => {
        const answer = await ask(stage, { ...upgradeHeaders, ...bearer(token) });
        expectStatus(answer, 101);
        expectEqual('Upgrade', answer.headers.upgrade?.toLowerCase(), 'websocket');
      },
    },
    {
      id: 'accept-answers-the-key',
      title: 'Sec-Websocket-Accept is the Base64 of the SHA-1 of the key and a fixed suffix.',
      requirements: ['connect.accept-answers-the-key'],
      run: async ({ token }, stage) => {
        const answer = await ask(stage, { ...upgradeHeaders, ...bearer(token) });
        expectStatus(answer, 101);
        const accept = createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64');
        expectEqual('Sec-Websocket-Accept', answer.headers['sec-websocket-accept'], accept);
      },
    },
    {
      id: 'cookie-is-101',
      title: 'The token may come in the cookie JWT instead of the Authorization header.',
      requirements: ['connect.cookie'],
      run: async ({ token }, stage) =>
        expectStatus(await ask(stage, { ...upgradeHeaders, cookie: `JWT=${token}` }), 101),
    },
    {
      id: 'forged-token-is-401',
      title: 'A token whose signature was changed is answered 401, as header and as cookie.',
      requirements: ['tokens.invalid-is-401'],
      run: async ({ token }, stage) => {
        const stolen = forged(token);
        const places = { header: bearer(stolen), cookie: { cookie: `JWT=${stolen}` } };
        await expectEach(401, places, (place) => ask(stage, { ...upgradeHeaders, ...place }));
      },
    },
    {
      id: 'no-upgrade-is-400',
      title: 'A request that does not ask for an upgrade to websocket is answered 400.',
      requirements: ['connect.upgrade-is-needed'],
      covers: ['connect 400'],
      run: async ({ token }, stage) => expectStatus(await ask(stage, bearer(token)), 400),
    },
    {
      id: 'other-version-is-400',
      title: 'A websocket version other than 13, such as 8, is answered 400.',
      requirements: ['connect.version-13-only'],
      run: async ({ token }, stage) => {
        await expectEach(400, { 'version 8': '8', 'version 14': '14' }, (version) =>
          ask(stage, { ...upgradeHeaders, ...bearer(token), 'sec-websocket-version': version }),
        );
      },
    },
    {
      id: 'missing-key-is-400',
      title: 'An upgrade without Sec-Websocket-Key is answered 400.',
      requirements: ['connect.key-is-needed'],
      run: async ({ token }, stage) => {
        const headers = { ...without('sec-websocket-key'), ...bearer(token) };
        expectStatus(await ask(stage, headers), 400);
      },
    },
  ],
});

const connected = defineScenario({
  area: 'connect',
  name: 'An open connection',
  start: 'a device with an open connection',
  risk: 'write',
  needs: ['operator'],
  arrange: async (stage) => {
    const device = await acceptedDevice(stage);
    return { device, socket: await stage.openSocket(device) };
  },
  cases: [
    {
      id: 'connected-is-shown',
      title: 'Users see the device as connected.',
      requirements: ['connect.makes-available'],
      run: async ({ device }, stage) => {
        const status = await stage.settled(
          () => stage.operator.connection(device.id),
          (shownStatus) => shownStatus === 'connected',
        );
        expectEqual('status', status, 'connected');
      },
    },
    {
      id: 'ping-gets-pong',
      title: 'A ping is answered with a pong that holds the same data.',
      requirements: ['connect.pong'],
      run: async ({ socket }) => {
        const data = Buffer.from('60');
        const answer = await socket.ping(data);
        expectThat(answer.equals(data), shown(data.toString()), shown(answer.toString()));
      },
    },
    {
      id: 'disconnected-is-shown',
      title: 'After the device has closed the connection users see it as disconnected.',
      requirements: ['connect.ends-available'],
      run: async ({ device, socket }, stage) => {
        await socket.close();
        const status = await stage.settled(
          () => stage.operator.connection(device.id),
          (shownStatus) => shownStatus === 'disconnected',
        );
        expectEqual('status', status, 'disconnected');
      },
    },
    {
      id: 'second-connection',
      title: 'What happens to the connection when the device opens a second one.',
      requirements: ['connect.second-connection'],
      observe: async ({ device, socket }, stage) => {
        await stage.openSocket(device);
        const isClosed = await stage.settled(
          async () => socket.isClosed(),
          (closed) => closed,
        );
        return observed(isClosed ? 'the first one is closed' : 'both stay open');
      },
    },
  ],
});

/** Spec: Device connect */
export const connectCases = [...refusedCaller, ...handshake, ...connected];
