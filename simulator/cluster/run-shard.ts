/**
 * The process of a worker: it runs one shard and exchanges messages about it with the coordinator.
 */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import type { RunDeployment } from '../client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import type { CoordinatorLink } from '../engine/coordinator-link.ts';
import { Deferred } from '../engine/deferred.ts';
import { simulateFleet } from '../engine/simulate-fleet.ts';
import type { ExchangeJudge } from '../metrics/check-metrics.ts';
import { FleetStopped } from '../network/errors.ts';
import type { EndReason } from '../result/result.ts';
import { figuresPeriodSeconds, type ShardFigures } from '../result/shard-figures.ts';
import type { CoordinatorMessage, ShardOrder, WorkerMessage } from './messages.ts';

/** The connection of a shard's process to the coordinator. It keeps the order of messages. */
export interface WorkerLine {
  say(message: WorkerMessage): void;
  /** Number of sent messages that the receiver has not accepted yet. */
  readonly underway: number;
  /** Calls `hear` for every message of the coordinator, including earlier ones. */
  listen(hear: (message: CoordinatorMessage) => void): void;
}

/** Options of the run of a shard that its order does not contain. */
export interface ShardRunOptions {
  readonly line: WorkerLine;
  readonly clock: Clock;
  /** Version of Fleetbed, for the result. */
  readonly version?: string;
  /** Judges the exchanges of watched devices; required when the plan has a `checkShare`. */
  readonly judge?: ExchangeJudge | undefined;
  /** Describes an error in a sentence for the user and returns its exit code. */
  readonly describeError: (error: unknown) => {
    readonly sentence: string;
    readonly exitCode: number;
  };
}

/** Runs a shard and sends its result or its error. It never throws. */
export async function runShard(order: ShardOrder, options: ShardRunOptions): Promise<void> {
  const { line, clock, version, describeError } = options;
  const talk = new ShardLink(order, line, clock);
  const events = order.sendsEvents ? new EventBatches(line, clock) : undefined;
  try {
    const result = await simulateFleet(order.plan, {
      signal: talk.signal,
      forceStop: talk.forceStop,
      clock,
      coordinator: talk,
      ...(version !== undefined && { version }),
      onProgress: (progress) => {
        const figures = talk.figuresOnce();
        line.say({ say: 'progress', progress, ...(figures && { figures }) });
      },
      judge: options.judge,
      ...(events && { onEvent: (event: FleetEvent) => events.add(event) }),
    });
    events?.close();
    line.say({ say: 'result', result });
  } catch (error) {
    events?.close();
    const { sentence, exitCode } = describeError(error);
    line.say({ say: 'failed', sentence, exitCode });
  }
}

/** Implements the shard's interface to the coordinator with messages. */
class ShardLink implements CoordinatorLink {
  readonly #line: WorkerLine;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #forceStop = new AbortController();
  readonly #startAtMs = new Deferred<number | undefined>();
  readonly #target = new Deferred<RunDeployment>();
  readonly #ended = new Deferred<EndReason>();
  readonly #looksBetween: number;
  #looks = 0;
  #plan: string | undefined;
  #figures: ShardFigures | undefined;
  readonly isTakeover: boolean;

  constructor(order: ShardOrder, line: WorkerLine, clock: Clock) {
    this.isTakeover = order.isTakeover;
    this.#looksBetween = figuresPeriodSeconds(order.plan.shard?.of ?? 1);
    this.#line = line;
    this.#clock = clock;
    line.listen((message) => {
      if (message.say === 'start') this.#startAtMs.resolve(message.atMs);
      else if (message.say === 'deployment') this.#target.resolve(message.target);
      else if (message.say === 'end') this.#ended.resolve(message.because);
      else if (message.say === 'forceStop') this.#forceStop.abort();
      else this.#giveUp();
    });
  }

  get ended(): Promise<EndReason> {
    return this.#ended.value;
  }

  measured(look: () => ShardFigures): void {
    if (this.#looks++ % this.#looksBetween === 0) this.#figures = look();
  }

  /** Returns the figures measured since the last call; undefined when there are none. */
  figuresOnce(): ShardFigures | undefined {
    const figures = this.#figures;
    this.#figures = undefined;
    return figures;
  }

  over(): void {
    this.#target.reject(new FleetStopped());
  }

  /** Signal that aborts when the coordinator sends `stop`. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Signal that aborts when the coordinator sends `forceStop`. */
  get forceStop(): AbortSignal {
    return this.#forceStop.signal;
  }

  planned(digest: string | undefined): void {
    this.#plan = digest;
  }

  async started(signal: AbortSignal): Promise<number> {
    this.#line.say({ say: 'ready', plan: this.#plan });
    const atMs = await this.#startAtMs.value;
    if (atMs === undefined) return 0;
    await this.#clock.sleep(atMs - this.#clock.now(), signal);
    return Math.max(0, this.#clock.now() - atMs);
  }

  deploymentFor(
    deviceIds: readonly string[],
    kept: RunDeployment | undefined,
  ): Promise<RunDeployment> {
    this.#line.say({ say: 'accepted', deviceIds, kept });
    return this.#target.value;
  }

  adopted(devices: number): void {
    this.#line.say({ say: 'adopted', devices });
  }

  #giveUp(): void {
    this.#stop.abort();
    this.#startAtMs.resolve(undefined);
    this.#target.reject(new FleetStopped());
  }
}

const BATCH_PERIOD_MS = 100;
/**
 * Maximum interval in milliseconds between two messages; an empty one is sent too, because the
 * events of other workers wait for it.
 */
const SILENCE_MAX_MS = 500;
/** Maximum number of events in a message, which then has a few tens of kilobytes. */
const BATCH_EVENTS_MAX = 500;
/** Maximum number of messages that wait for a slow coordinator; beyond it, events are dropped. */
const UNDERWAY_MAX = 200;

/**
 * Sends events in batches, because a message for each event would cost more than the event itself.
 */
class EventBatches {
  readonly #line: WorkerLine;
  readonly #clock: Clock;
  readonly #timer: Timer;
  #unsentEvents: FleetEvent[] = [];
  #lost = 0;
  #reportedMs = 0;

  constructor(line: WorkerLine, clock: Clock) {
    this.#line = line;
    this.#clock = clock;
    this.#timer = clock.every(BATCH_PERIOD_MS, () => this.#flush());
  }

  add(event: FleetEvent): void {
    if (this.#unsentEvents.push(event) >= BATCH_EVENTS_MAX) this.#flush();
  }

  /** Sends the remaining events and the number of dropped ones. */
  close(): void {
    this.#timer.cancel();
    this.#flush();
    if (this.#lost > 0) this.#say([]);
  }

  #flush(): void {
    const events = this.#unsentEvents;
    const hasJustReported = this.#clock.now() - this.#reportedMs < SILENCE_MAX_MS;
    if (events.length === 0 && hasJustReported) return;
    this.#unsentEvents = [];
    if (this.#line.underway >= UNDERWAY_MAX) this.#lost += events.length;
    else this.#say(events);
  }

  #say(events: readonly FleetEvent[]): void {
    const lost = this.#lost;
    this.#lost = 0;
    this.#reportedMs = this.#clock.now();
    this.#line.say({ say: 'events', events, untilMs: this.#reportedMs, ...(lost > 0 && { lost }) });
  }
}
