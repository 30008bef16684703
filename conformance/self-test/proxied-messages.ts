/** Reading and forwarding of HTTP requests and responses in the proxy. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ProxiedRequest, ProxiedResponse } from './defect.ts';
import { bodilessHeaders, framedHeaders, rewrittenHeaders, seenHeaders } from './raw-headers.ts';

/** The largest body that alterations receive. */
const BODY_MAX_BYTES = 64 * 1_048_576;

/** Reads the whole body. Throws when the body is too large or the connection ends early. */
export async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    length += chunk.length;
    if (length > BODY_MAX_BYTES) throw new Error(`a body of more than ${BODY_MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns the body of a message that is piped elsewhere, or the part received before it broke off.
 */
export function bodyOfPiped(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => message.on('close', () => resolve(Buffer.concat(chunks))));
}

/** Reads a response of the target to its end. */
export async function responseOf(received: IncomingMessage): Promise<ProxiedResponse> {
  const { statusCode = 0, rawHeaders } = received;
  return { status: statusCode, headers: seenHeaders(rawHeaders), body: await readAll(received) };
}

/** Returns the wire headers of a request after its alterations. */
export function wireHeaders(
  { rawHeaders }: IncomingMessage,
  original: ProxiedRequest,
  sent: ProxiedRequest,
): string[] {
  if (sent === original) return [...rawHeaders];
  return rewrittenHeaders(rawHeaders, framedHeaders(original.headers, sent));
}

/** Forwards a response as it arrives; `change` receives each chunk. */
export async function passOn(
  received: IncomingMessage,
  response: ServerResponse,
  change?: (chunk: Buffer) => Buffer,
): Promise<void> {
  begin(response);
  const { statusCode = 0, statusMessage = '', rawHeaders } = received;
  response.writeHead(statusCode, statusMessage, readableHeaders(response, rawHeaders));
  // Sends the headers now; `flushHeaders` would write them as UTF-8, and they arrived as Latin-1.
  response.write(Buffer.alloc(0));
  if (!change) return pipeline(received, response);
  const changing = new Transform({
    transform: (chunk: Buffer, _, done) => done(null, change(chunk)),
  });
  await pipeline(received, changing, response);
}

/** An outgoing response, and the target's response before the alterations, if there is one. */
export interface OutgoingResponse {
  readonly response: ProxiedResponse;
  readonly unalteredResponse?: ProxiedResponse;
  readonly received?: IncomingMessage;
}

/**
 * Writes a response with its body in one piece, without the body to HEAD, and ends the response.
 */
export function writeResponse(target: ServerResponse, outgoing: OutgoingResponse): void {
  const { response, unalteredResponse, received } = outgoing;
  const keepsStatus = received !== undefined && response.status === received.statusCode;
  begin(target);
  const headers = readableHeaders(target, responseHeaders(outgoing));
  if (keepsStatus) target.writeHead(response.status, received.statusMessage ?? '', headers);
  else target.writeHead(response.status, headers);
  // A response to HEAD has headers for a body that it does not have.
  const isBodiless = unalteredResponse !== undefined && target.req.method === 'HEAD';
  target.end(isBodiless ? undefined : response.body);
}

/** Headers that a client of HTTP/1.0 cannot read, or that are about another connection. */
const newerHeaders: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'connection',
  'keep-alive',
]);

/**
 * Removes HTTP/1.1 headers from the response to an HTTP/1.0 client, as the target uses HTTP/1.1.
 */
function readableHeaders({ req }: ServerResponse, raw: readonly string[]): string[] {
  if (req.httpVersion !== '1.0') return [...raw];
  return raw.filter((_, index) => !newerHeaders.has(raw[index - (index % 2)]?.toLowerCase() ?? ''));
}

/** Returns the wire headers of a response after its alterations. */
export function responseHeaders({
  response,
  unalteredResponse,
  received,
}: OutgoingResponse): string[] {
  if (received && isDeepStrictEqual(response, unalteredResponse)) return received.rawHeaders;
  const isBodiless = response.status === 204 || response.status === 304 || response.status < 200;
  const headers = isBodiless
    ? bodilessHeaders(response.headers)
    : framedHeaders(unalteredResponse?.headers ?? {}, response);
  return rewrittenHeaders(received?.rawHeaders ?? [], headers);
}

/** Keeps Node from adding headers to the target's. */
function begin(response: ServerResponse): void {
  response.sendDate = false;
  response.useChunkedEncodingByDefault = false;
}
