/**
 * Plays a recorded session as a client. Requests are signed by test keys, tokens, IDs and links are
 * those of the server, and times in bodies are moved to the present.
 */
import { type Dispatcher, request } from 'undici';
import { WebSocket } from 'ws';
import { apiAddress } from '../../../conformance/recordings/address.ts';
import type { FullExchange } from '../../../conformance/recordings/recording.ts';
import { makeEd25519Key } from '../../../conformance/signing/ed25519.ts';
import type { SigningKey } from '../../../conformance/signing/signing-key.ts';
import type { Clock } from '../../../fixtures/base/clock.ts';
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import { seededRandom } from '../../../fixtures/base/random.ts';
import { apiPrefixes } from '../../../fixtures/contract/deprecations.ts';
import { isTimestamp, timestampMs } from '../../../fixtures/contract/text.ts';
import { type BodyComparison, compareBodies } from './differences.ts';

const RESPONSE_MAX_MS = 60_000;
const ACCEPTANCE_POLL_MS = 1000;
const AUTH_REQUESTS_PATH = '/authentication/auth_requests';
/** Headers that belong to the connection, or that are replaced. */
const ownHeaders =
  /^(host|connection|keep-alive|content-length|transfer-encoding|expect|upgrade|accept-encoding|authorization|cookie|sec-websocket-.*|.*-signature)$/;

const noDifference: BodyComparison = { differences: [], pairs: [] };

/** How a session is played. */
export interface PlayPlan {
  readonly url: string;
  readonly dispatcher: Dispatcher;
  readonly caPem: string | undefined;
  readonly headerPrefix: string;
  readonly tenantToken: string | undefined;
  /** Longest pause between two requests, in milliseconds; recorded ones are not longer. */
  readonly pauseMaxMs: number;
  /** How long a device that was accepted in the recording may wait for that, in milliseconds. */
  readonly acceptanceMs: number;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** Called once when a device waits for its acceptance. */
  readonly onWaiting: () => void;
}

/** A played request, and how its response differs from the recorded one. */
export interface PlayedRequest {
  /** Place in the session file, such as `line 3`. */
  readonly location: string;
  readonly method: string;
  /** Path without query. */
  readonly path: string;
  /** Recorded status; 0 if no response was recorded, so that none is compared. */
  readonly recorded: number;
  readonly status: number;
  readonly differences: readonly string[];
}

interface HttpResponse {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: Buffer;
}

/** Plays one session; its state is that of the devices in it. */
export class SessionReplay {
  readonly #plan: PlayPlan;
  readonly #keys = new Map<string, SigningKey>();
  /** The server's token for each recorded one. */
  readonly #tokens = new Map<string, string>();
  /** The replayed values of recorded IDs and validators, and of the paths of recorded links. */
  readonly #values = new Map<string, string>();
  readonly #links = new Map<string, string>();
  /** The present minus the time of the recording, in milliseconds. */
  #shiftMs: number | undefined;
  #endedMs: number | undefined;

  constructor(plan: PlayPlan) {
    this.#plan = plan;
  }

  /** Returns true for a request of a device, and for one to a link that it was given before. */
  plays({ pathname }: FullExchange): boolean {
    return (
      this.#links.has(pathname) || apiAddress(pathname)?.version.startsWith('device ') === true
    );
  }

  /** Sends the request of a recorded exchange. @throws Error if the server cannot be reached */
  async play(exchange: FullExchange): Promise<PlayedRequest> {
    await this.#pause(exchange);
    const { location, method, pathname: path, status: recorded } = exchange;
    const response = await this.#responseTo(exchange);
    const { status } = response;
    const differences = recorded === 0 ? [] : this.#differencesOf(exchange, response);
    return { location, method, path, recorded, status, differences };
  }

  #differencesOf(exchange: FullExchange, response: HttpResponse): readonly string[] {
    const { pathname, status: recordedStatus } = exchange;
    const { status, body } = response;
    if (status !== recordedStatus) return [`the status is ${status}, recorded ${recordedStatus}`];
    if (status === 200 && pathname.endsWith(AUTH_REQUESTS_PATH)) {
      this.#tokens.set(String(exchange.responseBody()), body.toString('latin1'));
      return [];
    }
    const comparison = this.#compare(exchange, response);
    this.#learn(exchange, response, comparison);
    return comparison.differences;
  }

  async #pause({ sentMs, endedMs }: FullExchange): Promise<void> {
    const { clock, pauseMaxMs, stop } = this.#plan;
    this.#shiftMs ??= clock.now() - sentMs;
    const recordedMs = sentMs - (this.#endedMs ?? sentMs);
    this.#endedMs = endedMs;
    await clock.sleep(Math.min(Math.max(0, recordedMs), pauseMaxMs), stop);
  }

  async #responseTo(exchange: FullExchange): Promise<HttpResponse> {
    if (exchange.status === 101) return this.#handshake(exchange);
    if (!exchange.pathname.endsWith(AUTH_REQUESTS_PATH))
      return this.#send(exchange, this.#bodyOf(exchange));
    const { clock, acceptanceMs, stop, onWaiting } = this.#plan;
    const untilMs = clock.now() + acceptanceMs;
    for (let isFirst = true; ; isFirst = false) {
      const response = await this.#send(exchange, this.#authRequestOf(exchange));
      const isAwaited = exchange.status === 200 && response.status === 401;
      if (!isAwaited || clock.now() >= untilMs || stop.aborted) return response;
      if (isFirst) onWaiting();
      await clock.sleep(ACCEPTANCE_POLL_MS, stop);
    }
  }

  async #send(
    exchange: FullExchange,
    sent: { body?: string; signature?: string },
  ): Promise<HttpResponse> {
    const { body, signature } = sent;
    const {
      headers,
      statusCode,
      body: responseBody,
    } = await request(this.#urlOf(exchange), {
      method: exchange.method as Dispatcher.HttpMethod,
      headers: this.#headersOf(exchange, signature),
      ...(body !== undefined && { body }),
      dispatcher: this.#plan.dispatcher,
      headersTimeout: RESPONSE_MAX_MS,
      bodyTimeout: RESPONSE_MAX_MS,
    });
    const { etag } = headers;
    const bytes = Buffer.from(await responseBody.arrayBuffer());
    return { status: statusCode, etag: typeof etag === 'string' ? etag : undefined, body: bytes };
  }

  /** Opens the WebSocket, and closes it again. */
  #handshake(exchange: FullExchange): Promise<HttpResponse> {
    const { caPem } = this.#plan;
    const socket = new WebSocket(this.#urlOf(exchange).replace(/^http/, 'ws'), {
      headers: this.#headersOf(exchange, undefined),
      handshakeTimeout: RESPONSE_MAX_MS,
      ...(caPem !== undefined && { ca: caPem }),
    });
    const none = { etag: undefined, body: Buffer.alloc(0) };
    return new Promise((resolve, reject) => {
      socket.once('open', () => socket.close(1000));
      socket.once('close', () => resolve({ status: 101, ...none }));
      socket.once('unexpected-response', (_, response) => {
        resolve({ status: response.statusCode ?? 0, ...none });
        response.destroy();
      });
      socket.on('error', reject);
    });
  }

  #urlOf({ url, pathname }: FullExchange): string {
    const link = this.#links.get(pathname);
    if (link !== undefined) return link;
    const { search } = new URL(url, 'http://localhost');
    const path = pathname.slice(Math.max(0, pathname.indexOf(apiPrefixes.device)));
    const segments = path.split('/').map((each) => this.#values.get(each) ?? each);
    return this.#plan.url + segments.join('/') + search;
  }

  #headersOf(exchange: FullExchange, signature: string | undefined): Record<string, string> {
    const exchangeHeaders = exchange.requestHeaders();
    const recordedHeaders = Object.entries(exchangeHeaders).filter(
      ([name]) => !ownHeaders.test(name),
    );
    const headers = Object.fromEntries(
      recordedHeaders.map(([name, value]) => [name, this.#values.get(value) ?? value]),
    );
    const { authorization = '', cookie = '' } = exchangeHeaders;
    const recordedToken =
      /^Bearer (.+)$/i.exec(authorization)?.[1] ?? /\bJWT=([^;]+)/.exec(cookie)?.[1];
    if (signature !== undefined) headers[`${this.#plan.headerPrefix}-Signature`] = signature;
    else if (recordedToken !== undefined) {
      headers.authorization = `Bearer ${this.#tokens.get(recordedToken) ?? recordedToken}`;
    }
    return headers;
  }

  #authRequestOf(exchange: FullExchange): { body?: string; signature?: string } {
    const recordedRequest = jsonOf(exchange.requestBody());
    if (!isObject(recordedRequest)) return this.#bodyOf(exchange);
    const { tenant_token: _, pubkey, ...otherMembers } = recordedRequest;
    const name = String(pubkey);
    const key = this.#keys.get(name) ?? makeEd25519Key(seededRandom(`replay/${name}`));
    this.#keys.set(name, key);
    const { tenantToken } = this.#plan;
    const body = JSON.stringify({
      ...otherMembers,
      ...(pubkey !== undefined && { pubkey: key.publicKeyPem }),
      ...(tenantToken !== undefined && { tenant_token: tenantToken }),
    });
    return { body, signature: key.sign(Buffer.from(body)).toString('base64') };
  }

  #bodyOf(exchange: FullExchange): { body?: string } {
    const recordedBody = exchange.requestBody();
    if (recordedBody === undefined || recordedBody === '') return {};
    const value = jsonOf(recordedBody);
    return {
      body: value === undefined ? String(recordedBody) : JSON.stringify(this.#moveToPresent(value)),
    };
  }

  /** Returns a JSON value with the server's IDs, and with times moved to the present. */
  #moveToPresent(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#moveToPresent(each));
    if (isObject(value)) {
      const entries = Object.entries(value).map(([name, each]) => [
        name,
        this.#moveToPresent(each),
      ]);
      return Object.fromEntries(entries);
    }
    if (typeof value !== 'string') return value;
    if (isTimestamp(value)) {
      return new Date(timestampMs(value) + (this.#shiftMs ?? 0)).toISOString();
    }
    return this.#values.get(value) ?? value;
  }

  #compare({ responseBody }: FullExchange, { body }: HttpResponse): BodyComparison {
    const actual = parsedJson(body.toString('utf8'));
    const value = jsonOf(responseBody());
    if (value === undefined && actual === undefined) return noDifference;
    if (value !== undefined && actual !== undefined) return compareBodies(value, actual);
    const name = (each: unknown) => (each === undefined ? 'no JSON' : 'JSON');
    return { differences: [`the body is ${name(actual)}, recorded ${name(value)}`], pairs: [] };
  }

  /** Learns what the server uses in place of the recorded validator, IDs and links. */
  #learn(exchange: FullExchange, { etag }: HttpResponse, { pairs }: BodyComparison): void {
    const recordedTag = exchange.responseHeaders().etag;
    if (recordedTag !== undefined && etag !== undefined) this.#values.set(recordedTag, etag);
    for (const { recorded, actual } of pairs) {
      this.#values.set(recorded, actual);
      if (URL.canParse(recorded)) this.#links.set(new URL(recorded).pathname, actual);
    }
  }
}

function jsonOf(body: unknown): unknown {
  return typeof body === 'string' ? parsedJson(body) : body;
}
