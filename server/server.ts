/** Starts the reference server: one API listener, one control listener, one store. */
import { type Clock, systemClock } from '../fixtures/base/clock.ts';
import { type Random, systemRandom } from '../fixtures/base/random.ts';
import { ClientFeed } from './client-feed/client-feed.ts';
import type { LoadClientReader } from './client-feed/client-reader.ts';
import { type RunningControl, startControl } from './control/http/control.ts';
import { ActivityFeed } from './control/sources/activity.ts';
import { overviewSource } from './control/sources/overview.ts';
import { RequestCounts } from './control/sources/request-counts.ts';
import { type RunStarter, Runs } from './control/sources/runs.ts';
import type { ControlSource } from './control/sources/source.ts';
import type { FaultPlans } from './faults/fault-plans.ts';
import { faultPlansOf } from './faults/tenant-faults.ts';
import { FaultTransform } from './faults/transform.ts';
import type { Addresses } from './http/addresses.ts';
import { ByteBudget } from './http/byte-budget.ts';
import { openFilesLimit, Semaphore, shareOpenFiles } from './http/open-files.ts';
import { journalObserver } from './journal/observer.ts';
import { openJournals } from './journal/tenant-journal.ts';
import type { InternalApi } from './listeners/internal-api.ts';
import { type OpenListeners, openListeners, type RunningTls } from './listeners/listeners.ts';
import { type Log, openLog } from './pipeline/log.ts';
import { openServices } from './pipeline/open-services.ts';
import type { ExchangeObserver } from './pipeline/plug-ins.ts';
import type { Services } from './pipeline/services.ts';
import {
  completeConnectionLimits,
  completeSettings,
  connectionLimitsOf,
  type Settings,
} from './settings.ts';
import { stateError } from './store/engine/state-error.ts';
import { rethrowUnlessDiskError, storageProblem } from './store/engine/storage-error.ts';
import { DataFolder } from './store/folder/data-folder.ts';
import { loggedInAdmin } from './tenants/admin.ts';
import type { Tenant } from './tenants/tenants.ts';
import { openVariation, type Variation } from './variation/variation.ts';
import { variationTransform } from './variation/varied-response.ts';
import { Watchdog } from './watchdog.ts';
import { TenantStates } from './world/tenant-states.ts';

/** The server's settings, with clock and random source as inputs; all have defaults. */
export interface ServerOptions extends Partial<Settings> {
  readonly clock?: Clock;
  readonly random?: Random;
  /** Starts the runs that the console requests; without it the console cannot start runs. */
  readonly startRun?: RunStarter;
  /** Sees every exchange before the journal truncates its bodies. */
  readonly observer?: ExchangeObserver;
  /** Loads the client judge; without it no client is judged. */
  readonly judge?: LoadClientReader;
}

/** A server whose two listeners accept connections. */
export interface RunningServer {
  readonly baseUrl: string;
  /** URL of artifact files under the dialect storage-host. */
  readonly storageUrl?: string;
  /** TLS facts of the listeners; absent when they are unencrypted. */
  readonly tls?: RunningTls;
  readonly controlUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  /** The admin's access token for the management API. */
  readonly adminToken: string;
  /** The token for the control listener; it does not expire. */
  readonly controlToken: string;
  readonly headerPrefix: string;
  /** The fault plans of the first tenant. */
  readonly faults: FaultPlans;
  close(): Promise<void>;
}

/**
 * Opens a server and starts its watchdog. Rejects with the system's error (such as EADDRINUSE) when
 * a listener cannot open.
 * @throws SettingError when a setting is invalid
 * @throws StateError when the data folder cannot be used
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { server, watchdog } = await openServer(options);
  // Not in `openServer`: an embedded server shares the event loop with a test, which may block it.
  watchdog.start();
  return server;
}

/** A server with its internals, for code that embeds it. */
export interface OpenServer {
  readonly server: RunningServer;
  readonly services: Services;
  readonly states: TenantStates;
  readonly openInside: OpenListeners['openInside'];
  readonly openInMemory: OpenListeners['openInMemory'];
  readonly watchdog: Watchdog;
  /** Absent without a judge, or without a journal. */
  readonly clients: ClientFeed | undefined;
}

/**
 * Opens data folder, tenants, API and control listener, in this order. Throws as `startServer`
 * does.
 */
export async function openServer(options: ServerOptions): Promise<OpenServer> {
  const {
    clock = systemClock,
    random = systemRandom,
    startRun,
    observer,
    judge,
    ...settingValues
  } = options;
  const settings = completeSettings(settingValues);
  const { dataFolder } = settings;
  const data = dataFolder === undefined ? undefined : await DataFolder.open(dataFolder);
  /** The open parts, newest first. */
  const open: { close(): unknown }[] = data ? [data] : [];
  try {
    const log = openLog(settings.logLevel);
    const watchdog = new Watchdog(log);
    const activity = new ActivityFeed();
    const counts = new RequestCounts(clock);
    const observers: readonly ExchangeObserver[] = [
      ...(observer ? [observer] : []),
      journalObserver,
      activity,
      counts,
    ];
    const { journalEntriesMax: entriesMax, journalBytesMax: bytesMax } = settings;
    const addresses: Addresses = { api: '' };
    const clients =
      judge && entriesMax > 0 ? new ClientFeed({ load: judge, clock, log, addresses }) : undefined;
    if (clients) open.unshift(clients);
    const openJournal = openJournals({ entriesMax, bytesMax });
    const onTenantCreated = (tenant: Tenant): void => {
      openJournal(tenant);
      clients?.watch(tenant);
    };
    const shared = { ...openBudgets(settings, log), observers };
    const services = await openServices({
      settings,
      clock,
      random,
      log,
      data,
      onTenantCreated,
      ...shared,
    });
    open.unshift(services.tenants);
    const admin = await loggedInAdmin(services, data);
    const controlToken = random.bytes(24).toString('base64url');
    const { variationSeed, variations: names } = settings;
    const variation = openVariation(variationSeed, names.size > 0 ? names : undefined);
    const transforms = [new FaultTransform(services), variationTransform(variation)];
    const plugIns = { observers, transforms, addresses, watchdog };
    const listeners = await openListeners(services, plugIns);
    open.unshift(listeners);
    const { openInside, openInMemory, openInternalApi } = listeners;
    const states = new TenantStates(services, openInside, (...state) =>
      clients?.forgetClients(...state),
    );
    // With a full disk the server still starts, because everything can be read.
    await states.markStart(services.tenants.first).catch(rethrowUnlessDiskError);
    const { adminEmail } = admin;
    const internalApi = openInternalApi();
    const source = overviewSource(activity, counts);
    const controlSources = {
      source,
      controlToken,
      adminEmail,
      internalApi,
      startRun,
      addresses,
      variation,
    };
    const controlContext = { services, states, watchdog, clients, ...controlSources };
    const control = await openControl(controlContext);
    addresses.console = control.url;
    const runningParts = { services, listeners, control, watchdog, stores: open.slice(1) };
    const server = { ...runningServer(runningParts), ...admin, controlToken };
    return { server, services, states, openInside, openInMemory, watchdog, clients };
  } catch (error) {
    for (const each of open) await each.close();
    const isStorageError = dataFolder !== undefined && storageProblem(error) !== undefined;
    throw isStorageError ? stateError(dataFolder, error) : error;
  }
}

interface ControlledServer
  extends Pick<OpenServer, 'services' | 'states' | 'watchdog' | 'clients'> {
  readonly source: ControlSource;
  readonly controlToken: string;
  readonly adminEmail: string;
  readonly internalApi: InternalApi;
  readonly startRun: RunStarter | undefined;
  readonly addresses: Addresses;
  readonly variation: Variation;
}

function openControl(controlled: ControlledServer) {
  const { services, adminEmail, internalApi, startRun, addresses, ...rest } = controlled;
  const { settings, tenants, outbox, log, storageErrors, clock, headerNames } = services;
  const { tokenIssuer, random, incompleteTransfers, turns } = services;
  const { controlHost: host, controlPort: port } = settings;
  return startControl({
    ...rest,
    host,
    port,
    connectionLimits: connectionLimitsOf(settings),
    tenants,
    outbox,
    log,
    storageErrors,
    clock,
    incompleteTransfers,
    turns,
    management: { internalApi, tokenIssuer, random, clock },
    runs: new Runs(startRun, clock),
    explainFacts: { headerNames, adminEmail, mounts: { dialects: settings.dialects, addresses } },
  });
}

interface RunningServices extends Pick<OpenServer, 'services' | 'watchdog'> {
  readonly listeners: OpenListeners;
  readonly control: RunningControl;
  /** Closed after everything else, in this order. */
  readonly stores: readonly { close(): unknown }[];
}

function runningServer({ services, listeners, control, watchdog, stores }: RunningServices) {
  const { baseUrl, storageUrl, tls } = listeners;
  const { settings, sockets, tenants } = services;
  // A second call waits for the close that is in progress.
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    watchdog.close();
    await Promise.all([listeners.close(sockets.close()), control.close()]);
    for (const store of stores) store.close();
  };
  return {
    baseUrl,
    ...(storageUrl !== undefined && { storageUrl }),
    ...(tls && { tls }),
    controlUrl: control.url,
    headerPrefix: settings.headerPrefix,
    faults: faultPlansOf(tenants.first),
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}

/**
 * Creates the limits that all API connections share; logs when the system allows fewer than the
 * settings.
 */
function openBudgets({ connectionLimits }: Settings, log: Log) {
  const { connectionsMax, inFlightMaxBytes, unreadMaxBytes } =
    completeConnectionLimits(connectionLimits);
  const openFiles = new Semaphore(shareOpenFiles(openFilesLimit(), connectionsMax).api);
  if (openFiles.max < connectionsMax) {
    const sentence = fewerConnections(openFiles.max, connectionsMax);
    // Logged at debug level for the default, which exceeds the limit of most systems.
    if (connectionLimits?.connectionsMax === undefined) log.debug(sentence);
    else log.info(sentence);
  }
  return {
    openFiles,
    incompleteTransfers: new ByteBudget(inFlightMaxBytes),
    unreadBytes: new ByteBudget(unreadMaxBytes),
  };
}

function fewerConnections(max: number, wanted: number): string {
  const why = `this process can open ${openFilesLimit()} files`;
  return `at most ${max} connections at a time, not ${wanted}: ${why}; raise the limit with ulimit -n`;
}
