/** Sends an upgrade request with arbitrary headers, which a WebSocket library would not allow. */
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Headers } from './exchange.ts';
import { TransportFailure } from './transport-failure.ts';

/** The largest refusal body that is read. */
const REFUSAL_MAX_BYTES = 65_536;

export interface HandshakeRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly caPem?: string | undefined;
}

export interface UpgradeOutcome {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Set when the server switched protocols; the caller destroys it. */
  readonly socket?: Duplex;
}

/** Resolves with the protocol switch or with the refusal; rejects as node:http does. */
export function requestUpgrade({
  url,
  headers,
  signal,
  caPem,
}: HandshakeRequest): Promise<UpgradeOutcome> {
  const startRequest = url.startsWith('https:') ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const request = startRequest(url, {
      headers: { ...headers },
      signal,
      agent: false,
      ...(caPem === undefined ? {} : { ca: caPem }),
    });
    request.on('error', reject);
    request.on('upgrade', (response, socket, head) => {
      // A connection that is cut before its frames are read must not end the run.
      socket.on('error', () => socket.destroy());
      // `head` holds frames that arrived in the same packet as the response.
      if (head.length > 0) socket.unshift(head);
      const { statusCode = 0 } = response;
      resolve({ status: statusCode, headers: response.headers, body: Buffer.alloc(0), socket });
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length <= REFUSAL_MAX_BYTES) chunks.push(chunk);
        else response.destroy(refusalTooLarge());
      });
      response.on('end', () => {
        const { statusCode = 0 } = response;
        resolve({ status: statusCode, headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    request.end();
  });
}

function refusalTooLarge(): TransportFailure {
  const message = `the response is larger than ${REFUSAL_MAX_BYTES} bytes; the suite read no further`;
  return new TransportFailure('response-too-large', message);
}
