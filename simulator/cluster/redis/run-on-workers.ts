/** Runs a fleet on several machines. The shards are jobs of a BullMQ queue, which workers run. */
import { Queue } from 'bullmq';
import { type Clock, clockStartingAt, type Timer } from '../../../fixtures/base/clock.ts';
import type { Random } from '../../../fixtures/base/random.ts';
import type { FleetEnvironment, FleetPlan } from '../../engine/simulate-fleet.ts';
import { dividedPlan, type OwnPlan } from '../../plan/divided-plan.ts';
import { ClusterError } from '../cluster-error.ts';
import { type ClusterOutcome, Coordinator } from '../coordinator.ts';
import { deploymentOf, forwardStops } from '../local-workers.ts';
import type { RedisConnection } from './connection.ts';
import {
  type DownMessage,
  isReply,
  listenOn,
  sendOn,
  type UpMessage,
  unreadable,
  unsignedAt,
} from './run-channel.ts';
import {
  COORDINATOR_SILENCE_MAX_MS,
  FORGOTTEN_AFTER_SECONDS,
  jobIdOf,
  keepKeys,
  QUEUE_NAME,
  RUNS_KEY,
  type RunKeys,
  removeKeys,
  runKeys,
} from './run-keys.ts';
import { RunSigner } from './run-signer.ts';
import { ShardAssignments } from './shard-assignments.ts';

/** Options of a run on workers that share a Redis server. */
export interface WorkersRunOptions {
  /** Version of Fleetbed; all workers must have the same version. */
  readonly version: string;
  readonly redis: RedisConnection;
  /** The plan in the notation of users; each worker adds its own part. */
  readonly input: OwnPlan;
  /** Secret shared with the workers. */
  readonly secret: string;
  readonly shards: number;
  /** Time without a message, in milliseconds, after which a worker counts as lost. */
  readonly takeoverAfterMs: number;
  /** Maximum time in milliseconds that a shard waits for a worker. */
  readonly workerWaitMs: number;
  readonly random: Random;
  /** Prints a message to the user. */
  readonly print: (text: string) => void;
}

/**
 * BullMQ's limit on attempts. It is high, because the coordinator limits the restarts of a shard.
 */
const ATTEMPTS_MAX = 1000;
/**
 * Milliseconds between the start message and the common start, so that every worker receives it in
 * time.
 */
const START_LEAD_MS = 500;
/** Maximum number of refusals that are printed. */
const REFUSALS_MAX = 20;
const PULSE_PERIOD_MS = 1000;
/**
 * Wait in milliseconds after which a shard without a free worker goes to a worker that already runs
 * one.
 */
const SHARE_AFTER_MS = 5000;
/**
 * The shorter wait that replaces `SHARE_AFTER_MS` once every shard has had a worker, so that a lost
 * worker does not delay the run.
 */
const SHARE_AFTER_LOSS_MS = 2000;
/** Maximum time in milliseconds for workers to leave a run that has ended. */
const RELEASE_MAX_MS = 3000;
const RELEASE_PERIOD_MS = 50;
/**
 * Number of first pulses at which the expiry of the keys is extended each time, because BullMQ is
 * still creating keys.
 */
const KEEP_AT_FIRST_PULSES = 10;
const KEEP_EVERY_PULSES = 10;

/**
 * Runs the plan on workers, with one shard for each job.
 * @throws ClusterError when Redis is lost or there are too few workers; WorkerFailed when a shard
 *   cannot run; ClientError when the deployment cannot be created
 */
export async function runOnWorkers(
  plan: FleetPlan,
  environment: Omit<FleetEnvironment, 'coordinator'>,
  run: WorkersRunOptions,
): Promise<ClusterOutcome> {
  const coordinator = new RedisCoordinator(plan, environment, run);
  const over = new AbortController();
  const removeListeners = forwardStops(environment, coordinator);
  try {
    const loss = run.redis.lost(over.signal);
    return await Promise.race([coordinator.run(), loss]);
  } finally {
    over.abort();
    removeListeners();
    await coordinator.close();
  }
}

/** The coordinator of a run on workers, with its data in Redis. */
class RedisCoordinator {
  readonly #plan: FleetPlan;
  readonly #run: WorkersRunOptions;
  readonly #clock: Clock;
  readonly #keys: RunKeys;
  readonly #id: string;
  readonly #signer: RunSigner;
  readonly #sendsEvents: boolean;
  readonly #coordinator: Coordinator;
  readonly #queue: Queue;
  readonly #assignments: ShardAssignments;
  readonly #refusals = new Set<string>();
  #pulse: Timer | undefined;
  #pulses = 0;
  #waitingSinceMs: number | undefined;
  #atOnce = 1;
  #isStopped = false;
  #nextSequence = 0;

  constructor(
    plan: FleetPlan,
    environment: Omit<FleetEnvironment, 'coordinator'>,
    run: WorkersRunOptions,
  ) {
    const { clock, signal, onProgress, onEvent, onEventsLost } = environment;
    this.#plan = plan;
    this.#run = run;
    this.#clock = clock;
    this.#id = run.random.uuid().replaceAll('-', '');
    this.#keys = runKeys(this.#id);
    this.#signer = new RunSigner(run.secret, this.#id);
    this.#sendsEvents = onEvent !== undefined;
    this.#coordinator = new Coordinator({
      shards: run.shards,
      plan,
      // The coordinator uses the clock of Redis, which its workers share.
      clock: clockStartingAt(clock.now() + run.redis.offsetMs, clock),
      startLeadMs: START_LEAD_MS,
      send: (message) => this.#send(message),
      deploy: deploymentOf(plan, clock, signal),
      onProgress,
      onEvent,
      onEventsLost,
      // Not needed: the worker watches its process, and `ShardAssignments` watches the worker.
      onNoResponse: () => undefined,
    });
    this.#assignments = new ShardAssignments({
      coordinator: this.#coordinator,
      clock,
      shards: run.shards,
      idleMaxMs: run.takeoverAfterMs,
      send: (message) => this.#send(message),
      print: run.print,
    });
    const { prefix } = this.#keys;
    const connection = run.redis.client;
    this.#queue = new Queue(QUEUE_NAME, { prefix, connection, skipVersionCheck: true });
    // Errors can be ignored here, because the connection reports the loss of Redis.
    this.#queue.on('error', () => undefined);
  }

  async run(): Promise<ClusterOutcome> {
    const { redis, print, shards } = this.#run;
    const channel = { stream: this.#keys.up, signer: this.#signer, direction: 'up' } as const;
    const listening = listenOn<UpMessage>(
      { ...channel, client: redis.another() },
      {
        onMessage: (message) => this.#receive(message),
        onUnsigned: () => this.#refuse(unsignedAt(redis.displayUrl)),
        onAllRead: () => this.#assignments.endIdle(),
        consumes: true,
      },
    );
    listening.catch((error: unknown) => this.#coordinator.fail(error));
    await this.#publish().catch((error: unknown) => {
      throw isReply(error) ? unreadable(`what begins with ${this.#keys.prefix}`, error) : error;
    });
    print(`run ${this.#id}: ${shards} shards wait for workers at ${redis.displayUrl}`);
    this.#pulse = this.#clock.every(PULSE_PERIOD_MS, () => this.#onPulse());
    return this.#coordinator.outcome;
  }

  stop(): void {
    this.#isStopped = true;
    this.#coordinator.stop();
  }

  forceStop(): void {
    this.#coordinator.forceStop();
  }

  /** Lets the workers leave and removes every key of the run. */
  async close(): Promise<void> {
    this.#pulse?.cancel();
    this.#coordinator.close();
    const { client } = this.#run.redis;
    const released = this.#releaseWorkers().catch(() => undefined);
    await Promise.race([released, this.#clock.sleep(2 * RELEASE_MAX_MS)]);
    if (client.status === 'ready') await this.#queue.close();
    this.#run.redis.close();
  }

  async #releaseWorkers(): Promise<void> {
    const { redis, shards } = this.#run;
    await redis.client.zrem(RUNS_KEY, this.#id);
    const untilMs = this.#clock.monotonicMs() + RELEASE_MAX_MS;
    while (this.#clock.monotonicMs() < untilMs) {
      if ((await redis.client.hlen(this.#keys.workers)) === 0) break;
      await this.#clock.sleep(RELEASE_PERIOD_MS);
    }
    await removeKeys(redis.client, this.#keys, shards);
  }

  async #publish(): Promise<void> {
    const { redis, shards } = this.#run;
    await this.#publishInfo();
    const { input } = dividedPlan(this.#run.input);
    const jobs = Array.from({ length: shards }, (_, index) => {
      const shard = { index, of: shards };
      const job = JSON.stringify({ plan: { ...input, shard }, sendsEvents: this.#sendsEvents });
      return {
        name: 'shard',
        data: this.#signer.sign(['job', index], job),
        opts: { jobId: jobIdOf(index), attempts: ATTEMPTS_MAX },
      };
    });
    await this.#queue.addBulk(jobs);
    await this.#announce();
    await keepKeys(redis.client, this.#keys, shards);
  }

  async #publishInfo(): Promise<void> {
    const { redis, takeoverAfterMs, version } = this.#run;
    const { needs } = dividedPlan(this.#run.input);
    const info = { version, needs, takeoverAfterMs, atOnce: this.#atOnce };
    await redis.client.set(
      this.#keys.info,
      this.#signer.sign(['info'], JSON.stringify(info)),
      'EX',
      FORGOTTEN_AFTER_SECONDS,
    );
  }

  /** Announces the run. Workers follow it only while its coordinator keeps announcing it. */
  async #announce(): Promise<void> {
    const { client, offsetMs } = this.#run.redis;
    const untilMs = this.#clock.now() + offsetMs + COORDINATOR_SILENCE_MAX_MS;
    await client.zadd(RUNS_KEY, untilMs, this.#id);
    await client.pexpire(RUNS_KEY, COORDINATOR_SILENCE_MAX_MS);
  }

  #onPulse(): void {
    const { redis, shards } = this.#run;
    this.#announce().catch(() => undefined);
    this.#pulses++;
    if (this.#pulses <= KEEP_AT_FIRST_PULSES || this.#pulses % KEEP_EVERY_PULSES === 0) {
      keepKeys(redis.client, this.#keys, shards).catch(() => undefined);
    }
    this.#lookForWorkers();
  }

  #lookForWorkers(): void {
    const { shards, workerWaitMs } = this.#run;
    const begunCount = this.#coordinator.begunCount;
    if (begunCount >= shards) {
      this.#waitingSinceMs = undefined;
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    this.#waitingSinceMs ??= nowMs;
    const waitedMs = nowMs - this.#waitingSinceMs;
    if (this.#isStopped) this.#giveUpWaiting('the run was stopped before a worker took it');
    else if (waitedMs >= workerWaitMs) this.#endWithoutWorkers(begunCount);
    else if (waitedMs >= this.#shareAfterMs() && begunCount > 0) this.#share(begunCount);
  }

  #shareAfterMs(): number {
    return this.#assignments.haveAllBegun ? SHARE_AFTER_LOSS_MS : SHARE_AFTER_MS * this.#atOnce;
  }

  /** Allows each worker to run one more shard at the same time. */
  #share(begun: number): void {
    const { shards, print } = this.#run;
    if (this.#atOnce >= shards) return;
    this.#atOnce++;
    print(
      `${begun} of ${shards} shards have a worker; each worker may now run ${this.#atOnce} shards`,
    );
    this.#publishInfo().catch(() => undefined);
  }

  #giveUpWaiting(reason: string): void {
    for (let shard = 0; shard < this.#run.shards; shard++) {
      if (!this.#coordinator.isBegun(shard)) this.#coordinator.giveUp(shard, reason);
    }
  }

  #endWithoutWorkers(begun: number): void {
    const { redis, shards, workerWaitMs } = this.#run;
    const refusals = [...this.#refusals].join('; ');
    const sentence =
      `${begun} of ${shards} shards found a worker within ${workerWaitMs / 1000} s; ` +
      `start more of them with npx fleetbed worker --redis ${redis.displayUrl} ` +
      `--url ${this.#plan.baseUrl}` +
      (refusals === '' ? '' : ` (${refusals})`);
    this.#coordinator.fail(new ClusterError(sentence));
  }

  #receive(message: UpMessage): void {
    if (!('refuses' in message)) this.#assignments.onMessage(message);
    else if (this.#refusals.size < REFUSALS_MAX) {
      this.#refuse(`${message.worker} ${message.refuses}`);
    }
  }

  #send(message: DownMessage['message']): void {
    const { client } = this.#run.redis;
    const channel = { stream: this.#keys.down, signer: this.#signer, direction: 'down' } as const;
    void sendOn({ ...channel, client }, { sequence: this.#nextSequence++, message });
  }

  #refuse(reason: string): void {
    if (this.#refusals.has(reason)) return;
    this.#refusals.add(reason);
    this.#run.print(reason);
  }
}
