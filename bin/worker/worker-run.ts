/** One run as a worker sees it: takes shards of it, one or more at a time, and plays them. */
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../../fixtures/clock.ts';
import { SILENCE_MAX_MS } from '../../simulator/shards/head.ts';
import type { HeadMessage, PlayerMessage, ShardOrder } from '../../simulator/shards/messages.ts';
import type { FleetPlan } from '../../simulator/simulator.ts';
import type { RedisLink } from '../simulate/redis/connection.ts';
import { QUEUE_NAME, type RunKeys } from '../simulate/redis/run-keys.ts';
import { listenOn, sayOn, type UpMessage } from '../simulate/redis/run-line.ts';
import { type NeededSecrets, type OwnSecrets, wholePlan } from '../simulate/redis/secrets.ts';
import { type ShardProcess, startShardProcess } from '../simulate/shard-process.ts';

/** A run, and who plays in it. */
export interface WorkerRunOptions {
  readonly link: RedisLink;
  readonly clock: Clock;
  readonly keys: RunKeys;
  /** Of the worker; its players have names below it. */
  readonly name: string;
  readonly needs: NeededSecrets;
  readonly secrets: OwnSecrets;
  readonly takeoverAfterMs: number;
  readonly say: (text: string) => void;
}

/** The data of a job. */
interface ShardJob {
  readonly plan: FleetPlan;
  readonly tellsEvents: boolean;
}

/** How often, within the time after which a worker is lost, it says that it lives. */
const RENEWALS = 3;
const WATCH_PERIOD_MS = 1000;
/** A run's own bound of begun shards decides, not that of BullMQ. */
const STALLED_MAX = 1000;

/** Takes part in a run; `close` it when the run or the worker ends. */
export class WorkerRun {
  readonly #options: WorkerRunOptions;
  /** Each takes one shard at a time. */
  readonly #seats: Worker<ShardJob>[] = [];
  readonly #players = new Map<string, ShardProcess>();
  readonly #told: HeadMessage[] = [];
  readonly #lines: Redis;
  #begun = 0;

  constructor(options: WorkerRunOptions) {
    this.#options = options;
    const { link, keys } = options;
    this.#lines = link.another();
    const listening = listenOn<HeadMessage>({
      client: this.#lines,
      stream: keys.down,
      hear: (message) => this.#hear(message),
      consumes: false,
    });
    listening.catch((error: unknown) => options.say(`${options.name}: ${error}`));
  }

  /** Shards that are played now. */
  get playing(): number {
    return this.#players.size;
  }

  /** Takes so many shards at a time; never fewer than before. */
  takeAtOnce(count: number): void {
    while (this.#seats.length < count) this.#seats.push(this.#seat());
  }

  /** Takes no more shards; resolves when those underway have come to their end. */
  async finish(): Promise<void> {
    await Promise.all(this.#seats.map((seat) => seat.close()));
    await this.close();
  }

  /** Ends every player at once. */
  async close(): Promise<void> {
    for (const player of this.#players.values()) player.kill();
    await Promise.all(this.#seats.map((seat) => seat.close(true)));
    this.#lines.disconnect();
  }

  #seat(): Worker<ShardJob> {
    const { link, keys, name, takeoverAfterMs } = this.#options;
    // Redis takes whole milliseconds only, and BullMQ hands them on as they are.
    const pulseMs = Math.floor(takeoverAfterMs / RENEWALS);
    const seat = new Worker<ShardJob>(QUEUE_NAME, (job) => this.#play(job), {
      connection: link.another(),
      prefix: keys.prefix,
      name,
      concurrency: 1,
      lockDuration: Math.floor(takeoverAfterMs),
      lockRenewTime: pulseMs,
      stalledInterval: pulseMs,
      maxStalledCount: STALLED_MAX,
      skipVersionCheck: true,
    });
    // A Redis that is gone is told by its link.
    seat.on('error', () => undefined);
    // Another worker has the shard by now: what this one still played would be played twice.
    seat.on('lockRenewalFailed', (jobIds) => {
      for (const jobId of jobIds) this.#players.get(jobId)?.kill();
    });
    return seat;
  }

  async #play(job: Job<ShardJob>): Promise<void> {
    const { needs, secrets, name, say } = this.#options;
    const { plan, tellsEvents } = job.data;
    const shard = plan.shard?.index ?? 0;
    const isTakeover = job.attemptsStarted > 1;
    const player = `${name}/${++this.#begun}`;
    const tell = (message: UpMessage['message']) => this.#say({ shard, player, message });
    await tell({ say: 'begun' });
    say(`${player} ${isTakeover ? 'takes over' : 'plays'} shard ${shard} of ${plan.shard?.of}`);
    const order = { plan: wholePlan({ plan, needs }, secrets), isTakeover, tellsEvents };
    const end = await this.#played(job.id ?? '', order, tell);
    say(`${player} ${end.kind === 'result' ? 'has played it to the end' : end.because}`);
    if (end.kind === 'fault') throw new UnrecoverableError(end.because);
    if (end.kind === 'result') return;
    const because = `${player} ${end.because}`;
    await tell({ say: 'lost', because });
    throw new Error(because);
  }

  #played(
    jobId: string,
    order: ShardOrder,
    tell: (message: PlayerMessage) => Promise<void>,
  ): Promise<PlayerEnd> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      let end: PlayerEnd | undefined;
      let heardMs = clock.monotonicMs();
      const player = startShardProcess(order, {
        heard: (message) => {
          heardMs = clock.monotonicMs();
          end ??= endIn(message);
          const told = tell(this.#sharedTime(message));
          // What it had to say is with the head; a player that has ended has nothing else to do.
          if (end) told.finally(() => player.kill());
        },
        ended: (how) => {
          watch.cancel();
          if (this.#players.get(jobId) === player) this.#players.delete(jobId);
          resolve(end ?? { kind: 'lost', because: how });
        },
      });
      const watch = clock.every(WATCH_PERIOD_MS, () => {
        if (clock.monotonicMs() - heardMs > SILENCE_MAX_MS) player.kill();
      });
      this.#players.set(jobId, player);
      for (const message of this.#told) player.tell(this.#localTime(message));
    });
  }

  #hear(message: HeadMessage): void {
    this.#told.push(message);
    for (const player of this.#players.values()) player.tell(this.#localTime(message));
  }

  /** Head and workers agree on the time of Redis; a player knows that of its machine. */
  #localTime(message: HeadMessage): HeadMessage {
    if (message.say !== 'start') return message;
    return { ...message, atMs: message.atMs - this.#options.link.offsetMs };
  }

  /** Events of all workers come into one order at the head. */
  #sharedTime(message: PlayerMessage): PlayerMessage {
    if (message.say !== 'events') return message;
    const { offsetMs } = this.#options.link;
    const events = message.events.map((event) => {
      return { ...event, atMs: Math.round(event.atMs + offsetMs) };
    });
    return { ...message, events, untilMs: Math.round(message.untilMs + offsetMs) };
  }

  async #say(message: UpMessage): Promise<void> {
    const { link, keys } = this.#options;
    await sayOn(link.client, keys.up, message);
  }
}

type PlayerEnd =
  | { readonly kind: 'result' }
  | { readonly kind: 'fault' | 'lost'; readonly because: string };

function endIn(message: PlayerMessage): PlayerEnd | undefined {
  if (message.say === 'result') return { kind: 'result' };
  return message.say === 'fault' ? { kind: 'fault', because: message.sentence } : undefined;
}
