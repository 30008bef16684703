/** The listeners of the protocol: the API, and artifact files on a port of their own where a variant asks for it. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { storageOperations } from '../fixtures/contract/management/storage.ts';
import { absentInOpenSource, type VariantName } from '../fixtures/contract/variants.ts';
import type { ActivityFeed } from './activity.ts';
import { endpoints } from './endpoints/endpoints.ts';
import type { Endpoint } from './http/endpoint.ts';
import { createListener } from './http/listener.ts';
import { Pipeline } from './http/pipeline.ts';
import { assertComplete, mountRoutes } from './http/routes.ts';
import { managementEndpoints } from './management/management.ts';
import type { Services } from './services.ts';

/** Listeners that accept. */
export interface OpenListeners {
  readonly baseUrl: string;
  /** Where artifact files are, when that is not `baseUrl`. */
  readonly storageUrl?: string;
  /** Stops accepting, and ends what is still open. */
  close(): Promise<void>;
}

/** Opens them. Rejects with the system's error (such as EADDRINUSE) when one cannot open. */
export async function openListeners(
  services: Services,
  activity: ActivityFeed,
): Promise<OpenListeners> {
  const { settings, names, random } = services;
  const at: { own: string; storage?: string } = { own: '' };
  const origins = { own: () => at.own, storage: () => at.storage };
  const pipeline = new Pipeline(services, { activity, origins });
  const { api, storage } = sharedOut(settings.variants);
  const open = async (mounted: readonly Endpoint[], port: number) => {
    const server = createListener({ routes: mountRoutes(mounted, pipeline), names, random });
    return { server, url: await listen(server, settings.host, port) };
  };
  const first = await open(api, settings.port);
  at.own = first.url;
  if (storage.length === 0) return { baseUrl: first.url, close: () => shut(first.server) };
  const second = await open(storage, 0);
  at.storage = second.url;
  return {
    baseUrl: first.url,
    storageUrl: second.url,
    close: async () => {
      await Promise.all([shut(first.server), shut(second.server)]);
    },
  };
}

/** Which listener serves what. */
function sharedOut(variants: ReadonlySet<VariantName>): Record<'api' | 'storage', Endpoint[]> {
  const all = [...endpoints, ...managementEndpoints];
  assertComplete(all);
  const absent = variants.has('open-source') ? absentInOpenSource : [];
  const present = all.filter(
    ({ operation }) => !absent.some((beginning) => operation.path.startsWith(beginning)),
  );
  if (!variants.has('storage-host')) return { api: present, storage: [] };
  const isStorage = ({ operation }: Endpoint): boolean => operation.id in storageOperations;
  return {
    api: present.filter((endpoint) => !isStorage(endpoint)),
    storage: present.filter(isStorage),
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

function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
