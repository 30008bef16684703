/**
 * A worker's part in one run: it takes shards of the run, one or more at the same time, and runs
 * them.
 */
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { Clock } from '../../../fixtures/base/clock.ts';
import { printable } from '../../../fixtures/base/printable.ts';
import type { Random } from '../../../fixtures/base/random.ts';
import type { OwnPlan, WorkerNeeds } from '../../plan/divided-plan.ts';
import { SILENCE_MAX_MS } from '../coordinator.ts';
import type { CoordinatorMessage, ShardAssignment, WorkerMessage } from '../messages.ts';
import { type ShardProcess, startShardProcess } from '../shard-process.ts';
import type { RedisConnection } from './connection.ts';
import { CoordinatorChannel, type MessageSender } from './coordinator-channel.ts';
import { type OwnerMessage, unsignedAt } from './run-channel.ts';
import { QUEUE_NAME, type RunKeys } from './run-keys.ts';
import type { RunSigner } from './run-signer.ts';
import { jobIn, type ShardJob } from './shard-job.ts';

/** Options of a worker's part in a run. */
export interface WorkerRunOptions {
  readonly redis: RedisConnection;
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: RunKeys;
  readonly signer: RunSigner;
  /** Name of this worker. Each shard that it runs gets a name derived from it. */
  readonly name: string;
  readonly needs: WorkerNeeds;
  readonly workerPlan: OwnPlan;
  readonly takeoverAfterMs: number;
  readonly print: (text: string) => void;
  /**
   * Called once when the worker can no longer take part in the run, with the reason as a clause.
   */
  readonly onBroken: (reason: string) => void;
}

/** Number of heartbeats within the time after which a silent worker counts as lost. */
const RENEWALS = 3;
const WATCH_PERIOD_MS = 1000;
/**
 * BullMQ's limit on stalled jobs. It is high, because the coordinator limits the restarts of a
 * shard.
 */
const STALLED_MAX = 1000;
/**
 * Minimum time in milliseconds to wait for the coordinator's reply. It replies at once, or when it
 * has found the previous worker lost.
 */
const RESPONSE_MIN_MS = 2000;
const heartbeat = { type: 'heartbeat' } as const;

/** A running shard process, and its identity towards the coordinator. */
interface AssignedShard {
  readonly sender: MessageSender;
  readonly process: ShardProcess;
}

/** A worker's part in a run. The owner must close it when the run or the worker ends. */
export class WorkerRun {
  readonly #options: WorkerRunOptions;
  /** BullMQ workers; each runs one shard at a time. */
  readonly #queueWorkers: Worker<unknown>[] = [];
  /** The shards that are running, by job ID. */
  readonly #workers = new Map<string, AssignedShard>();
  /** For each shard, the token of the worker to which the coordinator has assigned it. */
  readonly #granted = new Map<number, string | undefined>();
  readonly #sent: CoordinatorMessage[] = [];
  readonly #channel: CoordinatorChannel;
  #begun = 0;

  constructor(options: WorkerRunOptions) {
    this.#options = options;
    this.#channel = new CoordinatorChannel({
      ...options,
      onMessage: (message) => this.#receive(message),
      onOwner: (message) => this.#onOwner(message),
      onUnsigned: () => options.print(`${options.name}: ${unsignedAt(options.redis.displayUrl)}`),
    });
  }

  /** Sets the number of shards that run at the same time. The number is never lowered. */
  takeAtOnce(count: number): void {
    while (this.#queueWorkers.length < count) this.#queueWorkers.push(this.#newQueueWorker());
  }

  /** Accepts no more shards and waits until those in progress have ended. */
  async finish(): Promise<void> {
    await Promise.all(this.#queueWorkers.map((queueWorker) => queueWorker.close()));
    await this.close();
  }

  /** Kills all shard processes and closes the connections, without waiting for running jobs. */
  async close(): Promise<void> {
    for (const { process } of this.#workers.values()) process.kill();
    await Promise.all(this.#queueWorkers.map((queueWorker) => queueWorker.close(true)));
    this.#channel.close();
  }

  #newQueueWorker(): Worker<unknown> {
    const { redis, keys, name, takeoverAfterMs } = this.#options;
    const queueWorker = new Worker<unknown>(QUEUE_NAME, (job) => this.#take(job), {
      connection: redis.another(),
      prefix: keys.prefix,
      name,
      concurrency: 1,
      // Redis accepts only whole milliseconds, and BullMQ does not round.
      lockDuration: Math.floor(takeoverAfterMs),
      lockRenewTime: this.#pulseMs,
      stalledInterval: this.#pulseMs,
      maxStalledCount: STALLED_MAX,
      skipVersionCheck: true,
    });
    // Errors can be ignored here: the connection reports the loss of Redis, and invalid jobs need no
    // handling.
    queueWorker.on('error', () => undefined);
    // Another worker may run the shard by now, so this process must not continue.
    queueWorker.on('lockRenewalFailed', (jobIds) => {
      for (const jobId of jobIds) this.#workers.get(jobId)?.process.kill();
    });
    return queueWorker;
  }

  get #pulseMs(): number {
    return Math.floor(this.#options.takeoverAfterMs / RENEWALS);
  }

  /** Runs a job. A job that the coordinator did not write fails, and the worker reports it. */
  async #take(job: Job<unknown>): Promise<void> {
    const { signer, needs, workerPlan, name, print } = this.#options;
    const content = jobIn(job, { signer, needs, workerPlan });
    if (typeof content === 'string') {
      const refuses = `refuses the job ${printable(job.id ?? '', 40)}: ${content}`;
      print(`${name} ${refuses}`);
      await this.#channel.refuse(name, refuses);
      throw new UnrecoverableError(refuses);
    }
    const worker = `${name}/${++this.#begun}`;
    const sender = { shard: content.shard, worker, token: this.#options.random.uuid() };
    try {
      await this.#runShard(job.id ?? '', content, sender);
    } finally {
      this.#channel.forget(sender);
    }
  }

  async #runShard(jobId: string, { shard, plan, sendsEvents }: ShardJob, sender: MessageSender) {
    const { takeoverAfterMs, print } = this.#options;
    const { worker, token } = sender;
    const grant = await this.#channel.requestShard(sender, RESPONSE_MIN_MS + 2 * takeoverAfterMs);
    if (grant === undefined || this.#granted.get(shard) !== token) {
      throw new UnrecoverableError(`the coordinator did not give shard ${shard} to ${worker}`);
    }
    const { isTakeover } = grant;
    print(`${worker} ${isTakeover ? 'takes over' : 'runs'} shard ${shard} of ${plan.shard?.of}`);
    const end = await this.#shardEnd(jobId, { plan, isTakeover, sendsEvents }, sender);
    print(`${worker} ${end.kind === 'result' ? 'has completed the shard' : end.reason}`);
    if (end.kind === 'failed') throw new UnrecoverableError(end.reason);
    if (end.kind === 'result') return;
    const reason = `${worker} ${end.reason}`;
    await this.#channel.send(sender, { type: 'lost', reason });
    throw new Error(reason);
  }

  #shardEnd(
    jobId: string,
    assignment: ShardAssignment,
    sender: MessageSender,
  ): Promise<ProcessEnd> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      let end: ProcessEnd | undefined;
      let lastMessageMs = clock.monotonicMs();
      const process = startShardProcess(assignment, {
        onMessage: (message) => {
          lastMessageMs = clock.monotonicMs();
          end ??= endIn(message);
          const sending = this.#channel.send(sender, this.#sharedTime(message));
          // The process has nothing to do after its last message, so it is killed once that message
          // has been sent.
          if (end) sending.finally(() => process.kill());
        },
        onEnd: (how) => {
          watch.cancel();
          pulse.cancel();
          if (this.#workers.get(jobId)?.process === process) this.#workers.delete(jobId);
          resolve(end ?? { kind: 'lost', reason: how });
        },
      });
      const watch = clock.every(WATCH_PERIOD_MS, () => {
        if (clock.monotonicMs() - lastMessageMs > SILENCE_MAX_MS) process.kill();
      });
      const pulse = clock.every(this.#pulseMs, () => void this.#channel.send(sender, heartbeat));
      this.#workers.set(jobId, { sender, process });
      for (const message of this.#sent) process.send(this.#localTime(message));
    });
  }

  #onOwner({ shard, token }: OwnerMessage): void {
    this.#granted.set(shard, token);
    for (const { sender, process } of this.#workers.values()) {
      if (sender.shard === shard && sender.token !== token) process.kill();
    }
  }

  #receive(message: CoordinatorMessage): void {
    this.#sent.push(message);
    for (const { process } of this.#workers.values()) process.send(this.#localTime(message));
  }

  /** Converts the start time from the clock of Redis to the local clock. */
  #localTime(message: CoordinatorMessage): CoordinatorMessage {
    if (message.type !== 'start') return message;
    return { ...message, atMs: message.atMs - this.#options.redis.offsetMs };
  }

  /**
   * Converts event times to the clock of Redis, because the coordinator orders the events of all
   * workers.
   */
  #sharedTime(message: WorkerMessage): WorkerMessage {
    if (message.type !== 'events') return message;
    const { offsetMs } = this.#options.redis;
    const events = message.events.map((event) => {
      return { ...event, atMs: Math.round(event.atMs + offsetMs) };
    });
    return { ...message, events, untilMs: Math.round(message.untilMs + offsetMs) };
  }
}

type ProcessEnd =
  | { readonly kind: 'result' }
  | { readonly kind: 'failed' | 'lost'; readonly reason: string };

function endIn(message: WorkerMessage): ProcessEnd | undefined {
  if (message.type === 'result') return { kind: 'result' };
  return message.type === 'failed' ? { kind: 'failed', reason: message.sentence } : undefined;
}
