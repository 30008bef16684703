/** The clients of a tenant that are judged: a limited number, each with its last idle poll. */
import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { WaitingClient } from './judging-queue.ts';

/** Maximum number of clients of a tenant that are judged at a time. */
export const CLIENTS_MAX = 1000;
/** Maximum number of clients that the server does not know; a new one replaces the oldest. */
export const UNKNOWN_MAX = 100;
/** A client that was silent for so long makes room for another one. */
const SILENT_MS = 600_000;
/** Pause between two searches for silent clients. */
const SEARCH_PAUSE_MS = 10_000;
const IDENTITY_MAX_CHARACTERS = 500;

/** A client that is judged; `all` stands for all clients. */
export interface WatchedClient extends WaitingClient {
  readonly name: string;
  /** The last poll, if it brought no update. */
  poll: ExchangeRecord | undefined;
  seenMs: number;
  /** Events that are being lost in a row. */
  gap: { count: number } | undefined;
  /** The identity of a client that the server does not know, as it was sent. */
  identity?: string;
}

/** Decides which clients are judged, and recognizes polls that repeat the last one. */
export class WatchedClients {
  readonly #clients = new Map<string, WatchedClient>();
  readonly #onForgotten: (client: string) => void;
  /** The clients that the server does not know, the oldest first. */
  readonly #unknown = new Set<string>();
  /** Stands for all clients, for what concerns each of them. */
  readonly all = newClient('', Number.POSITIVE_INFINITY);
  #searchedMs = Number.NEGATIVE_INFINITY;
  #leftOut = 0;
  #dropped = 0;

  /** @param onForgotten called with each client that made room for another one */
  constructor(onForgotten: (client: string) => void) {
    this.#onForgotten = onForgotten;
  }

  /** Number of events of clients that are not judged because there are too many. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Number of events that were lost before they could be judged. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Returns a client that is judged. */
  find(name: string): WatchedClient | undefined {
    return this.#clients.get(name);
  }

  /** The identity of a client that the server does not know, as it was sent. */
  identityOf(client: string): string | undefined {
    return this.#clients.get(client)?.identity;
  }

  /** Returns a client that is judged; one more is, while there is room; undefined for others. */
  admit(name: string, nowMs: number): WatchedClient | undefined {
    const watchedClient = this.#clients.get(name);
    if (watchedClient) {
      watchedClient.seenMs = nowMs;
      return watchedClient;
    }
    if (this.#clients.size >= CLIENTS_MAX) this.#makeRoom(nowMs);
    if (this.#clients.size >= CLIENTS_MAX) {
      this.#leftOut += 1;
      return undefined;
    }
    const admitted = newClient(name, nowMs);
    this.#clients.set(name, admitted);
    return admitted;
  }

  /** Notes the identity of a judged client that the server does not know. */
  identify(client: string, identity: string): void {
    const watchedClient = this.#clients.get(client);
    if (!watchedClient) return;
    watchedClient.identity = identity.slice(0, IDENTITY_MAX_CHARACTERS);
    this.#unknown.add(client);
    const [oldest = client] = this.#unknown;
    if (this.#unknown.size > UNKNOWN_MAX) this.#evict(oldest);
  }

  /** Lets a client that has been decommissioned be the first that makes room. */
  retire(client: string): void {
    const watchedClient = this.#clients.get(client);
    if (watchedClient) watchedClient.seenMs = Number.NEGATIVE_INFINITY;
  }

  /** Notes a lost event. @returns whether it is the first one in a row, and how many there are */
  drop(client: WatchedClient): { readonly isNew: boolean; readonly count: () => number } {
    this.#dropped += 1;
    const isNew = client.gap === undefined;
    const gap = client.gap ?? { count: 0 };
    gap.count += 1;
    client.gap = gap;
    return { isNew, count: () => gap.count };
  }

  /** Gives a client its final name. */
  rename(former: string, client: string): void {
    const watchedClient = this.#clients.get(former);
    this.#clients.delete(former);
    this.#unknown.delete(former);
    if (watchedClient && !this.#clients.has(client))
      this.#clients.set(client, newClient(client, watchedClient.seenMs));
  }

  /** Forgets a client; all of them without a name. */
  forget(client?: string): void {
    for (const each of client === undefined ? [...this.#clients.keys()] : [client]) {
      this.#clients.delete(each);
      this.#unknown.delete(each);
    }
  }

  #makeRoom(nowMs: number): void {
    if (nowMs - this.#searchedMs < SEARCH_PAUSE_MS) return;
    this.#searchedMs = nowMs;
    for (const [client, { seenMs }] of this.#clients) {
      if (nowMs - seenMs >= SILENT_MS) this.#evict(client);
    }
  }

  #evict(client: string): void {
    this.forget(client);
    this.#onForgotten(client);
  }
}

function newClient(name: string, seenMs: number): WatchedClient {
  return { name, poll: undefined, seenMs, gap: undefined, waiting: 0 };
}

/** Returns true if two requests are equal in target, headers and whole body. */
export function isSameRequest(one: ExchangeRecord, other: ExchangeRecord): boolean {
  const { headers, body } = one;
  if (one.url !== other.url || one.method !== other.method) return false;
  if (headers.length !== other.headers.length) return false;
  for (let at = 0; at < headers.length; at += 1) {
    if (headers[at] !== other.headers[at]) return false;
  }
  if (one.bodyBytes !== other.bodyBytes || one.bodyBytes !== (body?.length ?? 0)) return false;
  return body === undefined || (other.body !== undefined && body.equals(other.body));
}
