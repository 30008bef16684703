/** Either end of a connection that uses the envelope: a scripted device or a user's terminal. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import {
  type ConnectMessage,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import type { AcceptedDevice } from './test-device.ts';
import type { TestServer } from './test-server.ts';
import { openSocket } from './test-sockets.ts';

/** A socket whose messages are read one by one, in order. */
export class Peer {
  readonly socket: WebSocket;
  readonly #inbox: ConnectMessage[] = [];
  #wake: () => void = () => undefined;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.#inbox.push(decodeConnectMessage(data as Buffer));
      this.#wake();
    });
  }

  /** The messages that have arrived and were not read yet. */
  get waiting(): readonly ConnectMessage[] {
    return this.#inbox;
  }

  /** Returns the next message as soon as it arrives. */
  async next(): Promise<ConnectMessage> {
    for (;;) {
      const message = this.#inbox.shift();
      if (message) return message;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns the next message, which must be of this type. @throws Error when it is another one */
  async nextOf(typ: string): Promise<ConnectMessage> {
    const message = await this.next();
    if (message.typ !== typ) throw new Error(`"${message.typ}" came where "${typ}" was due`);
    return message;
  }

  say(message: ConnectMessage): void {
    this.socket.send(encodeConnectMessage(message));
  }

  /** Sends a message in the session of another message. */
  reply({ sid = '' }: ConnectMessage, message: ConnectMessage): void {
    this.say({ ...message, sid });
  }

  /** Resolves once the server has received everything sent before. */
  async waitUntilReceived(): Promise<void> {
    const pong = once(this.socket, 'pong');
    this.socket.ping();
    await pong;
  }
}

/** Connects the device's end of the connection. */
export async function connectPeer(
  server: TestServer,
  device: Pick<AcceptedDevice, 'token'>,
): Promise<Peer> {
  return new Peer(await openSocket(server, device));
}

/** Returns the path at which users reach the device. */
export function userSocketPath(device: Pick<AcceptedDevice, 'id'>): string {
  return pathOf(managementOperations['connect-device'], { id: device.id });
}

/** Opens a user's end of a connection to the device; the administrator's by default. */
export async function connectUser(
  server: TestServer,
  device: Pick<AcceptedDevice, 'id'>,
  token: string = server.adminToken,
): Promise<Peer> {
  const url = server.baseUrl.replace('http', 'ws') + userSocketPath(device);
  const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } });
  const peer = new Peer(socket);
  await once(socket, 'open');
  return peer;
}
