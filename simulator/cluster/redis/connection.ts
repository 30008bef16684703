/** The connection to Redis: opened with a time limit, checked once, and monitored for its loss. */
import { Redis } from 'ioredis';
import type { Clock } from '../../../fixtures/base/clock.ts';
import { ClusterError } from '../cluster-error.ts';

const CONNECT_MAX_MS = 5000;
/** Time within which a broken connection must recover, in milliseconds. */
const LOST_MAX_MS = 10_000;
const PULSE_PERIOD_MS = 1000;
const RETRY_MAX_MS = 1000;
/** Oldest supported version of Redis; trimming a stream by ID needs it. */
const VERSION_MIN = [6, 2] as const;

/** The address of a Redis server. */
export interface RedisAddress {
  readonly url: string;
  readonly caPem?: string | undefined;
}

/** A connection that reconnects by itself. The owner must close it. */
export class RedisConnection {
  readonly #address: RedisAddress;
  readonly #clock: Clock;
  readonly #otherClients: Redis[] = [];
  /** Milliseconds by which the clock of Redis is ahead of the local clock. */
  readonly offsetMs: number;
  readonly client: Redis;

  constructor(address: RedisAddress, clock: Clock, offsetMs: number) {
    this.#address = address;
    this.#clock = clock;
    this.offsetMs = offsetMs;
    this.client = this.#connected();
  }

  /** Address for display, without user and password. */
  get displayUrl(): string {
    return shownRedis(this.#address.url);
  }

  /** Returns an additional connection, for commands that block. */
  another(): Redis {
    const client = this.#connected();
    this.#otherClients.push(client);
    return client;
  }

  /**
   * Rejects when Redis has not answered for `LOST_MAX_MS`; never resolves.
   * @throws ClusterError
   */
  async lost(signal: AbortSignal): Promise<never> {
    let lastReplyMs = this.#clock.monotonicMs();
    for (;;) {
      const ping = this.client.ping().then(
        () => {
          lastReplyMs = this.#clock.monotonicMs();
        },
        () => undefined,
      );
      await Promise.race([ping, this.#clock.sleep(PULSE_PERIOD_MS, signal)]);
      await this.#clock.sleep(PULSE_PERIOD_MS, signal);
      if (signal.aborted) return new Promise(() => undefined);
      if (this.#clock.monotonicMs() - lastReplyMs < LOST_MAX_MS) continue;
      const seconds = LOST_MAX_MS / 1000;
      throw setUpProblem(
        this.displayUrl,
        `has not answered for ${seconds} s; the run cannot continue`,
      );
    }
  }

  /** Closes all connections at once, without waiting for replies. */
  close(): void {
    for (const client of [this.client, ...this.#otherClients]) client.disconnect();
  }

  #connected(): Redis {
    const retryStrategy = (times: number): number => Math.min(100 * times, RETRY_MAX_MS);
    const client = redisClient(this.#address, { retryStrategy });
    // Errors can be ignored here: the connection recovers, or `lost` reports its loss.
    client.on('error', () => undefined);
    return client;
  }
}

/**
 * Connects to Redis and checks that it accepts the credentials and is recent enough.
 * @throws ClusterError
 */
export async function openRedis(address: RedisAddress, clock: Clock): Promise<RedisConnection> {
  const shownUrl = shownRedis(address.url);
  const probe = redisClient(address, { retryStrategy: () => null, lazyConnect: true });
  let lastError: unknown;
  probe.on('error', (error) => {
    lastError = error;
  });
  const timeLimit = new AbortController();
  const responses = probe.connect().then(() => Promise.all([probe.info('server'), probe.time()]));
  try {
    const late = clock.sleep(CONNECT_MAX_MS, timeLimit.signal).then(() => undefined);
    const responsePair = await Promise.race([responses, late]);
    if (responsePair === undefined) {
      throw setUpProblem(shownUrl, noResponseText(address));
    }
    const [info, [seconds, microseconds]] = responsePair;
    checkVersion(shownUrl, info);
    const nowMs = Number(seconds) * 1000 + Number(microseconds) / 1000;
    return new RedisConnection(address, clock, nowMs - clock.now());
  } catch (error) {
    if (error instanceof ClusterError) throw error;
    throw setUpProblem(shownUrl, reasonOf(lastError ?? error), error);
  } finally {
    timeLimit.abort();
    responses.catch(() => undefined);
    probe.disconnect();
  }
}

interface ConnectingOptions {
  /** Returns the milliseconds until the next attempt; null ends the attempts. */
  readonly retryStrategy: (times: number) => number | null;
  readonly lazyConnect?: boolean;
}

function redisClient({ url, caPem }: RedisAddress, options: ConnectingOptions): Redis {
  return new Redis(url, {
    connectTimeout: CONNECT_MAX_MS,
    // BullMQ requires that commands wait while a broken connection recovers.
    maxRetriesPerRequest: null,
    ...options,
    ...(caPem !== undefined && { tls: { ca: caPem } }),
  });
}

/**
 * Returns the clause for a Redis that does not answer. A Redis without TLS does not answer a TLS
 * handshake, because it waits for the end of a command.
 */
function noResponseText({ url }: RedisAddress): string {
  const isTls = url.startsWith('rediss:');
  return isTls
    ? 'does not answer over TLS; try redis:// if it does not use TLS'
    : 'does not answer; check --redis and that Redis runs there';
}

function checkVersion(shownUrl: string, info: string): void {
  const version = /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin, minorMin] = VERSION_MIN;
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return;
  throw setUpProblem(
    shownUrl,
    `has version ${version}; version ${VERSION_MIN.join('.')} or newer is needed`,
  );
}

const password = 'give it in --redis redis://USER:PASSWORD@HOST, or in FLEETBED_REDIS';

/** Patterns of error messages from Redis or the network, each with a clause for the user. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/NOAUTH|Authentication required/, `requires a password; ${password}`],
  [/WRONGPASS|invalid password|without any password/, `refused the password; ${password}`],
  [
    /unknown command.{0,200}hello/i,
    `is older than version 6; version ${VERSION_MIN.join('.')} or newer is needed`,
  ],
  [/NOPERM/, 'does not permit this user all commands; grant it all of them'],
  [/max number of clients/, 'has reached its limit of clients; raise its maxclients'],
  [/ECONNREFUSED/, 'nothing listens there; check --redis and that Redis runs'],
  [/ENOTFOUND|EAI_AGAIN/, 'the host does not exist; check --redis'],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/, 'the host cannot be reached; check --redis'],
  [
    /wrong version number|EPROTO|packet length|disconnected before secure/i,
    'does not speak TLS; try redis://',
  ],
  [
    /self.signed|unable to (get|verify)/i,
    'its certificate is not trusted; give the CA certificate with --redis-ca FILE',
  ],
  [/altname/i, 'its certificate is for another host; check --redis'],
  [
    /ECONNRESET|Connection is closed|EPIPE/,
    'closed the connection; check --redis, and try rediss:// if it requires TLS',
  ],
];

function reasonOf(error: unknown): string {
  const message =
    error instanceof Error ? `${error.message} ${'code' in error ? error.code : ''}` : '';
  return (
    reasons.find(([pattern]) => pattern.test(message))?.[1] ?? `cannot be used: ${message.trim()}`
  );
}

function setUpProblem(server: string, message: string, cause?: unknown): ClusterError {
  return new ClusterError(`${server} ${message}`, 'set-up', cause);
}

/** Returns the address for display, without user and password. */
function shownRedis(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
