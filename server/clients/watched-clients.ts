/** The clients of a tenant that are judged: a limited number, each with its last idle poll. */
import type { ExchangeRecord } from '../http/exchange-record.ts';

/** Maximum number of clients of a tenant that are judged at a time. */
export const CLIENTS_MAX = 1000;
/** A client that was silent for so long makes room for another one. */
const SILENT_MS = 600_000;
/** Pause between two searches for silent clients. */
const SEARCH_PAUSE_MS = 10_000;
const IDENTITY_MAX_CHARACTERS = 500;

interface WatchedClient {
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
  readonly #forgotten: (client: string) => void;
  /** Losses that concern all clients. */
  readonly #all: Pick<WatchedClient, 'gap'> = { gap: undefined };
  #searchedMs = Number.NEGATIVE_INFINITY;
  #leftOut = 0;
  #dropped = 0;

  /** @param forgotten called with each client that made room for another one */
  constructor(forgotten: (client: string) => void) {
    this.#forgotten = forgotten;
  }

  /** Number of events of clients that are not judged because there are too many. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Number of events that were lost before they could be judged. */
  get dropped(): number {
    return this.#dropped;
  }

  has(client: string): boolean {
    return this.#clients.has(client);
  }

  /** The identity of a client that the server does not know, as it was sent. */
  identityOf(client: string): string | undefined {
    return this.#clients.get(client)?.identity;
  }

  /** Returns true if the client is judged; one more is, while there is room. */
  admit(client: string, nowMs: number): boolean {
    const known = this.#clients.get(client);
    if (known) {
      known.seenMs = nowMs;
      return true;
    }
    if (this.#clients.size >= CLIENTS_MAX) this.#makeRoom(nowMs);
    if (this.#clients.size >= CLIENTS_MAX) {
      this.#leftOut += 1;
      return false;
    }
    this.#clients.set(client, { poll: undefined, seenMs: nowMs, gap: undefined });
    return true;
  }

  /** Notes the identity of a judged client that the server does not know. */
  identify(client: string, identity: string): void {
    const known = this.#clients.get(client);
    if (known) known.identity = identity.slice(0, IDENTITY_MAX_CHARACTERS);
  }

  /** Notes the last poll of a client; undefined after any other request. */
  polled(client: string, record: ExchangeRecord | undefined): void {
    const known = this.#clients.get(client);
    if (known) known.poll = record;
  }

  /** Returns true if a poll is equal to the last request of the client. */
  repeatsPoll(client: string, record: ExchangeRecord): boolean {
    const known = this.#clients.get(client);
    if (!known?.poll || !isEqual(known.poll, record)) return false;
    known.seenMs = record.startedMs;
    return true;
  }

  /** Notes a lost event. @returns whether it is the first one in a row, and how many there are */
  drop(client: string): { readonly isNew: boolean; readonly count: () => number } {
    this.#dropped += 1;
    const known = client === '' ? this.#all : this.#clients.get(client);
    const isNew = known !== undefined && known.gap === undefined;
    const gap = known?.gap ?? { count: 0 };
    gap.count += 1;
    if (known) known.gap = gap;
    return { isNew, count: () => gap.count };
  }

  /** Notes that events of the client are no longer lost. */
  endGap(client: string): void {
    const known = client === '' ? this.#all : this.#clients.get(client);
    if (known) known.gap = undefined;
  }

  /** Gives a client its final name. */
  rename(former: string, client: string): void {
    const known = this.#clients.get(former);
    this.#clients.delete(former);
    if (known && !this.#clients.has(client)) this.#clients.set(client, known);
  }

  /** Forgets a client; all of them without a name. */
  forget(client?: string): void {
    if (client === undefined) this.#clients.clear();
    else this.#clients.delete(client);
  }

  #makeRoom(nowMs: number): void {
    if (nowMs - this.#searchedMs < SEARCH_PAUSE_MS) return;
    this.#searchedMs = nowMs;
    for (const [client, { seenMs }] of this.#clients) {
      if (nowMs - seenMs < SILENT_MS) continue;
      this.#clients.delete(client);
      this.#forgotten(client);
    }
  }
}

/** Returns true if two requests are equal in target, headers and whole body. */
function isEqual(one: ExchangeRecord, other: ExchangeRecord): boolean {
  const { headers, body } = one;
  if (one.url !== other.url || one.method !== other.method) return false;
  if (headers.length !== other.headers.length) return false;
  for (let at = 0; at < headers.length; at += 1) {
    if (headers[at] !== other.headers[at]) return false;
  }
  if (one.bodyBytes !== other.bodyBytes || one.bodyBytes !== (body?.length ?? 0)) return false;
  return body === undefined || (other.body !== undefined && body.equals(other.body));
}
