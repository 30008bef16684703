/**
 * The lines of a session file, which is a journal of one recorded device, with nothing secret in
 * it: tokens have names that keep them apart, signatures and other secrets are masked, and no file
 * content is kept beyond its beginning.
 */
import { createHash } from 'node:crypto';
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import type { FlatHeaders } from '../../../server/http/exchange-record.ts';
import { BODY_KEPT_BYTES } from '../../../server/http/exchange-record.ts';
import { masked, maskHeaders, maskText } from '../../../server/http/masking.ts';
import { headerOf, viewOf } from '../../../server/journal/body-view.ts';

/** Limit on the senders and tokens that are distinguished; later ones share the last name. */
const NAMES_MAX = 10_000;

/** A request that went through the proxy, and its response. Times are in milliseconds. */
export interface ProxiedExchange {
  /** When the response ended, since the Unix epoch. */
  readonly endedMs: number;
  readonly tookMs: number;
  readonly method: string;
  /** The URL as the device requested it. */
  readonly url: string;
  readonly requestHeaders: FlatHeaders;
  readonly requestBody: Buffer;
  /** 0 if no response came. */
  readonly status: number;
  readonly responseHeaders: FlatHeaders;
  /** The beginning of the body, and the length of the whole. */
  readonly responseBody: Buffer;
  readonly responseBytes: number;
}

/** A frame of a WebSocket that went through the proxy. */
export interface ProxiedFrame {
  readonly atMs: number;
  readonly from: 'client' | 'server';
  readonly opcode: string;
  readonly bytes: number;
}

/** Makes the lines of one session file. */
export class SessionLines {
  readonly #tokens = new Names('token');
  readonly #devices = new Names('device');
  readonly #deviceOfToken = new Map<string, string>();
  #lastDevice: string | undefined;
  #sequence = 0;

  /**
   * Returns the line of an exchange: an entry of a journal as `conformance/recordings` reads it.
   */
  exchange(exchange: ProxiedExchange): string {
    const { method, url, status, endedMs, tookMs, responseHeaders, responseBytes } = exchange;
    const id = this.#deviceOf(exchange);
    const bodyText = exchange.requestBody.toString('utf8');
    return this.#line('exchange', endedMs, {
      tookMs,
      method,
      url: maskText(url),
      status,
      ...(id !== undefined && { device: { id } }),
      requestHeaders: this.#headers(exchange.requestHeaders),
      ...(bodyText !== '' && { requestBody: maskText(bodyText) }),
      responseHeaders: this.#headers(responseHeaders),
      responseBytes,
      ...this.#answer(exchange),
    });
  }

  /**
   * Returns the line of a frame, without its payload: a terminal's input has no mark of a secret.
   */
  frame({ atMs, from, opcode, bytes }: ProxiedFrame): string {
    return this.#line('frame', atMs, { from, opcode, bytes });
  }

  #line(kind: string, atMs: number, members: object): string {
    this.#sequence += 1;
    const head = { kind, sequence: this.#sequence, at: new Date(atMs).toISOString() };
    return `${JSON.stringify({ ...head, ...members })}\n`;
  }

  #answer({
    status,
    responseHeaders: headers,
    responseBody,
    responseBytes,
    ...sent
  }: ProxiedExchange) {
    if (status === 200 && isAuthRequest(sent.url)) {
      return { responseBody: this.#tokens.nameOf(responseBody.toString('latin1')) };
    }
    const view = viewOf(headers, responseBody, responseBytes);
    if (view === undefined) return {};
    const { value, encoding, cutAt } = view;
    return {
      responseBody: value,
      ...(encoding === 'base64' && { responseBodyEncoding: encoding }),
      ...(cutAt !== undefined && { responseBodyCutAt: cutAt }),
    };
  }

  #headers(flat: FlatHeaders): readonly (readonly [name: string, value: string])[] {
    return maskHeaders(flat).map(([name, value], at) => {
      if (/signature$/i.test(name)) return [name, masked];
      const token = tokenIn(name, String(flat[2 * at + 1] ?? ''));
      if (token === undefined) return [name, value];
      const alias = this.#tokens.nameOf(token);
      return [name, /^cookie$/i.test(name) ? `JWT=${alias}` : `Bearer ${alias}`];
    });
  }

  /**
   * Returns the name of the sender: of its key where it authenticates, else of its token. A link
   * carries neither, so who fetches it is the device that was seen last.
   */
  #deviceOf({ url, status, requestHeaders, requestBody, responseBody }: ProxiedExchange) {
    const token = tokenOf(requestHeaders);
    const knownDevice = token === undefined ? undefined : this.#deviceOfToken.get(digest(token));
    const { pubkey } = members(
      isAuthRequest(url) ? parsedJson(requestBody.toString('utf8')) : undefined,
    );
    const device = typeof pubkey === 'string' ? this.#devices.nameOf(pubkey) : knownDevice;
    if (device === undefined) return this.#lastDevice;
    if (status === 200 && isAuthRequest(url) && this.#deviceOfToken.size < NAMES_MAX) {
      this.#deviceOfToken.set(digest(responseBody.toString('latin1')), device);
    }
    this.#lastDevice = device;
    return device;
  }
}

/** Gives values names in the order of their first appearance, and stores only their digests. */
class Names {
  readonly #kind: string;
  readonly #known = new Map<string, string>();

  constructor(kind: string) {
    this.#kind = kind;
  }

  nameOf(value: string): string {
    const key = digest(value);
    const name = this.#known.get(key) ?? `${this.#kind}-${this.#known.size + 1}`;
    if (this.#known.size < NAMES_MAX) this.#known.set(key, name);
    return name;
  }
}

function isAuthRequest(url: string): boolean {
  return new URL(url).pathname.endsWith('/authentication/auth_requests');
}

function tokenOf(flat: FlatHeaders): string | undefined {
  return (
    tokenIn('authorization', headerOf(flat, 'authorization')) ??
    tokenIn('cookie', headerOf(flat, 'cookie'))
  );
}

function tokenIn(name: string, value: string): string | undefined {
  if (/^authorization$/i.test(name)) return /^Bearer +(\S+)$/i.exec(value)?.[1];
  return /^cookie$/i.test(name) ? /\bJWT=([^;\s]+)/.exec(value)?.[1] : undefined;
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Bytes that the proxy keeps of each body; a request of a device is rarely longer. */
export const KEPT_BYTES = BODY_KEPT_BYTES;
