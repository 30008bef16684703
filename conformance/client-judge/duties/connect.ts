/** Duties on WebSockets. Spec: Device connect; RFC 6455 */
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import type { ClientSocketEvent } from '../../../fixtures/control/client-event.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { describeValue } from '../../target/expectations.ts';
import type { Duty } from '../duty.ts';
import { digestOf } from '../exchange-facts.ts';
import { isInFlight } from '../exemptions.ts';
import { MASK } from '../secret-text.ts';
import { messageIn } from '../socket-message.ts';

const KEY_BYTES = 16;
/** A device that reconnects may have both sockets for so long. */
const OVERLAP_MS = 10_000;
const RESPONSE_MS = 10_000;
const FAILURES_MIN = 6;
const MENDER_CLIENT = 4;
const handshakes = ['connect'];

const handshakeDuties: readonly Duty[] = [
  {
    id: 'connect.handshake',
    level: 'must',
    sentence: 'A device opens its WebSocket by a complete handshake.',
    source: 'Device connect; RFC 6455, 4.1',
    evidence: 'method and headers of the handshake',
    remedy: 'send Upgrade: websocket, Connection: Upgrade, version 13 and a key of 16 bytes',
    operations: handshakes,
    applies: () => true,
    violation: (exchange) => {
      const header = (name: string): string => exchange.header(name) ?? '';
      const problem = (part: string, expected: string, actual: string) => ({
        part,
        expected,
        actual,
      });
      if (!/\bwebsocket\b/i.test(header('upgrade'))) {
        return problem('Upgrade', 'be websocket', describeValue(header('upgrade')));
      }
      if (!/\bupgrade\b/i.test(header('connection'))) {
        return problem('Connection', 'name Upgrade', describeValue(header('connection')));
      }
      if (header('sec-websocket-version') !== '13') {
        return problem('the version', 'be 13', describeValue(header('sec-websocket-version')));
      }
      const key = header('sec-websocket-key');
      if (key !== MASK && Buffer.from(key, 'base64').length !== KEY_BYTES) {
        return problem('the key', `be Base64 of ${KEY_BYTES} bytes`, describeValue(key));
      }
      if (header('authorization') !== '' || /\bJWT=/.test(header('cookie'))) return undefined;
      return problem('the token', 'be in Authorization or the cookie JWT', 'neither');
    },
  },
  {
    id: 'connect.key-fresh',
    level: 'must',
    sentence: 'A device chooses a new key for each handshake.',
    source: 'RFC 6455, 4.1: the nonce must be selected randomly',
    evidence: 'the keys of the last handshakes',
    remedy: 'draw 16 random bytes for each handshake',
    operations: handshakes,
    applies: (exchange, { client }) =>
      client.handshakeKeys.size > 0 && exchange.header('sec-websocket-key') !== MASK,
    violation: (exchange, { client }) =>
      client.handshakeKeys.has(digestOf(exchange.header('sec-websocket-key') ?? ''))
        ? { part: 'the key', expected: 'be new', actual: 'that of an earlier handshake' }
        : undefined,
  },
  {
    id: 'connect.backoff',
    level: 'should',
    sentence: 'A device waits longer with each handshake that fails.',
    source: 'RFC 6455, 7.2.3',
    evidence: 'pauses between handshakes that failed',
    exemptions: 'the first attempt, which may be at once',
    remedy: 'double the pause after each failure, up to some minutes, with a random part',
    scene: 'socket-refused',
    operations: handshakes,
    applies: (_, { client }) => (client.retries.failures.get('connect')?.count ?? 0) > 1,
    violation: (exchange, { client }) => {
      const {
        count = 0,
        firstPauseMs = 0,
        endedMs = 0,
      } = client.retries.failures.get('connect') ?? {};
      const pause = exchange.request.sentMs - endedMs;
      if (count !== FAILURES_MIN || pause >= 2 * firstPauseMs) return undefined;
      const actual = `${(pause / 1000).toFixed(1)} s after six failures`;
      return { part: 'the pause', expected: 'grow', actual };
    },
  },
  {
    id: 'connect.renewed-token',
    level: 'should',
    sentence: 'A device opens its WebSocket with its newest token.',
    source: 'Authentication, rules 3 and 7',
    evidence: 'the token of a handshake after a renewal',
    remedy: 'read the token when the handshake is sent, not when the process starts',
    scene: 'socket-closed',
    operations: handshakes,
    applies: (exchange, { client, event }) =>
      client.authentication.tokens.size > 1 &&
      client.authentication.tokens.has(digestOf(tokenOf(exchange))) &&
      (digestOf(tokenOf(exchange)) === client.authentication.tokens.newest?.[0] ||
        !isInFlight(event, client.authentication.tokens.newest?.[1] ?? 0)),
    violation: (exchange, { client }) =>
      digestOf(tokenOf(exchange)) === client.authentication.tokens.newest?.[0]
        ? undefined
        : { part: 'the token', expected: 'be the newest one', actual: 'a former one' },
  },
  {
    id: 'connect.checks-accept',
    level: 'must',
    sentence: 'A device ends a handshake whose Sec-WebSocket-Accept is wrong.',
    source: 'RFC 6455, 4.1: fail the connection',
    evidence: 'messages on a WebSocket whose handshake was altered',
    remedy: 'compute the value from the key, and close on a difference',
    scene: 'socket-wrong-accept',
    reaction: {
      dueAfter: {
        exchange: ({ operation }, { event }) =>
          handshakes.includes(operation.id) && event.alteration === 'accept-header',
      },
      metBy: {
        socket: ({ event }) => event === 'closed',
        exchange: ({ operation }) => handshakes.includes(operation.id),
      },
      expected: 'close the WebSocket',
    },
    socket: ({ event, from }, { client }) =>
      event === 'message' && from === 'device' && client.due.has('connect.checks-accept')
        ? { part: 'a wrong handshake', expected: 'be ended', actual: 'a message' }
        : undefined,
  },
];

const frameDuties: readonly Duty[] = [
  {
    id: 'connect.masks',
    level: 'must',
    sentence: 'A device masks its frames.',
    source: 'RFC 6455, 5.1 and 5.3',
    evidence: 'the frames of the device',
    remedy: 'mask every frame with four new random bytes',
    socket: (event) => {
      if (event.from !== 'device' || !isFrame(event)) return undefined;
      if (event.violation === undefined || !/mask/i.test(event.violation)) return 'met';
      return { part: 'a frame', expected: 'be masked', actual: event.violation };
    },
  },
  {
    id: 'connect.pong',
    level: 'must',
    sentence: 'A device answers a ping with its payload.',
    source: 'RFC 6455, 5.5.2 and 5.5.3',
    evidence: 'the pong after a ping of the server',
    exemptions: 'a WebSocket that was closed',
    remedy: 'send a pong with the same bytes at once, also while a message is handled',
    scene: 'websocket',
    reaction: {
      dueAfter: { socket: ({ event, from }) => event === 'ping' && from === 'server' },
      metBy: { socket: ({ event, from }) => event === 'pong' && from === 'device' },
      cancelledBy: {
        socket: ({ event }) => event === 'closed' || event === 'opened',
        serverEvents: ['client-killed', 'server-restarted'],
      },
      expected: 'answer the ping',
    },
    socket: ({ event, from, payload, atMs }, { client }) => {
      const duePong = client.due.get('connect.pong');
      if (duePong === undefined || from !== 'device') return undefined;
      if (event !== 'pong') {
        const isLate = event === 'message' && atMs - duePong.sinceMs > RESPONSE_MS;
        return isLate
          ? { part: 'a ping', expected: 'be answered in 10 s', actual: 'a message' }
          : undefined;
      }
      const isSame = client.pingPayload === undefined || payload?.equals(client.pingPayload);
      return isSame
        ? undefined
        : { part: 'a pong', expected: 'repeat the payload', actual: 'other bytes' };
    },
  },
  {
    id: 'connect.pings',
    level: 'observed',
    sentence: 'Whether a device sends pings of its own.',
    source: 'RFC 6455, 5.5.2',
    evidence: 'the pings of the device',
    remedy: 'none is needed',
    observation: ({ pings }) => (pings > 0 ? `${pings} pings` : undefined),
  },
  {
    id: 'connect.fragments',
    level: 'must',
    sentence: 'A device accepts messages in fragments, with pings between them.',
    source: 'RFC 6455, 5.4',
    evidence: 'what follows a message of the server that was sent in fragments',
    remedy: 'join the fragments, and handle control frames in between',
    scene: 'websocket',
    reaction: {
      dueAfter: {
        serverEvents: ['scene-began'],
        when: ({ scene, sockets }) => scene === 'websocket' && sockets.size > 0,
      },
      metBy: { socket: ({ event, from }) => event === 'message' && from === 'device' },
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'answer a message in fragments',
    },
  },
  {
    id: 'connect.close-handshake',
    level: 'should',
    sentence: 'A device closes with a valid code.',
    source: 'RFC 6455, 7.4',
    evidence: 'the code in a close frame of the device',
    remedy: 'send 1000 at a normal end, and repeat the code of the server in a response',
    scene: 'socket-closed',
    socket: ({ event, from, code, violation }) => {
      // 1005 and 1006 state that there was no code, and no close frame.
      if (event !== 'closed' || from !== 'device' || code === undefined || code === 1006)
        return undefined;
      const isValid =
        code === 1005 || (code >= 1000 && code < 5000 && ![1004, 1015].includes(code));
      if (isValid && violation === undefined && !(code > 1014 && code < 3000)) return 'met';
      return { part: 'the close code', expected: 'be a valid one', actual: `${code}` };
    },
  },
  {
    id: 'connect.one-socket',
    level: 'should',
    sentence: 'A device has one WebSocket at a time.',
    source: 'Device connect; field notes 4.3',
    evidence: 'messages and pings on a WebSocket 10 s after a newer one was opened',
    remedy: 'close the older WebSocket after a reconnect',
    socket: ({ event, from, socket, atMs }, { client }) => {
      if (from !== 'device' || (event !== 'message' && event !== 'ping')) return undefined;
      const newest = client.sockets.newest;
      if (newest === undefined || newest[0] === socket || !client.sockets.has(socket)) return 'met';
      if (atMs - newest[1] <= OVERLAP_MS) return undefined;
      return { part: 'the older WebSocket', expected: 'be closed', actual: `a ${event} on it` };
    },
  },
  {
    id: 'connect.messages',
    level: 'should',
    sentence: 'A device sends messages as msgpack maps, and repeats the ID of the session.',
    source: 'Device connect; field notes 4.4',
    evidence: 'the messages of the device, and the session IDs that the server used',
    remedy: 'encode {hdr, body} as msgpack, and copy hdr.sid from the message that is answered',
    socket: ({ event, from, payload }, { client }) => {
      if (event !== 'message' || from !== 'device' || payload === undefined) return undefined;
      const message = messageIn(payload);
      if (message === undefined) {
        return { part: 'a message', expected: 'be a msgpack map', actual: 'other bytes' };
      }
      const { sid } = message;
      // Whoever joined late does not know the sessions.
      if (client.sessions.size === 0) return undefined;
      if (sid === undefined || client.sessions.has(sid)) return 'met';
      return { part: 'hdr.sid', expected: 'be that of the session', actual: describeValue(sid) };
    },
  },
];

const reactionDuties: readonly Duty[] = [
  {
    id: 'connect.notices-silence',
    level: 'should',
    sentence: 'A device reconnects when nothing has come for two minutes.',
    source: 'RFC 6455, 5.5.2; field notes 4.2',
    evidence: 'the handshake after a silence',
    remedy: 'send a ping each minute, and reconnect when its pong is missing',
    scene: 'socket-silent',
    reaction: {
      dueAfter: {
        socket: ({ event }, { client }) => event === 'opened' && client.scene === 'socket-silent',
      },
      metBy: { exchange: ({ operation }) => handshakes.includes(operation.id) },
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'reconnect after the silence',
    },
  },
  {
    id: 'connect.unknown-message',
    level: 'should',
    sentence: 'A device keeps running after an unknown message.',
    source: 'Device connect; field notes 4.4',
    evidence: 'what follows a message of an unknown protocol or type',
    remedy: 'answer with an error, or ignore the message',
    scene: 'websocket',
    reaction: {
      dueAfter: { socket: (event) => event.from === 'server' && isUnknownMessage(event) },
      metBy: {
        socket: ({ event, from }) => from === 'device' && event !== 'closed',
        exchange: () => true,
      },
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'go on after a message that it does not know',
    },
  },
  {
    id: 'connect.check-update',
    level: 'should',
    sentence: 'A device polls when a check-update message tells it to.',
    source: 'Device connect; field notes 4.4',
    evidence: 'the poll after a check-update message, within 10 s',
    remedy: 'poll once at a check-update message, whatever is left of the interval',
    scene: 'websocket',
    reaction: {
      dueAfter: {
        socket: ({ from, event, payload }) => {
          if (from !== 'server' || event !== 'message' || !payload) return false;
          const { proto, typ } = messageIn(payload) ?? {};
          return proto === MENDER_CLIENT && typ === 'check-update';
        },
      },
      metBy: { exchange: ({ operation }) => isPollOperation(operation) },
      brokenBy: ({ operation }, { event }, { sinceMs }) =>
        isPollOperation(operation) && event.sentMs - sinceMs > RESPONSE_MS + 1000
          ? {
              part: 'check-update',
              expected: 'lead to a poll in 10 s',
              actual: `one after ${((event.sentMs - sinceMs) / 1000).toFixed(0)} s`,
            }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'poll after a check-update message',
    },
  },
];

export const connectDuties: readonly Duty[] = [
  ...handshakeDuties,
  ...frameDuties,
  ...reactionDuties,
];

function isFrame({ event }: ClientSocketEvent): boolean {
  return event === 'ping' || event === 'pong' || event === 'message';
}

function isUnknownMessage({ event, payload }: ClientSocketEvent): boolean {
  if (event !== 'message' || payload === undefined) return false;
  const { proto = 0 } = messageIn(payload) ?? {};
  return proto > MENDER_CLIENT && proto < 0xffff;
}

function tokenOf(exchange: JudgedExchange): string {
  return exchange.token ?? /\bJWT=([^;]+)/.exec(exchange.header('cookie') ?? '')?.[1] ?? '';
}
