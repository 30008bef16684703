/** Starts the reference server: one protocol listener, one control listener, one store. */
import { type Clock, systemClock } from '../fixtures/clock.ts';
import { type Random, systemRandom } from '../fixtures/random.ts';
import { ActivityFeed } from './control/activity.ts';
import { controlled, equipTenants } from './control/controlled-tenant.ts';
import type { FaultPlans } from './control/faults/fault-plans.ts';
import { FaultTransform } from './control/faults/transform.ts';
import { startControl } from './control/http/control.ts';
import { journalObserver } from './control/journal/observer.ts';
import { overviewSource } from './control/overview.ts';
import { variationTransform } from './control/variation/varied-answer.ts';
import { TenantStates } from './control/world/tenant-states.ts';
import { ByteBudget } from './http/byte-budget.ts';
import { openFilesLimit, Semaphore, shareOpenFiles } from './http/open-files.ts';
import { completeConnectionLimits } from './listeners/connection-limits.ts';
import { type OpenListeners, openListeners, type RunningTls } from './listeners/listeners.ts';
import { type Log, openLog } from './pipeline/log.ts';
import { openServices } from './pipeline/open-services.ts';
import type { ExchangeObserver, ResponseTransform } from './pipeline/plug-ins.ts';
import type { Services } from './pipeline/services.ts';
import { Watchdog } from './pipeline/watchdog.ts';
import { completeSettings, type Settings } from './settings.ts';
import { DataFolder } from './store/data-folder.ts';
import { stateFault } from './store/state-fault.ts';
import { storageFault } from './store/storage-fault.ts';
import { signedInAdmin } from './tenants/admin.ts';

/** Settings, and time and chance as inputs; every one has a default. */
export interface ServerOptions extends Partial<Settings> {
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A server that accepts on both listeners. */
export interface RunningServer {
  readonly baseUrl: string;
  /** Where artifact files are served under the variant storage-host. */
  readonly storageUrl?: string;
  /** Absent without TLS. */
  readonly tls?: RunningTls;
  readonly controlUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  /** A user's token for the management API. */
  readonly adminToken: string;
  /** The secret of the control listener; it does not expire. */
  readonly controlToken: string;
  readonly headerPrefix: string;
  /** The planned faults of the first tenant. */
  readonly faults: FaultPlans;
  close(): Promise<void>;
}

/** @throws SettingError; StateFault when the data folder cannot be used; or the system's error (such as EADDRINUSE) when a listener cannot open */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { server, watchdog } = await startServerWithInside(options);
  // An embedded server shares the event loop with a test, which may keep it as long as it likes.
  watchdog.patrol();
  return server;
}

/** A server together with what it is made of, for who embeds it. */
export interface ServerWithInside {
  readonly server: RunningServer;
  readonly services: Services;
  readonly states: TenantStates;
  readonly openInside: OpenListeners['openInside'];
  readonly watchdog: Watchdog;
}

/** Throws as `startServer` does. */
export async function startServerWithInside(options: ServerOptions): Promise<ServerWithInside> {
  const { clock = systemClock, random = systemRandom, ...given } = options;
  const settings = completeSettings(given);
  const { dataFolder } = settings;
  const data = dataFolder === undefined ? undefined : await DataFolder.open(dataFolder);
  let services: Services | undefined;
  let listeners: OpenListeners | undefined;
  const closeStores = (): void => {
    services?.tenants.close();
    data?.close();
  };
  try {
    const log = openLog(settings.logLevel);
    const watchdog = new Watchdog(log);
    const activity = new ActivityFeed();
    const observers: readonly ExchangeObserver[] = [journalObserver, activity];
    const equip = equipTenants({
      entriesMax: settings.journalEntriesMax,
      bytesMax: settings.journalBytesMax,
    });
    const shared = { ...openBudgets(settings, log), observers };
    services = await openServices({ settings, clock, random, log, data, equip, ...shared });
    const { tenants, outbox, sockets } = services;
    const admin = await signedInAdmin(services, data);
    const controlToken = random.bytes(24).toString('base64url');
    let consoleUrl: string | undefined;
    listeners = await openListeners(services, {
      observers,
      transforms: transformsOf(services),
      consoleUrl: () => consoleUrl,
      watchdog,
    });
    const { baseUrl, storageUrl, tls, openInside, close } = listeners;
    const states = new TenantStates(services, openInside);
    states.markStart(tenants.first);
    const control = await startControl({
      host: settings.host,
      port: settings.controlPort,
      controlToken,
      source: overviewSource(tenants.first.store, activity),
      watchdog,
      tenants,
      states,
      outbox,
      log,
      storageFaults: services.storageFaults,
      clock,
      connectionLimits: settings.connectionLimits,
      explainFacts: { names: services.names, adminEmail: admin.adminEmail },
    });
    consoleUrl = control.url;
    // A second call waits for the end that is underway.
    let closing: Promise<void> | undefined;
    const server = {
      baseUrl,
      ...(storageUrl !== undefined && { storageUrl }),
      ...(tls && { tls }),
      controlUrl: control.url,
      ...admin,
      controlToken,
      headerPrefix: settings.headerPrefix,
      faults: controlled(tenants.first).faults,
      close: () => {
        watchdog.close();
        closing ??= Promise.all([close(sockets.close()), control.close()]).then(closeStores);
        return closing;
      },
    };
    return { server, services, states, openInside, watchdog };
  } catch (fault) {
    await listeners?.close();
    closeStores();
    const isOfDisk = dataFolder !== undefined && storageFault(fault) !== undefined;
    throw isOfDisk ? stateFault(dataFolder, fault) : fault;
  }
}

/** Planned faults, and the variation that was asked for. */
function transformsOf(services: Services): ResponseTransform[] {
  const { varySeed } = services.settings;
  const varied = varySeed === undefined ? [] : [variationTransform(varySeed)];
  return [new FaultTransform(services), ...varied];
}

/** What all connections of the API share; says where the system gives less than was asked for. */
function openBudgets({ connectionLimits }: Settings, log: Log) {
  const { connectionsMax, underwayMaxBytes } = completeConnectionLimits(connectionLimits);
  const openFiles = new Semaphore(shareOpenFiles(openFilesLimit(), connectionsMax).api);
  if (openFiles.max < connectionsMax) {
    const sentence = fewerConnections(openFiles.max, connectionsMax);
    // The default is what nobody asked for, and more than most systems allow.
    if (connectionLimits?.connectionsMax === undefined) log.debug(sentence);
    else log.info(sentence);
  }
  return { openFiles, underway: new ByteBudget(underwayMaxBytes) };
}

function fewerConnections(most: number, wanted: number): string {
  const why = `this process may open ${openFilesLimit()} files`;
  return `at most ${most} connections at a time, not ${wanted}: ${why}; raise it with ulimit -n`;
}
