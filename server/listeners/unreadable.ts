/** Answers input that is not valid HTTP, and connections that send no request in time. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { jsonType } from '../http/answer.ts';
import type { Turns } from '../pipeline/turns.ts';
import type { StagedClosing } from './staged-closing.ts';
import { BodyStalled } from './transfer.ts';

/** Node's error for unreadable input. */
export type ReadError = Error & { readonly code?: string };

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const isOfTls = /^ERR_(SSL|TLS)_/;

/** Unreadable input, and how it is answered. */
export interface Unreadable {
  readonly cause: ReadError;
  /** Status code with its reason phrase; `0` if no answer can be sent. */
  readonly status: string;
  readonly error: string;
}

/**
 * Answers unreadable input with the text that `answer` returns, even if the client does not speak
 * HTTP. Only closes the connection where no answer can be sent.
 */
export function answerUnreadable(
  server: Server,
  { closing, turns }: { readonly closing: StagedClosing; readonly turns: Turns },
  answer: (unreadable: Unreadable) => string,
): void {
  const waiting = new WeakSet<Socket>();
  server.on('clientError', (cause: ReadError, stream) => {
    // The types allow any stream, but the connections of these servers are sockets.
    const socket = stream as Socket;
    const { code = '' } = cause;
    if (closing.isClosing(socket)) {
      // The connection has its last answer, and the staged closing applies its own time limit.
      if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy();
      return;
    }
    const isLost = code === 'ECONNRESET' || isTlsError(cause) || !socket.writable;
    const status = isLost ? '0' : (statuses[code] ?? '400 Bad Request');
    const error =
      cause instanceof BodyStalled
        ? cause.message
        : `the request is not valid HTTP: ${status.slice(4)}`;
    const act = (): void => {
      const text = answer({ cause, status, error });
      if (isLost) socket.destroy();
      else closing.close(socket, text);
    };
    // Further errors of the same connection may follow before the answer is sent.
    if (isLost) act();
    else if (!waiting.has(socket)) {
      waiting.add(socket);
      turns.start('', act);
    }
  });
}

/** Returns true for an error of TLS. */
export function isTlsError({ code = '' }: ReadError): boolean {
  return isOfTls.test(code);
}

/** Returns an answer with a JSON body, for a connection without a request. */
export function bareAnswer(
  status: string,
  body: object,
  headers: Readonly<Record<string, string>>,
): string {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${jsonType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries({ ...headers, Connection: 'close' }).map((pair) => pair.join(': ')),
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
