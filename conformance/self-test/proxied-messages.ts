/** Requests and answers of HTTP as a proxy takes them in and passes them on. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ProxiedAnswer, ProxiedRequest } from './defect.ts';
import { bodilessHeaders, framedHeaders, rewrittenHeaders, seenHeaders } from './raw-headers.ts';

/** The largest body that hooks get to see. */
const BODY_MAX_BYTES = 64 * 1_048_576;

/** The whole body. Throws when it is too large, or breaks off. */
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

/** The whole body of a message that is piped elsewhere, or what came of it before it broke off. */
export function overheard(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  message.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => message.on('close', () => resolve(Buffer.concat(chunks))));
}

/** An answer of the target, read to its end. */
export async function answerOf(received: IncomingMessage): Promise<ProxiedAnswer> {
  const { statusCode = 0, rawHeaders } = received;
  return { status: statusCode, headers: seenHeaders(rawHeaders), body: await readAll(received) };
}

/** The wire headers of a request that hooks have seen. */
export function wireHeaders(
  { rawHeaders }: IncomingMessage,
  asked: ProxiedRequest,
  sent: ProxiedRequest,
): string[] {
  if (sent === asked) return [...rawHeaders];
  return rewrittenHeaders(rawHeaders, framedHeaders(asked.headers, sent));
}

/** Passes an answer on as it comes; `change` is given each chunk. */
export async function passOn(
  received: IncomingMessage,
  response: ServerResponse,
  change?: (chunk: Buffer) => Buffer,
): Promise<void> {
  begin(response);
  response.writeHead(received.statusCode ?? 0, received.statusMessage ?? '', received.rawHeaders);
  // Sends the headers at once; flushHeaders would write them as UTF-8, and they came as Latin-1.
  response.write(Buffer.alloc(0));
  if (!change) return pipeline(received, response);
  const changing = new Transform({
    transform: (chunk: Buffer, _, done) => done(null, change(chunk)),
  });
  await pipeline(received, changing, response);
}

/** An answer that goes out, and what it was before hooks saw it, if the target made it. */
export interface OutgoingAnswer {
  readonly answer: ProxiedAnswer;
  readonly before?: ProxiedAnswer;
  readonly received?: IncomingMessage;
}

/** Writes a whole answer. */
export function writeAnswer(response: ServerResponse, outgoing: OutgoingAnswer): void {
  const { answer, before, received } = outgoing;
  const keepsStatus = received !== undefined && answer.status === received.statusCode;
  begin(response);
  const headers = answerHeaders(outgoing);
  if (keepsStatus) response.writeHead(answer.status, received.statusMessage ?? '', headers);
  else response.writeHead(answer.status, headers);
  // An answer to HEAD speaks of a body that it does not have.
  const isBodiless = before !== undefined && response.req.method === 'HEAD';
  response.end(isBodiless ? undefined : answer.body);
}

/** The wire headers of an answer that hooks have seen. */
export function answerHeaders({ answer, before, received }: OutgoingAnswer): string[] {
  if (received && isDeepStrictEqual(answer, before)) return received.rawHeaders;
  const isBodiless = answer.status === 204 || answer.status === 304 || answer.status < 200;
  const headers = isBodiless
    ? bodilessHeaders(answer.headers)
    : framedHeaders(before?.headers ?? {}, answer);
  return rewrittenHeaders(received?.rawHeaders ?? [], headers);
}

/** Nothing may be added to what the target said. */
function begin(response: ServerResponse): void {
  response.sendDate = false;
  response.useChunkedEncodingByDefault = false;
}
