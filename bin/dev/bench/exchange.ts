/**
 * Sends one request, and derives from the response the bytes that a baseline server has to send.
 */
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Request } from 'autocannon';

export interface BenchResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

/** The response of a baseline server to every request with one method and path. */
export interface PeerResponse {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Alternating names and values, without the headers that `node:http` adds by itself. */
  readonly headers: readonly string[];
  readonly body: string;
  readonly keepAliveTimeoutMs: number;
}

/** Headers that node:http adds to a response by itself. */
const ownHeaders = new Set(['date', 'connection', 'keep-alive']);
const KEEP_ALIVE_DEFAULT_SECONDS = 5;

/** Sends one request over a keep-alive connection. */
export async function exchange(baseUrl: string, { method, path, headers, body }: Request) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(
      `${baseUrl}${path}`,
      { ...(method && { method }), ...(headers && { headers }) },
      resolve,
    )
      .on('error', reject)
      .end(body);
  });
  const { statusCode: status = 0, rawHeaders } = response;
  return { status, rawHeaders, body: await text(response) } satisfies BenchResponse;
}

/**
 * Returns the `PeerResponse` with the same bytes as the response.
 * @throws Error when the status is unexpected
 */
export function peerResponseLike(
  response: BenchResponse,
  { method = 'GET', path = '/' }: Request,
): PeerResponse {
  const { rawHeaders } = response;
  const keepAlive = rawHeaders[rawHeaders.indexOf('Keep-Alive') + 1] ?? '';
  const seconds = Number(/timeout=(\d+)/.exec(keepAlive)?.[1] ?? KEEP_ALIVE_DEFAULT_SECONDS);
  return {
    method,
    path: path.replace(/\?.*/, ''),
    status: response.status,
    headers: rawHeaders.filter(
      (_, at) => !ownHeaders.has(rawHeaders[at - (at % 2)]?.toLowerCase() ?? ''),
    ),
    body: response.body,
    keepAliveTimeoutMs: seconds * 1000,
  };
}

/**
 * Checks that two responses have the same size, header by header. Request IDs and times differ but
 * have a fixed length; header names may differ in case.
 * @throws Error when the sizes differ
 */
export function requireSameBytes(one: BenchResponse, other: BenchResponse): void {
  if (sizesOf(one) === sizesOf(other)) return;
  throw new Error(`the responses differ: ${sizesOf(one)}; ${sizesOf(other)}`);
}

function sizesOf({ status, rawHeaders, body }: BenchResponse): string {
  const names = rawHeaders.filter((_, at) => at % 2 === 0);
  const sizes = names.map((name, at) => `${name.toLowerCase()} ${rawHeaders[2 * at + 1]?.length}`);
  return `${status}, ${sizes.sort().join(', ')}, body ${Buffer.byteLength(body)}`;
}
