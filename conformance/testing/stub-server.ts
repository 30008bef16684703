/** Stub servers for tests that are each wrong in one way. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server on a free loopback port. */
interface StubServer {
  readonly baseUrl: string;
  close(): Promise<void>;
}

/** Key and certificate in PEM. */
interface TlsFiles {
  readonly key: string;
  readonly cert: string;
}

/** Starts a server with only this listener; over TLS when there is a certificate. */
async function startStubServer(listener: RequestListener, tls?: TlsFiles): Promise<StubServer> {
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    close: () => close(server),
  };
}

/** Starts a server with this listener and returns its base URL. It is closed after the test. */
export async function serve(listener: RequestListener, tls?: TlsFiles): Promise<string> {
  const server = await startStubServer(listener, tls);
  onTestFinished(() => server.close());
  return server.baseUrl;
}

/** Returns a base URL where nothing listens any more. */
export async function closedPortUrl(): Promise<string> {
  const server = await startStubServer(() => undefined);
  await server.close();
  return server.baseUrl;
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
