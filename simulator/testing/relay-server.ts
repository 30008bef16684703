/** A server of websockets between an operator and one device, and what an operator looks at. */
import type { IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  type ConnectMessage,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import type { Screen } from '../client/remote-shell.ts';
import { ConnectBench } from './connect-bench.ts';
import { PretendServer } from './pretend-server.ts';

/** The session id that the server gives out. */
export const SID = 'session-1';

/** What the other side does with a message: what it says back, or nothing. */
export type Answering = (message: ConnectMessage) => readonly ConnectMessage[];

/** A device that answers as the simulated ones do, behind a server that gives out a session id. */
export function willingDevice(): Answering {
  const bench = new ConnectBench();
  return (message) => bench.device.answer({ ...message, sid: SID });
}

/** What a relay is asked, and what it has heard. */
export interface Relay {
  readonly baseUrl: string;
  readonly requests: readonly IncomingMessage[];
  readonly heard: readonly ConnectMessage[];
  /** The server's end of the first socket. */
  readonly opened: Promise<WebSocket>;
  close(): Promise<void>;
}

/** A server that relays to this device; `refusal` is a whole response to every upgrade. */
export async function startRelay(answering: Answering, refusal?: string): Promise<Relay> {
  const server = await PretendServer.start({});
  const upgrades = new WebSocketServer({ noServer: true });
  // By RFC 6455 the name of a subprotocol has no slash, and the library holds to that.
  upgrades.on('headers', (headers) => headers.push('Sec-WebSocket-Protocol: protomsg/msgpack'));
  const requests: IncomingMessage[] = [];
  const heard: ConnectMessage[] = [];
  const answer = (websocket: WebSocket): void => {
    websocket.on('message', (data) => {
      const message = decodeConnectMessage(data as Buffer);
      heard.push(message);
      for (const said of answering(message)) websocket.send(encodeConnectMessage(said));
    });
  };
  const opened = new Promise<WebSocket>((resolve) => {
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
  return { baseUrl: server.baseUrl, requests, heard, opened, close };
}

/** A screen that keeps what it is shown; `room` says whether it wants more. */
export class Sheet implements Screen {
  readonly size = { height: 24, width: 100 };
  readonly notes: string[] = [];
  shown = '';
  room = true;
  onShow: () => void = () => undefined;

  show(bytes: Uint8Array): boolean {
    this.shown += Buffer.from(bytes).toString();
    this.onShow();
    return this.room;
  }

  note(text: string): void {
    this.notes.push(text);
    this.onShow();
  }

  /** Resolves once the screen, notes included, matches. */
  until(pattern: RegExp): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (pattern.test(this.shown + this.notes.join())) resolve();
      };
      this.onShow = look;
      look();
    });
  }
}
