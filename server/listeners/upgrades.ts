/**
 * Handles requests for an upgrade to another protocol. Node releases the connection for each of
 * them; only upgraded ones keep it here, and the others are answered as requests without an
 * upgrade. RFC 9110, section 7.8
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

interface UpgradeOptions {
  /** Returns true for a request that receives the connection, such as a WebSocket handshake. */
  readonly isAccepted: (request: IncomingMessage) => boolean;
  /**
   * Called once earlier requests of the connection are answered; `head` holds what was read since
   * the request.
   */
  readonly accept: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** A property that Node sets, and that its types lack. */
interface SocketWithResponse {
  /** The response that is currently being sent on the connection. */
  readonly _httpMessage?: ServerResponse | null;
}

/**
 * Bytes kept of what arrives behind a request that waits for earlier responses; reading pauses
 * above.
 */
const KEPT_MAX_BYTES = 65_536;
/** Original requests of connections whose request is parsed a second time, without its upgrade. */
const readAgain = new WeakMap<Duplex, IncomingMessage>();

/** Takes over connections that HTTP releases for an upgrade, or returns them to HTTP. */
export function handleUpgrades(server: Server, { isAccepted, accept }: UpgradeOptions): void {
  const acceptInTurn = (request: IncomingMessage, socket: Duplex, head: Buffer): void =>
    awaitResponses(socket, [head], (read) => accept(request, socket, read));
  server.on('connect', acceptInTurn);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isAccepted(request)) {
      acceptInTurn(request, socket, head);
      return;
    }
    awaitResponses(socket, [headWithoutUpgrade(request), head], (read) => {
      readAgain.set(socket, request);
      socket.unshift(read);
      server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket);
      socket.resume();
    });
  });
}

/** Restores the client's headers in a request that was parsed a second time. */
export function restoreHeaders(request: IncomingMessage): void {
  const sentRequest = readAgain.get(request.socket);
  if (!sentRequest) return;
  readAgain.delete(request.socket);
  request.rawHeaders = sentRequest.rawHeaders;
  request.headers = sentRequest.headers;
}

function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.toLowerCase() !== 'upgrade') head += `${name}: ${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}

/**
 * Calls `callback` once the earlier requests of the connection are answered, with all bytes read since;
 * never if the connection closes first.
 */
function awaitResponses(socket: Duplex, read: Buffer[], callback: (read: Buffer) => void): void {
  if (!currentResponse(socket)) {
    callback(Buffer.concat(read));
    return;
  }
  // Node has removed its own listeners, but a response in progress needs some of them.
  let keptBytes = 0;
  const listeners = {
    data: (chunk: Buffer): void => {
      read.push(chunk);
      keptBytes += chunk.length;
      if (keptBytes > KEPT_MAX_BYTES) socket.pause();
    },
    drain: () => currentResponse(socket)?.emit('drain'),
    end: () => socket.end(),
    error: () => socket.destroy(),
    timeout: () => socket.writableLength > 0 && socket.destroy(),
  };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  // Node stops reading while the client does not read its responses, and would not start again by
  // itself.
  socket.push('');
  const check = (): void => {
    const answering = currentResponse(socket);
    if (answering) {
      answering.once('close', check);
      return;
    }
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
    // Bytes that arrive before the new owner listens must not be lost.
    socket.pause();
    if (socket.writable) callback(Buffer.concat(read));
  };
  check();
}

/** Returns the response that is currently being sent on the connection. */
export function currentResponse(socket: Duplex): ServerResponse | null | undefined {
  return (socket as Duplex & SocketWithResponse)._httpMessage;
}
