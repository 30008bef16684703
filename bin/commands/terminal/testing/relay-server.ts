/** A WebSocket server between a user and one device, and a screen for the user. */
import type { IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  type ConnectMessage,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../../../fixtures/formats/connect-message.ts';
import { ConnectFixture } from '../../../../simulator/testing/connect-fixture.ts';
import { StubServer } from '../../../../simulator/testing/stub-server.ts';
import type { ShellScreen } from '../remote-shell.ts';

/** The session ID that the server assigns. */
export const SID = 'session-1';

/** Returns the replies of the other side to a message; possibly none. */
export type AnswerMessage = (message: ConnectMessage) => readonly ConnectMessage[];

/**
 * Returns a device that replies like the simulated ones, behind a server that assigns a session ID.
 */
export function willingDevice(): AnswerMessage {
  const fixture = new ConnectFixture();
  return (message) => fixture.device.respond({ ...message, sid: SID });
}

/** A relay with the messages that it received. */
export interface TestRelay {
  readonly baseUrl: string;
  readonly requests: readonly IncomingMessage[];
  readonly received: readonly ConnectMessage[];
  /** The server's end of the first socket. */
  readonly opened: Promise<WebSocket>;
  close(): Promise<void>;
}

/**
 * Starts a server that relays to this device.
 * @param refusal the complete response to every upgrade, instead of relaying
 */
export async function startRelay(answering: AnswerMessage, refusal?: string): Promise<TestRelay> {
  const server = await StubServer.start({});
  const upgrades = new WebSocketServer({ noServer: true });
  // RFC 6455 forbids a slash in a subprotocol name, and `ws` enforces that.
  upgrades.on('headers', (headers) => headers.push('Sec-WebSocket-Protocol: protomsg/msgpack'));
  const requests: IncomingMessage[] = [];
  const receivedMessages: ConnectMessage[] = [];
  const answer = (websocket: WebSocket): void => {
    websocket.on('message', (data) => {
      const message = decodeConnectMessage(data as Buffer);
      receivedMessages.push(message);
      for (const reply of answering(message)) websocket.send(encodeConnectMessage(reply));
    });
  };
  const openSocket = new Promise<WebSocket>((resolve) => {
    server.http.on('upgrade', (request, socket, head) => {
      requests.push({ ...request, headers: { ...request.headers } } as IncomingMessage);
      if (refusal !== undefined) {
        socket.end(refusal);
        return;
      }
      delete request.headers['sec-websocket-protocol'];
      upgrades.handleUpgrade(request, socket, head, (websocket) => {
        answer(websocket);
        resolve(websocket);
      });
    });
  });
  const close = async (): Promise<void> => {
    for (const socket of upgrades.clients) socket.terminate();
    await server.close();
  };
  return {
    baseUrl: server.baseUrl,
    requests,
    received: receivedMessages,
    opened: openSocket,
    close,
  };
}

/** A screen that keeps its output. Set `room` to false to make `show` ask for a pause. */
export class RecordedScreen implements ShellScreen {
  readonly size = { height: 24, width: 100 };
  readonly notes: string[] = [];
  output = '';
  hasRoom = true;
  onShow: () => void = () => undefined;

  show(bytes: Uint8Array): boolean {
    this.output += Buffer.from(bytes).toString();
    this.onShow();
    return this.hasRoom;
  }

  note(text: string): void {
    this.notes.push(text);
    this.onShow();
  }

  /** Resolves once the shown text, including notes, matches the pattern. */
  until(pattern: RegExp): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (pattern.test(this.output + this.notes.join())) resolve();
      };
      this.onShow = look;
      look();
    });
  }
}
