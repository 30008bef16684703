/** One run as a worker sees it: takes shards of it, one or more at a time, and plays them. */
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { Clock } from '../../../fixtures/clock.ts';
import { printable } from '../../../fixtures/printable.ts';
import type { Random } from '../../../fixtures/random.ts';
import type { Needs, OwnPlan } from '../../plan/divided-plan.ts';
import { SILENCE_MAX_MS } from '../coordinator.ts';
import type { CoordinatorMessage, ShardOrder, WorkerMessage } from '../messages.ts';
import { type ShardProcess, startShardProcess } from '../shard-process.ts';
import type { RedisLink } from './connection.ts';
import { CoordinatorLine, type Speaker } from './coordinator-line.ts';
import { QUEUE_NAME, type RunKeys } from './run-keys.ts';
import { type PlaysMessage, unsignedAt } from './run-line.ts';
import type { RunSigner } from './run-signer.ts';
import { jobIn, type ShardJob } from './shard-job.ts';

/** A run, and who runs in it. */
export interface WorkerRunOptions {
  readonly link: RedisLink;
  readonly clock: Clock;
  readonly random: Random;
  readonly keys: RunKeys;
  readonly signer: RunSigner;
  /** Of the worker; its workers have names below it. */
  readonly name: string;
  readonly needs: Needs;
  readonly own: OwnPlan;
  readonly takeoverAfterMs: number;
  readonly say: (text: string) => void;
  /** Called once when nobody can take part in the run any more, with the reason as a clause. */
  readonly broken: (reason: string) => void;
}

/** How often, within the time after which a worker is lost, it says that it lives. */
const RENEWALS = 3;
const WATCH_PERIOD_MS = 1000;
/** A run's own bound of begun shards decides, not that of BullMQ. */
const STALLED_MAX = 1000;
/** A coordinator answers at once, or when it knows that the former worker is lost. */
const ANSWER_LEAST_MS = 2000;
const alive = { say: 'alive' } as const;

/** Who runs a shard here, and as whom the coordinator knows it. */
interface Seated {
  readonly speaker: Speaker;
  readonly process: ShardProcess;
}

/** Takes part in a run; `close` it when the run or the worker ends. */
export class WorkerRun {
  readonly #options: WorkerRunOptions;
  /** Each takes one shard at a time. */
  readonly #seats: Worker<unknown>[] = [];
  /** By the id of the job. */
  readonly #workers = new Map<string, Seated>();
  /** By shard, who runs it by the word of the coordinator. */
  readonly #granted = new Map<number, string | undefined>();
  readonly #told: CoordinatorMessage[] = [];
  readonly #talk: CoordinatorLine;
  #begun = 0;

  constructor(options: WorkerRunOptions) {
    this.#options = options;
    this.#talk = new CoordinatorLine({
      ...options,
      hear: (message) => this.#hear(message),
      hearPlays: (message) => this.#hearPlays(message),
      refused: () => options.say(`${options.name}: ${unsignedAt(options.link.shown)}`),
    });
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

  /** Ends every worker at once. */
  async close(): Promise<void> {
    for (const { process } of this.#workers.values()) process.kill();
    await Promise.all(this.#seats.map((seat) => seat.close(true)));
    this.#talk.close();
  }

  #seat(): Worker<unknown> {
    const { link, keys, name, takeoverAfterMs } = this.#options;
    const seat = new Worker<unknown>(QUEUE_NAME, (job) => this.#take(job), {
      connection: link.another(),
      prefix: keys.prefix,
      name,
      concurrency: 1,
      // Redis takes whole milliseconds only, and BullMQ hands them on as they are.
      lockDuration: Math.floor(takeoverAfterMs),
      lockRenewTime: this.#pulseMs,
      stalledInterval: this.#pulseMs,
      maxStalledCount: STALLED_MAX,
      skipVersionCheck: true,
    });
    // A Redis that is gone is told by its link, and a job that is none is of no use to anybody.
    seat.on('error', () => undefined);
    // Another worker has the shard by now: what this one still played would be played twice.
    seat.on('lockRenewalFailed', (jobIds) => {
      for (const jobId of jobIds) this.#workers.get(jobId)?.process.kill();
    });
    return seat;
  }

  get #pulseMs(): number {
    return Math.floor(this.#options.takeoverAfterMs / RENEWALS);
  }

  /** A job that is not of the coordinator fails, and nothing is done but to say so. */
  async #take(job: Job<unknown>): Promise<void> {
    const { signer, needs, own, name, say } = this.#options;
    const read = jobIn(job, { signer, needs, own });
    if (typeof read === 'string') {
      const refuses = `refuses the job ${printable(job.id ?? '', 40)}: ${read}`;
      say(`${name} ${refuses}`);
      await this.#talk.refuse(name, refuses);
      throw new UnrecoverableError(refuses);
    }
    const worker = `${name}/${++this.#begun}`;
    const speaker = { shard: read.shard, worker, token: this.#options.random.uuid() };
    try {
      await this.#play(job.id ?? '', read, speaker);
    } finally {
      this.#talk.forget(speaker);
    }
  }

  async #play(jobId: string, { shard, plan, tellsEvents }: ShardJob, speaker: Speaker) {
    const { takeoverAfterMs, say } = this.#options;
    const { worker, token } = speaker;
    const grant = await this.#talk.asked(speaker, ANSWER_LEAST_MS + 2 * takeoverAfterMs);
    if (grant === undefined || this.#granted.get(shard) !== token) {
      throw new UnrecoverableError(`the coordinator did not give shard ${shard} to ${worker}`);
    }
    const { isTakeover } = grant;
    say(`${worker} ${isTakeover ? 'takes over' : 'runs'} shard ${shard} of ${plan.shard?.of}`);
    const end = await this.#played(jobId, { plan, isTakeover, tellsEvents }, speaker);
    say(`${worker} ${end.kind === 'result' ? 'has completed it' : end.because}`);
    if (end.kind === 'fault') throw new UnrecoverableError(end.because);
    if (end.kind === 'result') return;
    const because = `${worker} ${end.because}`;
    await this.#talk.say(speaker, { say: 'lost', because });
    throw new Error(because);
  }

  #played(jobId: string, order: ShardOrder, speaker: Speaker): Promise<ProcessEnd> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      let end: ProcessEnd | undefined;
      let heardMs = clock.monotonicMs();
      const process = startShardProcess(order, {
        heard: (message) => {
          heardMs = clock.monotonicMs();
          end ??= endIn(message);
          const told = this.#talk.say(speaker, this.#sharedTime(message));
          // What it had to say is with the coordinator; a worker that has ended has nothing else to do.
          if (end) told.finally(() => process.kill());
        },
        ended: (how) => {
          watch.cancel();
          pulse.cancel();
          if (this.#workers.get(jobId)?.process === process) this.#workers.delete(jobId);
          resolve(end ?? { kind: 'lost', because: how });
        },
      });
      const watch = clock.every(WATCH_PERIOD_MS, () => {
        if (clock.monotonicMs() - heardMs > SILENCE_MAX_MS) process.kill();
      });
      const pulse = clock.every(this.#pulseMs, () => void this.#talk.say(speaker, alive));
      this.#workers.set(jobId, { speaker, process });
      for (const message of this.#told) process.tell(this.#localTime(message));
    });
  }

  #hearPlays({ shard, token }: PlaysMessage): void {
    this.#granted.set(shard, token);
    for (const { speaker, process } of this.#workers.values()) {
      if (speaker.shard === shard && speaker.token !== token) process.kill();
    }
  }

  #hear(message: CoordinatorMessage): void {
    this.#told.push(message);
    for (const { process } of this.#workers.values()) process.tell(this.#localTime(message));
  }

  /** Coordinator and workers agree on the time of Redis; a worker knows that of its machine. */
  #localTime(message: CoordinatorMessage): CoordinatorMessage {
    if (message.say !== 'start') return message;
    return { ...message, atMs: message.atMs - this.#options.link.offsetMs };
  }

  /** Events of all workers come into one order at the coordinator. */
  #sharedTime(message: WorkerMessage): WorkerMessage {
    if (message.say !== 'events') return message;
    const { offsetMs } = this.#options.link;
    const events = message.events.map((event) => {
      return { ...event, atMs: Math.round(event.atMs + offsetMs) };
    });
    return { ...message, events, untilMs: Math.round(message.untilMs + offsetMs) };
  }
}

type ProcessEnd =
  | { readonly kind: 'result' }
  | { readonly kind: 'fault' | 'lost'; readonly because: string };

function endIn(message: WorkerMessage): ProcessEnd | undefined {
  if (message.say === 'result') return { kind: 'result' };
  return message.say === 'fault' ? { kind: 'fault', because: message.sentence } : undefined;
}
