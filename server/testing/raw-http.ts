/** Requests that no HTTP client would send, written to the raw connection byte by byte. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestServer } from './test-server.ts';

/** A response as received on the connection. */
export interface RawResponse {
  readonly status: number;
  /** The header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Everything after the headers, including any chunk framing. */
  readonly body: string;
}

/** Opens a raw connection to the protocol listener. */
export async function openConnection(server: TestServer): Promise<Socket> {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  return socket;
}

/** Returns everything the server sends until it closes the connection. */
export async function untilClosed(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

/** Writes the bytes and reads the one response; the request must make the server close. */
export async function sendRaw(server: TestServer, request: string | Buffer): Promise<RawResponse> {
  const socket = await openConnection(server);
  socket.write(request);
  return readResponse(await untilClosed(socket));
}

/** Returns the text of a request that makes the server close, so that the response has an end. */
export function rawRequest(line: string, headers: readonly string[] = [], body = ''): string {
  const host = headers.some((header) => /^host:/i.test(header)) ? [] : ['Host: test'];
  const closing = headers.some((header) => /^connection:/i.test(header))
    ? []
    : ['Connection: close'];
  return `${[`${line} HTTP/1.1`, ...host, ...headers, ...closing].join('\r\n')}\r\n\r\n${body}`;
}

/** Parses one response. @throws Error when the text is not one */
export function readResponse(text: string): RawResponse {
  const [head = '', ...bodyParts] = text.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1];
  if (status === undefined)
    throw new Error(`this is not an HTTP response: ${JSON.stringify(text)}`);
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(status), headers, body: bodyParts.join('\r\n\r\n') };
}
