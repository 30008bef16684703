/** Starts the reference server: one protocol listener, one control listener, one store. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../fixtures/clock.ts';
import { vendorNames } from '../fixtures/contract/vendor-names.ts';
import { type Random, systemRandom } from '../fixtures/random.ts';
import { ActivityFeed } from './activity.ts';
import { startControl } from './control/control.ts';
import { createLinkSigner } from './crypto/link-signature.ts';
import { hashPassword } from './crypto/passwords.ts';
import { createTokenIssuer } from './crypto/tokens.ts';
import { DeviceSockets } from './device-sockets.ts';
import { endpoints } from './endpoints/endpoints.ts';
import { createListener } from './http/listener.ts';
import { Pipeline } from './http/pipeline.ts';
import { mountRoutes } from './http/routes.ts';
import { openLog } from './log.ts';
import { managementEndpoints } from './management/management.ts';
import { overviewSource } from './overview.ts';
import type { Services } from './services.ts';
import { completeSettings, type Settings } from './settings.ts';
import { openStore } from './store/store.ts';

/** Settings, and time and chance as inputs; every one has a default. */
export interface ServerOptions extends Partial<Settings> {
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A server that accepts on both listeners. */
export interface RunningServer {
  readonly baseUrl: string;
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
  const services = await assemble(settings, clock, random);
  const activity = new ActivityFeed();
  const admin = createAdmin(services);
  const controlToken = random.bytes(24).toString('base64url');
  let baseUrl = '';
  const pipeline = new Pipeline(services, { activity, ownOrigin: () => baseUrl });
  const routes = mountRoutes([...endpoints, ...managementEndpoints], pipeline);
  const { names } = services;
  const listener = createListener({ routes, names, random });
  try {
    baseUrl = await listen(listener, settings.host, settings.port);
    const control = await startControl({
      host: settings.host,
      port: settings.controlPort,
      controlToken,
      source: overviewSource(services.store, activity),
      log: services.log,
      clock,
    });
    return {
      baseUrl,
      controlUrl: control.url,
      ...admin,
      controlToken,
      headerPrefix: settings.headerPrefix,
      close: async () => {
        await Promise.all([shut(listener), control.close(), services.sockets.close()]);
        services.store.close();
      },
    };
  } catch (fault) {
    if (listener.listening) await shut(listener);
    services.store.close();
    throw fault;
  }
}

async function assemble(settings: Settings, clock: Clock, random: Random): Promise<Services> {
  const store = await openStore();
  const names = vendorNames(settings.headerPrefix);
  return {
    clock,
    random,
    settings,
    names,
    store,
    tokens: createTokenIssuer(random),
    links: createLinkSigner(random),
    sockets: new DeviceSockets({ clock, store, requestIdHeader: names.requestId }),
    log: openLog(settings.logLevel),
  };
}

function createAdmin({ store, tokens, settings, clock, random }: Services) {
  const adminPassword = settings.adminPassword ?? random.bytes(12).toString('base64url');
  const user = {
    id: random.uuid(),
    email: settings.adminEmail,
    passwordHash: hashPassword(adminPassword, random),
  };
  store.users.create(user, clock.now());
  const issuedAt = Math.floor(clock.now() / 1000);
  const expiresAt = issuedAt + settings.tokenLifetimeSeconds;
  const claims = { kind: 'user', subject: user.id, id: random.uuid(), expiresAt } as const;
  return {
    adminEmail: user.email,
    adminPassword,
    adminToken: tokens.issue(claims, issuedAt),
  };
}

/** Listens and tells the URL. */
function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      const { port: actual } = server.address() as AddressInfo;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${actual}`);
    });
  });
}

/** Stops accepting, and ends what is still open. */
function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
