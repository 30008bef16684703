/** A real Redis for tests: on loopback, on a free port, with a password, removed afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';

const unpacked = fileURLToPath(new URL('../../.fleetbed/redis', import.meta.url));

/** A running Redis. */
export interface RedisServer {
  /** Includes the password. */
  readonly url: string;
  readonly port: number;
  /** A client with full access. */
  readonly client: Redis;
  /** Kills it immediately, like a power loss. */
  kill(): Promise<void>;
}

/** PEM files for a Redis that accepts only TLS; the certificate is self-signed. */
export interface RedisTlsFiles {
  readonly certificate: string;
  readonly key: string;
}

/** Starts a Redis and waits until it responds. */
export async function startRedis(password: string, tls?: RedisTlsFiles): Promise<RedisServer> {
  const port = await freePort();
  const settings = {
    bind: '127.0.0.1',
    ...(tls ? tlsSettings(port, tls) : { port }),
    requirepass: password,
    dir: tmpdir(),
  };
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(program(), [...words, '--save', '', '--appendonly', 'no'], {
    env: { ...process.env, ...libraries() },
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  const url = `${tls ? 'rediss' : 'redis'}://:${password}@127.0.0.1:${port}`;
  const client = new Redis(url, {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    ...(tls && { tls: { ca: readFileSync(tls.certificate) } }),
  });
  client.on('error', () => undefined);
  await client.ping();
  return {
    url,
    port,
    client,
    kill: async () => {
      client.disconnect();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Clients authenticate with a password, not with a certificate. */
function tlsSettings(port: number, { certificate, key }: RedisTlsFiles) {
  return {
    port: 0,
    'tls-port': port,
    'tls-cert-file': certificate,
    'tls-key-file': key,
    'tls-ca-cert-file': certificate,
    'tls-auth-clients': 'no',
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function program(): string {
  const named = process.env.REDIS_SERVER_PATH;
  if (named) return named;
  const folders = [join(unpacked, 'usr', 'bin'), ...(process.env.PATH ?? '').split(delimiter)];
  const path = folders.map((folder) => join(folder, 'redis-server')).find(existsSync);
  if (path !== undefined) return path;
  throw new Error('there is no redis-server: node bin/setup.mjs --redis');
}

/** Lets the unpacked program find libraries that the machine lacks. */
function libraries(): Readonly<Record<string, string>> {
  const machine = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const folder = join(unpacked, 'usr', 'lib', machine);
  return existsSync(folder) ? { LD_LIBRARY_PATH: folder } : {};
}
