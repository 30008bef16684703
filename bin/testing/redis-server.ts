/** Starts a real Redis for tests on a free port of the loopback interface, with a password. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { freePort } from './free-ports.ts';

/** Folder of the unpacked Redis; the relative path differs between sources and built files. */
const [unpacked = ''] = ['../../.fleetbed/redis', '../../../.fleetbed/redis']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .toSorted((one, other) => Number(existsSync(other)) - Number(existsSync(one)));

type OnRedisMessage = (args: readonly string[]) => void;

/** A Redis process of a test, with a password. */
export interface RedisServer {
  /** URL with the password. */
  readonly url: string;
  readonly port: number;
  /** A client with full access. */
  readonly client: Redis;
  /**
   * Calls `onMessage` with the arguments of each command that any client sends.
   * @returns a function that stops it
   */
  monitor(onMessage: OnRedisMessage): Promise<() => void>;
  /** Kills Redis immediately, like a power loss. */
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
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const path = redisProgram();
  if (path === undefined)
    throw new Error('there is no redis-server: node bin/dev/setup.mjs --redis');
  const child = spawn(path, [...args, '--save', '', '--appendonly', 'no'], {
    env: { ...process.env, ...libraries() },
    stdio: 'ignore',
  });
  const close = once(child, 'close');
  const endWithUs = (): unknown => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const url = `${tls ? 'rediss' : 'redis'}://:${password}@127.0.0.1:${port}`;
  const ca = tls && readFileSync(tls.certificate);
  const client = new Redis(url, {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    ...(ca && { tls: { ca } }),
  });
  client.on('error', () => undefined);
  await client.ping();
  return {
    url,
    port,
    client,
    monitor: (onMessage) => monitor(url, ca, onMessage),
    kill: async () => {
      client.disconnect();
      child.kill('SIGKILL');
      process.off('exit', endWithUs);
      await close;
    },
  };
}

/**
 * Sends MONITOR over its own connection: ioredis crashes the process when another client's command
 * arrives in one chunk with the reply to MONITOR.
 */
async function monitor(
  url: string,
  ca: Buffer | undefined,
  onMessage: OnRedisMessage,
): Promise<() => void> {
  const { port, password } = new URL(url);
  const to = { host: '127.0.0.1', port: Number(port) };
  const socket = ca ? connectTls({ ...to, ca }) : connect(to);
  let acceptedCount = 0;
  await new Promise<void>((resolve, reject) => {
    createInterface(socket).on('line', (line) => {
      if (line.startsWith('-')) reject(new Error(`Redis answers ${line}`));
      else if (line !== '+OK') onMessage(argsOf(line));
      else if (++acceptedCount === 2) resolve();
    });
    socket.on('error', reject).write(`AUTH ${password}\r\nMONITOR\r\n`);
  });
  return () => socket.destroy();
}

/** Parses the arguments of a line such as `+1.5 [0 127.0.0.1:1] "get" "a\x00\"b"`. */
function argsOf(line: string): readonly string[] {
  const quoted = line.matchAll(/"((?:[^"\\]|\\.)*)"/g);
  return Array.from(quoted, ([, word = '']) => {
    const bytes = word.replace(/\\(?:x(..)|(.))/g, (_, hex, character) =>
      hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (escapes[character] ?? character),
    );
    return Buffer.from(bytes, 'latin1').toString();
  });
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\u0007',
  b: '\b',
};

/**
 * Returns TLS settings without client certificates, because clients authenticate with a password.
 */
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

/** Returns the path of a `redis-server`; undefined when there is none. */
export function redisProgram(): string | undefined {
  const programPath = process.env.REDIS_SERVER_PATH;
  if (programPath) return programPath;
  const folders = [join(unpacked, 'usr', 'bin'), ...(process.env.PATH ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, 'redis-server')).find(existsSync);
}

/**
 * Returns the environment with which the unpacked program finds libraries that the machine lacks.
 */
function libraries(): Readonly<Record<string, string>> {
  const machine = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const folder = join(unpacked, 'usr', 'lib', machine);
  return existsSync(folder) ? { LD_LIBRARY_PATH: folder } : {};
}
