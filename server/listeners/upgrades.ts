/**
 * Requests for an upgrade to another protocol. Node releases the connection of each; here only
 * those that are upgraded keep it, and the others are answered as requests without an upgrade.
 * RFC 9110, section 7.8
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

interface UpgradeOptions {
  /** Returns true for a request that gets the connection, such as the handshake of a websocket. */
  readonly isTaken: (request: IncomingMessage) => boolean;
  /** Called without an unfinished answer on the connection; what was read of it is in `head`. */
  readonly take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Node has it; its types do not. */
interface Answering {
  /** The response whose turn it is on the connection. */
  readonly _httpMessage?: ServerResponse | null;
}

/** Of what arrives behind a request that waits for the answers before it. */
const KEPT_MAX_BYTES = 65_536;
/** What the client sent, of connections whose request is read once more. */
const readAgain = new WeakMap<Duplex, IncomingMessage>();

/** Takes the connections of a server that HTTP releases, or returns them to it. */
export function onUpgrade(server: Server, { isTaken, take }: UpgradeOptions): void {
  const takeInTurn = (request: IncomingMessage, socket: Duplex, head: Buffer): void =>
    afterAnswers(socket, [head], (read) => take(request, socket, read));
  server.on('connect', takeInTurn);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isTaken(request)) {
      takeInTurn(request, socket, head);
      return;
    }
    afterAnswers(socket, [headWithoutUpgrade(request), head], (read) => {
      readAgain.set(socket, request);
      socket.unshift(read);
      server.emit(socket instanceof TLSSocket ? 'secureConnection' : 'connection', socket);
      socket.resume();
    });
  });
}

/** Gives a request that was read for the second time the headers that the client sent. */
export function restoreHeaders(request: IncomingMessage): void {
  const sent = readAgain.get(request.socket);
  if (!sent) return;
  readAgain.delete(request.socket);
  request.rawHeaders = sent.rawHeaders;
  request.headers = sent.headers;
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
 * Calls once the requests before it on the connection have their answers, with all that was read
 * since; never if the connection ends before.
 */
function afterAnswers(socket: Duplex, read: Buffer[], act: (read: Buffer) => void): void {
  if (!answeringOn(socket)) {
    act(Buffer.concat(read));
    return;
  }
  // Node has taken its own listeners away, and an answer underway needs some of them.
  let keptBytes = 0;
  const listeners = {
    data: (chunk: Buffer): void => {
      read.push(chunk);
      keptBytes += chunk.length;
      if (keptBytes > KEPT_MAX_BYTES) socket.pause();
    },
    drain: () => answeringOn(socket)?.emit('drain'),
    end: () => socket.end(),
    error: () => socket.destroy(),
    timeout: () => socket.writableLength > 0 && socket.destroy(),
  };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  // Where Node has stopped reading, for answers that nobody takes, it would not start again.
  socket.push('');
  const check = (): void => {
    const answering = answeringOn(socket);
    if (answering) {
      answering.once('close', check);
      return;
    }
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
    // What arrives until somebody else listens must not be lost.
    socket.pause();
    if (socket.writable) act(Buffer.concat(read));
  };
  check();
}

function answeringOn(socket: Duplex): ServerResponse | null | undefined {
  return (socket as Duplex & Answering)._httpMessage;
}
