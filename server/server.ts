/** Starts the reference server: one protocol listener, one control listener, one store. */
import { type Clock, systemClock } from '../fixtures/clock.ts';
import { type Random, systemRandom } from '../fixtures/random.ts';
import { ActivityFeed } from './activity.ts';
import { assembleServices } from './assembly.ts';
import { startControl } from './control/control.ts';
import { type OpenListeners, openListeners } from './listeners.ts';
import { openLog } from './log.ts';
import { overviewSource } from './overview.ts';
import type { Services } from './services.ts';
import { completeSettings, type Settings } from './settings.ts';
import { createAdmin } from './tenants.ts';
import { issueUserToken } from './user-tokens.ts';

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
  readonly controlUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  /** A user's token for the management API. */
  readonly adminToken: string;
  /** The secret of the control listener; it does not expire. */
  readonly controlToken: string;
  readonly headerPrefix: string;
  close(): Promise<void>;
}

/** @throws SettingError; or the system's error (such as EADDRINUSE) when a listener cannot open */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const { clock = systemClock, random = systemRandom, ...given } = options;
  const settings = completeSettings(given);
  const services = await assembleServices({
    settings,
    clock,
    random,
    log: openLog(settings.logLevel),
  });
  const activity = new ActivityFeed();
  const admin = signedInAdmin(services);
  const controlToken = random.bytes(24).toString('base64url');
  let listeners: OpenListeners | undefined;
  try {
    listeners = await openListeners(services, activity);
    const { baseUrl, storageUrl, close } = listeners;
    const control = await startControl({
      host: settings.host,
      port: settings.controlPort,
      controlToken,
      source: overviewSource(services.tenants.first.store, activity),
      tenants: services.tenants,
      outbox: services.outbox,
      log: services.log,
      clock,
    });
    return {
      baseUrl,
      ...(storageUrl !== undefined && { storageUrl }),
      controlUrl: control.url,
      ...admin,
      controlToken,
      headerPrefix: settings.headerPrefix,
      close: async () => {
        await Promise.all([close(), control.close(), services.sockets.close()]);
        services.tenants.close();
      },
    };
  } catch (fault) {
    await listeners?.close();
    services.tenants.close();
    throw fault;
  }
}

function signedInAdmin(services: Services) {
  const { tenants, settings, clock, random } = services;
  const given = { email: settings.adminEmail, password: settings.adminPassword };
  const { id: userId, email, password } = createAdmin(tenants.first, given, { clock, random });
  const lifetimeSeconds = settings.tokenLifetimeSeconds;
  const wanted = { userId, kind: 'first', nowMs: clock.now(), lifetimeSeconds } as const;
  return {
    adminEmail: email,
    adminPassword: password,
    adminToken: issueUserToken(services, tenants.first, wanted),
  };
}
