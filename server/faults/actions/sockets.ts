/** Actions on WebSockets of devices and users: refuse, close, cut, stall, and send invalid data. */
import * as v from 'valibot';
import type { Timer } from '../../../fixtures/base/clock.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import {
  connectProtocols,
  encodeConnectMessage,
} from '../../../fixtures/formats/connect-message.ts';
import { stopHeartbeat } from '../../connect/heartbeat.ts';
import { Refusal } from '../../http/refusal.ts';
import type { FaultCall } from '../call.ts';
import { resetConnection } from '../wire.ts';
import { type Action, defineAction, type SocketActionContext, textUpTo, whole } from './action.ts';
import { refuseRequest } from './responses.ts';

const DAY_MS = 86_400_000;
const HOUR_SECONDS = 3600;
const MESSAGES_MAX = 1_000_000;
/**
 * Maximum length of a close reason. A close frame has at most 125 bytes, two of which are the code.
 */
const REASON_MAX_BYTES = 123;
/** Maximum body of an oversize message. The envelope needs less than the reserved 1024 bytes. */
const OVERSIZE_MAX_BYTES = limits.websocketMessageMaxBytes - 1024;
const GARBAGE_MAX_BYTES = 65_536;

/**
 * When an action on an open socket runs: immediately, after a delay, or after a number of messages.
 */
const due = {
  afterMs: v.optional(whole(0, DAY_MS), 0),
  afterMessages: v.optional(whole(0, MESSAGES_MAX), 0),
};

const refuseSocket = defineAction({
  kind: 'refuse-socket',
  does: 'answers the handshake with a status',
  entries: { status: v.optional(whole(400, 599), 503) },
  injectionPoints: ['before'],
  applies: requestsSocket,
  execute: async ({ status }, context) => {
    await refuseRequest(
      context,
      new Refusal(status, 'the WebSocket is refused by a planned fault'),
    );
    return 'response-sent';
  },
});

const wrongAccept = defineAction({
  kind: 'wrong-accept',
  does: 'answers the handshake with the Sec-WebSocket-Accept of another key',
  alters: 'accept-header',
  entries: {},
  injectionPoints: ['before'],
  applies: requestsSocket,
  execute: async (_given, { call }) => {
    call.exchange.request.headers['sec-websocket-key'] = otherKey;
    return 'continue';
  },
});

/** A key that no client draws. */
const otherKey = Buffer.alloc(16).toString('base64');

const reasonShape = v.pipe(
  textUpTo(REASON_MAX_BYTES),
  v.maxBytes(REASON_MAX_BYTES, `must have at most ${REASON_MAX_BYTES} bytes`),
);

const closeSocket = defineAction({
  kind: 'close-socket',
  does: 'closes with the given code, even one that is not allowed in a frame',
  entries: { ...due, code: whole(0, 65_535), reason: v.optional(reasonShape, '') },
  injectionPoints: ['body'],
  applies: requestsSocket,
  onSocket: (action, context) =>
    whenDue(action, context, () => {
      const { code, reason } = action;
      try {
        context.socket.close(code, reason);
      } catch {
        // The library does not send the invalid codes that are tested here, so the frame is written
        // directly.
        const payload = Buffer.concat([Buffer.alloc(2), Buffer.from(reason)]);
        payload.writeUInt16BE(code);
        context.connection.write(Buffer.concat([Buffer.from([0x88, payload.length]), payload]));
        context.connection.destroySoon();
      }
    }),
});

const cutSocket = defineAction({
  kind: 'cut-socket',
  does: 'cuts the open WebSocket with an RST, without a close frame',
  entries: due,
  injectionPoints: ['body'],
  applies: requestsSocket,
  onSocket: (given, context) => whenDue(given, context, () => resetConnection(context.connection)),
});

const ignorePings = defineAction({
  kind: 'ignore-pings',
  does: 'neither answers nor sends pings; messages continue',
  entries: due,
  injectionPoints: ['body'],
  applies: requestsSocket,
  onSocket: (given, context) =>
    whenDue(given, context, () => {
      stopHeartbeat(context.socket);
      Object.assign(context.socket, { pong: callBackWithoutSending });
    }),
});

const halfOpen = defineAction({
  kind: 'half-open',
  does: 'stops reading and sending, as if the server had vanished; cuts the connection after `maxSeconds`',
  entries: { ...due, maxSeconds: v.optional(whole(1, HOUR_SECONDS), 300) },
  injectionPoints: ['body'],
  applies: requestsSocket,
  onSocket: (action, context) =>
    whenDue(action, context, () => {
      const { socket, tenant, signal } = context;
      const end = (): void => socket.terminate();
      stopHeartbeat(socket);
      socket.pause();
      Object.assign(socket, {
        send: callBackWithoutSending,
        ping: callBackWithoutSending,
        pong: callBackWithoutSending,
        close: end,
      });
      const timer = tenant.clock.after(action.maxSeconds * 1000, end, true);
      signal.addEventListener('abort', end, { once: true });
      socket.once('close', () => {
        timer.cancel();
        signal.removeEventListener('abort', end);
      });
    }),
});

/** Sends nothing, but calls the callback as if it had. */
function callBackWithoutSending(...given: readonly unknown[]): void {
  const callback = given.at(-1);
  if (typeof callback === 'function') callback();
}

const oversizeMessage = defineAction({
  kind: 'oversize-message',
  does: 'sends a message that is larger than devices read',
  entries: {
    ...due,
    bytes: v.optional(whole(1, OVERSIZE_MAX_BYTES), limits.connectDeviceMessageMaxBytes + 1),
  },
  injectionPoints: ['body'],
  applies: requestsSocket,
  onSocket: (action, context) =>
    whenDue(action, context, () => {
      const message = {
        proto: connectProtocols.shell,
        typ: 'shell',
        body: Buffer.alloc(action.bytes),
      };
      context.socket.send(encodeConnectMessage(message));
    }),
});

const duplicateMessage = defineAction({
  kind: 'duplicate-message',
  does: 'sends the next message to the other end twice',
  entries: due,
  injectionPoints: ['body'],
  applies: requestsSocket,
  onSocket: (action, context) =>
    whenDue(
      action,
      context,
      (reportFired) => {
        const { socket } = context;
        const send = socket.send.bind(socket);
        const twice = (data: Buffer, callback?: () => void): void => {
          Object.assign(socket, { send });
          reportFired();
          send(data);
          send(data, callback);
        };
        Object.assign(socket, { send: twice });
      },
      'by itself',
    ),
});

const garbage = defineAction({
  kind: 'garbage',
  does: 'sends a message that is not an envelope, or bytes that are not a frame',
  entries: {
    ...due,
    as: v.optional(v.picklist(['message', 'frame'], 'must be message or frame'), 'message'),
    bytes: v.optional(whole(1, GARBAGE_MAX_BYTES), 16),
  },
  injectionPoints: ['body'],
  applies: requestsSocket,
  onSocket: (action, context) =>
    whenDue(action, context, () => {
      // The byte 0xc1 never occurs in msgpack. As the head of a frame, 0xff has reserved bits and a
      // reserved opcode.
      if (action.as === 'message') context.socket.send(Buffer.alloc(action.bytes, 0xc1));
      else context.connection.write(Buffer.alloc(action.bytes, 0xff));
    }),
});

function requestsSocket(_given: unknown, { exchange, operation }: FaultCall): boolean {
  return exchange.upgrade !== undefined && 101 in operation.success;
}

/**
 * Runs the action when it is due. If the socket closes or the rule is removed before that, the
 * fault is missed.
 */
function whenDue(
  { afterMs, afterMessages }: { afterMs: number; afterMessages: number },
  { socket, tenant, signal, reportFired, reportMissed }: SocketActionContext,
  callback: (reportFired: () => void) => void,
  counts: 'at once' | 'by itself' = 'at once',
): void {
  let messagesLeft = afterMessages;
  let timer: Timer | undefined;
  const leave = (): void => {
    timer?.cancel();
    socket.off('message', count).off('close', leave);
    signal.removeEventListener('abort', leave);
    reportMissed();
  };
  const run = (): void => {
    if (counts === 'at once') reportFired();
    callback(reportFired);
  };
  const startTimer = (): void => {
    if (afterMs === 0) run();
    else timer = tenant.clock.after(afterMs, run, true);
  };
  const count = (): void => {
    messagesLeft -= 1;
    if (messagesLeft === 0) startTimer();
  };
  socket.on('close', leave);
  signal.addEventListener('abort', leave, { once: true });
  if (messagesLeft === 0) startTimer();
  else socket.on('message', count);
}

/** All actions of this file, in the order of the documentation. */
export const socketActions: readonly Action[] = [
  refuseSocket,
  wrongAccept,
  closeSocket,
  cutSocket,
  ignorePings,
  halfOpen,
  oversizeMessage,
  duplicateMessage,
  garbage,
];
