/**
 * Shows a judge what the devices of each tenant do, and what the server and its users do to them:
 * exchanges and frames as the journal gets them, planned faults, clock changes, resets, events of
 * users. A poll that repeats the last one costs one comparison; the rest waits in a queue.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../fixtures/base/clock.ts';
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { isPollOperation, operationsById } from '../../fixtures/contract/operation-ids.ts';
import type { ClientEvent, ServerEvent } from '../../fixtures/control/client-event.ts';
import type { Addresses } from '../http/addresses.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import { deviceOf } from '../journal/derived-fields.ts';
import type { JournalEntry } from '../journal/entry.ts';
import { journalOf } from '../journal/tenant-journal.ts';
import type { Log } from '../pipeline/log.ts';
import { readIdentity } from '../rules/identity.ts';
import type { Tenant } from '../tenants/tenants.ts';
import { endedMsOf, eventOfUser, exchangeEvent, socketEvent } from './client-events.ts';
import type { ClientReader, LoadClientReader } from './client-reader.ts';
import { JudgingQueue } from './judging-queue.ts';
import { isSameRequest, type WatchedClient, WatchedClients } from './watched-clients.ts';

interface FeedOptions {
  readonly load: LoadClientReader;
  /** The clock by which the exchanges are recorded. */
  readonly clock: Clock;
  readonly log: Log;
  readonly addresses: Readonly<Addresses>;
}

/** The clients of a tenant. */
interface WatchedTenant {
  readonly clients: WatchedClients;
  /** Made once the judge is loaded. */
  reader: ClientReader | undefined;
}

/** The clients of a tenant, and what the judge says about them. */
export interface JudgedTenant {
  readonly clients: WatchedClients;
  readonly reader: ClientReader;
}

/** Watches the tenants of a server. */
export class ClientFeed {
  readonly #options: FeedOptions;
  readonly #queue = new JudgingQueue();
  readonly #watched = new WeakMap<Tenant, WatchedTenant>();
  #makeReader: (() => ClientReader) | undefined;
  #loading: Promise<void> | undefined;
  #failed = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Number of events at which the judge failed. */
  get failed(): number {
    return this.#failed;
  }

  /** Number of events that wait to be judged. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Follows the journal and the clock of a tenant. The judge is loaded with the first event. */
  watch(tenant: Tenant): void {
    const watched: WatchedTenant = {
      clients: new WatchedClients((client) => watched.reader?.forget(client)),
      reader: undefined,
    };
    this.#watched.set(tenant, watched);
    const { log } = this.#options;
    journalOf(tenant).subscribe(
      (entry) => this.#readEntry(entry, tenant, watched),
      (error) => log.error('the devices of a tenant are no longer judged', error),
    );
    tenant.clock.onAdjusted = () => this.#pushServerEvent(watched, { event: 'clock-moved' });
  }

  /** Called when the state of a tenant, or of one of its devices, was replaced. */
  forgetClients(tenant: Tenant, deviceId?: string): void {
    const watched = this.#watched.get(tenant);
    watched?.clients.forget(deviceId);
    if (watched) this.#queue.push(watched.clients.all, () => watched.reader?.forget(deviceId));
  }

  /**
   * Judges what waits, and returns the clients of a tenant.
   * @param limitMs longest time for judging, in milliseconds; unlimited by default
   */
  async judgeWaitingEvents(tenant: Tenant, limitMs?: number): Promise<JudgedTenant> {
    await this.#load();
    await this.#queue.judgeWaitingEvents(limitMs);
    const watched = this.#watched.get(tenant);
    if (!watched) throw new TypeError(`the devices of tenant ${tenant.name} are not watched`);
    return { clients: watched.clients, reader: this.#readerOf(watched) };
  }

  close(): void {
    this.#queue.close();
  }

  #readEntry(entry: JournalEntry, tenant: Tenant, watched: WatchedTenant): void {
    try {
      if (entry.kind === 'exchange') this.#readExchange(entry, tenant, watched);
      else if (entry.kind === 'frame' && entry.origin.socket === 'device') {
        const { deviceId: client } = entry.origin;
        const nowMs = this.#options.clock.monotonicMs();
        const watchedClient = watched.clients.admit(client, nowMs);
        const event = socketEvent(entry, client, nowMs);
        if (watchedClient) this.#push(watched, watchedClient, () => event);
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #readExchange(record: ExchangeRecord, tenant: Tenant, watched: WatchedTenant): void {
    if (this.#isRepeat(record, watched)) return;
    const { operation = '' } = record;
    const row = operationsById.get(operation);
    if (record.userId !== undefined || row?.path.startsWith(apiPrefixes.management)) {
      const event = eventOfUser(record);
      if (event) this.#pushServerEvent(watched, event);
      return;
    }
    const { clients } = watched;
    const name = this.#clientOf(record, tenant, watched);
    const client = name === undefined ? undefined : clients.admit(name, record.startedMs);
    if (!client) return;
    const isIdle = record.status === 204 && row !== undefined && isPollOperation(row);
    client.poll = isIdle ? record : undefined;
    const { sequence, requestId } = record;
    this.#push(watched, client, () => this.#eventOf(record, client.name));
    if (operation !== 'connect' || record.status !== 101) return;
    const openEvent = {
      ...({ kind: 'socket', event: 'opened', from: 'device' } as const),
      journalEntry: sequence,
      client: client.name,
      socket: requestId,
      atMs: endedMsOf(record),
    };
    this.#push(watched, client, () => openEvent);
  }

  /** Returns true if a device repeats its last poll, and there is nothing more to judge. */
  #isRepeat(record: ExchangeRecord, { clients, reader }: WatchedTenant): boolean {
    const { status, deviceId = '', startedMs } = record;
    const client = status === 204 ? clients.find(deviceId) : undefined;
    if (!client?.poll || !isSameRequest(client.poll, record)) return false;
    client.seenMs = startedMs;
    // While the poll that it repeats waits to be judged, it adds nothing but work.
    if (client.waiting > 0) return true;
    const times = { sentMs: startedMs, endedMs: endedMsOf(record) };
    return reader?.recordRepeat(client.name, times) ?? false;
  }

  #eventOf(record: ExchangeRecord, client: string): ClientEvent {
    const baseUrl = this.#options.addresses.api;
    const { sequence } = record;
    return exchangeEvent(record, {
      journalEntry: sequence,
      client,
      baseUrl,
      ...wholeBodies(record),
    });
  }

  /**
   * Returns the name of the client that sent a request: the ID of the device; for an identity that
   * the server does not know, a digest of it; undefined for a request of nobody.
   */
  #clientOf(record: ExchangeRecord, tenant: Tenant, watched: WatchedTenant): string | undefined {
    if (record.deviceId !== undefined) return record.deviceId;
    const { id, identity } = deviceOf(record, tenant) ?? {};
    if (identity === undefined) return undefined;
    const { clients } = watched;
    const unknownName = unknownClient(identity);
    if (id === undefined) {
      if (clients.admit(unknownName, record.startedMs)) clients.identify(unknownName, identity);
      return unknownName;
    }
    if (clients.find(unknownName)) {
      clients.rename(unknownName, id);
      this.#queue.push(clients.all, () => watched.reader?.rename(unknownName, id));
    }
    return id;
  }

  #pushServerEvent(watched: WatchedTenant, event: Omit<ServerEvent, 'kind' | 'atMs'>): void {
    const { clients } = watched;
    const atMs = this.#options.clock.monotonicMs();
    const client = event.client === undefined ? clients.all : clients.admit(event.client, atMs);
    if (!client) return;
    this.#push(watched, client, () => ({ kind: 'server', ...event, atMs }));
    if (event.event === 'decommissioned') clients.retire(client.name);
  }

  /** Adds an event to the queue; if there is no room, a single event says so in its place. */
  #push(watched: WatchedTenant, client: WatchedClient, event: () => ClientEvent): void {
    if (!this.#queue.isFull(client)) {
      client.gap = undefined;
      this.#queue.push(client, () => this.#judge(watched, client, event));
      if (!this.#loading) this.#load().catch((error: unknown) => this.#fail(error));
      return;
    }
    const gap = watched.clients.drop(client);
    if (!gap.isNew) return;
    const nowMs = this.#options.clock.monotonicMs();
    const dropped = (): ClientEvent => droppedEvents(client, nowMs, gap.count());
    this.#queue.push(client, () => this.#judge(watched, client, dropped));
  }

  #judge(watched: WatchedTenant, client: WatchedClient, event: () => ClientEvent): void {
    const reader = this.#readerOf(watched);
    try {
      reader.observe(event());
    } catch (error) {
      this.#fail(error);
      client.poll = undefined;
      // What it knows about the client may be incomplete.
      reader.forget(client === watched.clients.all ? undefined : client.name);
      reader.observe(droppedEvents(client, this.#options.clock.monotonicMs(), 1));
    }
  }

  #fail(error: unknown): void {
    this.#failed += 1;
    if (this.#failed > 1) return;
    this.#options.log.error('the client judge failed; further failures are only counted', error);
  }

  #readerOf(watched: WatchedTenant): ClientReader {
    if (!this.#makeReader) throw new Error('the client judge is not loaded');
    watched.reader ??= this.#makeReader();
    return watched.reader;
  }

  #load(): Promise<void> {
    this.#loading ??= this.#options.load().then((makeReader) => {
      this.#makeReader = makeReader;
      this.#queue.start();
    });
    return this.#loading;
  }
}

/** Returns the event that stands for events of a client, or of all, that were lost. */
function droppedEvents({ name }: WatchedClient, atMs: number, count: number): ClientEvent {
  return {
    ...({ kind: 'server', event: 'events-dropped', atMs, count } as const),
    ...(name !== '' && { client: name }),
  };
}

/** Returns the bodies of a record that the journal has not cut. */
function wholeBodies({ body, bodyBytes, responseBody, responseBytes }: ExchangeRecord) {
  const isWhole = responseBody !== undefined && Buffer.byteLength(responseBody) === responseBytes;
  return {
    body: body?.length === bodyBytes ? body : undefined,
    responseBody: isWhole ? responseBody : undefined,
  };
}

/** Returns the name of a client by its identity, whose text may be long. */
function unknownClient(identity: string): string {
  const parsedIdentity = readIdentity(identity);
  const text = 'canonical' in parsedIdentity ? parsedIdentity.canonical : identity;
  return `unknown-${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
}
