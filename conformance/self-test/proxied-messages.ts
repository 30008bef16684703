/** Reading and forwarding of HTTP requests and answers in the proxy. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ProxiedAnswer, ProxiedRequest } from './defect.ts';
import { bodilessHeaders, framedHeaders, rewrittenHeaders, seenHeaders } from './raw-headers.ts';

/** The largest body that hooks receive. */
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

/** Reads an answer of the target to its end. */
export async function answerOf(received: IncomingMessage): Promise<ProxiedAnswer> {
  const { statusCode = 0, rawHeaders } = received;
  return { status: statusCode, headers: seenHeaders(rawHeaders), body: await readAll(received) };
}

/** Returns the wire headers of a request after its hooks. */
export function wireHeaders(
  { rawHeaders }: IncomingMessage,
  asked: ProxiedRequest,
  sent: ProxiedRequest,
): string[] {
  if (sent === asked) return [...rawHeaders];
  return rewrittenHeaders(rawHeaders, framedHeaders(asked.headers, sent));
}

/** Forwards an answer as it arrives; `change` receives each chunk. */
export async function passOn(
  received: IncomingMessage,
  response: ServerResponse,
  change?: (chunk: Buffer) => Buffer,
): Promise<void> {
  begin(response);
  const { statusCode = 0, statusMessage = '', rawHeaders } = received;
  response.writeHead(statusCode, statusMessage, readableHeaders(response, rawHeaders));
  // Sends the headers now; flushHeaders would write them as UTF-8, and they arrived as Latin-1.
  response.write(Buffer.alloc(0));
  if (!change) return pipeline(received, response);
  const changing = new Transform({
    transform: (chunk: Buffer, _, done) => done(null, change(chunk)),
  });
  await pipeline(received, changing, response);
}

/** An outgoing answer, and the target's answer before the hooks, if there is one. */
export interface OutgoingAnswer {
  readonly answer: ProxiedAnswer;
  readonly before?: ProxiedAnswer;
  readonly received?: IncomingMessage;
}

/** Writes an answer with its body in one piece, without the body to HEAD, and ends the response. */
export function writeAnswer(response: ServerResponse, outgoing: OutgoingAnswer): void {
  const { answer, before, received } = outgoing;
  const keepsStatus = received !== undefined && answer.status === received.statusCode;
  begin(response);
  const headers = readableHeaders(response, answerHeaders(outgoing));
  if (keepsStatus) response.writeHead(answer.status, received.statusMessage ?? '', headers);
  else response.writeHead(answer.status, headers);
  // An answer to HEAD has headers for a body that it does not have.
  const isBodiless = before !== undefined && response.req.method === 'HEAD';
  response.end(isBodiless ? undefined : answer.body);
}

/** Headers that a client of HTTP/1.0 cannot read, or that are about another connection. */
const newerHeaders: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'connection',
  'keep-alive',
]);

/** Removes HTTP/1.1 headers from the answer to an HTTP/1.0 client, as the target uses HTTP/1.1. */
function readableHeaders({ req }: ServerResponse, raw: readonly string[]): string[] {
  if (req.httpVersion !== '1.0') return [...raw];
  return raw.filter((_, index) => !newerHeaders.has(raw[index - (index % 2)]?.toLowerCase() ?? ''));
}

/** Returns the wire headers of an answer after its hooks. */
export function answerHeaders({ answer, before, received }: OutgoingAnswer): string[] {
  if (received && isDeepStrictEqual(answer, before)) return received.rawHeaders;
  const isBodiless = answer.status === 204 || answer.status === 304 || answer.status < 200;
  const headers = isBodiless
    ? bodilessHeaders(answer.headers)
    : framedHeaders(before?.headers ?? {}, answer);
  return rewrittenHeaders(received?.rawHeaders ?? [], headers);
}

/** Keeps Node from adding headers to the target's. */
function begin(response: ServerResponse): void {
  response.sendDate = false;
  response.useChunkedEncodingByDefault = false;
}
