/**
 * The listeners of the public API, and of artifact files on a separate port under the dialect
 * `storage-host`.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { DialectName } from '../../fixtures/contract/dialects.ts';
import { endpoints } from '../api/device/endpoints.ts';
import { confirmationPages } from '../api/management/confirmation-pages.ts';
import { managementEndpoints } from '../api/management/management.ts';
import type { Addresses } from '../http/addresses.ts';
import { openFilesLimit, shareOpenFiles } from '../http/open-files.ts';
import type { Endpoint } from '../pipeline/endpoint.ts';
import { type ListenerName, listenerOf } from '../pipeline/mounted.ts';
import { Pipeline } from '../pipeline/pipeline.ts';
import type { ExchangeObserver, ResponseTransform } from '../pipeline/plug-ins.ts';
import { assertComplete, mountRoutes } from '../pipeline/routes.ts';
import type { Services } from '../pipeline/services.ts';
import { completeConnectionLimits, connectionLimitsOf } from '../settings.ts';
import type { Watchdog } from '../watchdog.ts';
import { createListener } from './api-listener.ts';
import { RESPONSE_READ_MAX_MS } from './connection-limits.ts';
import { Connections } from './connections.ts';
import { createInternalApi } from './create-internal-api.ts';
import { createMemoryListener } from './in-memory.ts';
import type { InternalApi } from './internal-api.ts';
import type { MemoryListener } from './memory-listener.ts';
import { StagedClosing } from './staged-closing.ts';
import type { TlsIdentity } from './tls/identity.ts';

/** The TLS facts that clients need. */
export interface RunningTls {
  /** The test CA's certificate in PEM; absent when the user supplied a certificate file. */
  readonly caPem?: string;
  /**
   * Base URL of each listener with faulty TLS, by its fault; empty unless broken TLS is enabled.
   */
  readonly brokenTls: Readonly<Record<string, string>>;
}

/** The open listeners with their URLs. */
export interface OpenListeners {
  readonly baseUrl: string;
  /** URL of artifact files, if they have a listener of their own. */
  readonly storageUrl?: string;
  /** TLS facts of the listeners; absent when they are unencrypted. */
  readonly tls?: RunningTls;
  /**
   * Opens the API on one more port, unencrypted and on loopback, for calls of the server itself.
   * Returns its URL and a function that closes it.
   */
  openInside(): Promise<{ readonly url: string; close(): Promise<void> }>;
  /** Returns the API for callers in this process. It needs no closing. */
  openInMemory(): MemoryListener;
  /** Returns the API for requests that another listener received. It needs no closing. */
  openInternalApi(): InternalApi;
  /**
   * Stops accepting connections and ends open requests. Closes WebSockets once `farewell` resolves,
   * or after `RESPONSE_READ_MAX_MS`.
   */
  close(farewell?: Promise<void>): Promise<void>;
}

/** Observers and transforms for the exchanges of all listeners. */
interface PlugIns {
  readonly observers: readonly ExchangeObserver[];
  readonly transforms: readonly ResponseTransform[];
  /** The caller's object, filled in as listeners open. */
  readonly addresses?: Addresses;
  readonly watchdog?: Watchdog;
}

/**
 * Opens the listeners. Rejects with the system's error (such as EADDRINUSE) when a port cannot be
 * opened.
 * @throws SettingError when a TLS file cannot be used
 */
export async function openListeners(services: Services, plugIns: PlugIns): Promise<OpenListeners> {
  const { observers, addresses: at = { api: '' } } = plugIns;
  const pipeline = new Pipeline(services, { ...plugIns, addresses: at });
  const { api, storage } = sharedOut(services.settings.dialects);
  const tls = await preparedTls(services);
  const openServers = new OpenServers(services, { pipeline, observers });
  try {
    at.api = await openServers.open(api, { port: services.settings.port, tls: tls?.identity });
    if (storage.length > 0)
      at.storage = await openServers.open(storage, { port: 0, tls: tls?.identity });
    const brokenTls: Record<string, string> = {};
    for (const [name, wrong] of Object.entries(tls?.brokenTls ?? {})) {
      brokenTls[name] = await openServers.open(api, { port: 0, tls: wrong });
    }
    return {
      baseUrl: at.api,
      ...(at.storage !== undefined && { storageUrl: at.storage }),
      ...(tls && { tls: { ...(tls.caPem !== undefined && { caPem: tls.caPem }), brokenTls } }),
      openInside: async () => {
        const insideServers = new OpenServers(services, { pipeline, observers }, '127.0.0.1');
        const url = await insideServers.open(api, { port: 0, tls: undefined });
        return { url, close: () => insideServers.close() };
      },
      openInMemory: () => openServers.openInMemory(api),
      openInternalApi: () => openInternalApi(services, [...api, ...storage], at),
      close: (farewell) => openServers.close(farewell),
    };
  } catch (error) {
    await openServers.close();
    throw error;
  }
}

/** Returns the API without observers, transforms and rate limit. */
function openInternalApi(services: Services, mounted: readonly Endpoint[], addresses: Addresses) {
  const pipeline = new Pipeline(services, {
    addresses,
    observers: [],
    transforms: [],
    isUnlimited: true,
  });
  const routes = mountRoutes(mounted, pipeline, confirmationPages);
  return createInternalApi({
    routes,
    headerNames: services.headerNames,
    newRequestId: pipeline.newRequestId,
  });
}

/**
 * Prepares keys and certificates. The TLS code is loaded on demand, so that an unencrypted server
 * starts faster.
 */
async function preparedTls({ settings, clock, random }: Services) {
  if (!settings.tls) return undefined;
  const { prepareTls } = await import('./tls/tls.ts');
  return prepareTls(settings.tls, { clock, random, host: settings.host });
}

interface ListenerParts {
  readonly pipeline: Pipeline;
  readonly observers: readonly ExchangeObserver[];
}

/** The open servers. Each has its own routes; they share the pipeline and the connections. */
class OpenServers {
  readonly #services: Services;
  readonly #pipeline: Pipeline;
  readonly #observers: readonly ExchangeObserver[];
  readonly #host: string;
  readonly #servers: Server[] = [];
  readonly #connections: Connections;
  readonly #stopOverloadWatch: () => void;

  constructor(
    services: Services,
    { pipeline, observers }: ListenerParts,
    host = services.settings.host,
  ) {
    this.#observers = observers;
    this.#host = host;
    this.#services = services;
    const { openFiles, incompleteTransfers, settings } = services;
    const { refused } = shareOpenFiles(openFilesLimit(), openFiles.max);
    const closing = new StagedClosing(
      completeConnectionLimits(settings.connectionLimits),
      incompleteTransfers,
    );
    this.#connections = new Connections({ openFiles, surplusMax: refused, closing });
    this.#stopOverloadWatch = services.turns.onOverload(() => this.#connections.stopReading());
    this.#pipeline = pipeline;
  }

  /** Opens a server and returns its URL. */
  async open(
    mounted: readonly Endpoint[],
    { port, tls }: { port: number; tls: TlsIdentity | undefined },
  ): Promise<string> {
    const { headerNames, random, log, settings, tenants, turns } = this.#services;
    const routes = mountRoutes(mounted, this.#pipeline, confirmationPages);
    const { newRequestId } = this.#pipeline;
    const connectionLimits = connectionLimitsOf(settings);
    const shared = { routes, headerNames, random, log, turns, tls, newRequestId, connectionLimits };
    const connections = this.#connections;
    const server = createListener({
      ...shared,
      connections,
      onUnparsable: (request) => {
        for (const observer of this.#observers) observer.onUnparsable?.(request, tenants.first);
      },
    });
    const authority = await listen(server, this.#host, port);
    this.#servers.push(server);
    return `${tls ? 'https' : 'http'}://${authority}`;
  }

  openInMemory(mounted: readonly Endpoint[]): MemoryListener {
    const { headerNames } = this.#services;
    const { newRequestId } = this.#pipeline;
    const routes = mountRoutes(mounted, this.#pipeline, confirmationPages);
    return createMemoryListener({ routes, headerNames, newRequestId });
  }

  async close(farewell?: Promise<void>): Promise<void> {
    const closed = this.#servers.map(shutServer);
    // System time: a tenant's clock may be stopped, and the wait would then never end.
    const over = new AbortController();
    const longest = systemClock.sleep(RESPONSE_READ_MAX_MS, over.signal);
    await Promise.race([farewell, longest]);
    over.abort();
    this.#stopOverloadWatch();
    this.#connections.destroy();
    await Promise.all(closed);
  }
}

/** Returns the endpoints of each listener. */
function sharedOut(dialects: ReadonlySet<DialectName>): Record<ListenerName, Endpoint[]> {
  const all = [...endpoints, ...managementEndpoints];
  assertComplete(all);
  const endpointsOn = (listener: ListenerName): Endpoint[] =>
    all.filter(({ operation }) => listenerOf(operation, dialects) === listener);
  return { api: endpointsOn('api'), storage: endpointsOn('storage') };
}

/** Starts to listen; resolves with host and port. */
function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      const { port: actual } = server.address() as AddressInfo;
      resolve(`${host.includes(':') ? `[${host}]` : host}:${actual}`);
    });
  });
}

/** Stops accepting connections, and ends all requests; resolves once every connection is closed. */
function shutServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
