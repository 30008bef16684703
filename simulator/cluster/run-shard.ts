/**
 * The process of a worker: it runs one shard and exchanges messages about it with the coordinator.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type { RunDeployment } from '../api-client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import type { CoordinatorConnection } from '../engine/coordinator-connection.ts';
import { Deferred } from '../engine/deferred.ts';
import { simulateFleet } from '../engine/simulate-fleet.ts';
import type { SampledExchangeJudge } from '../metrics/check-metrics.ts';
import { FleetStopped } from '../network/errors.ts';
import type { EndReason } from '../result/result.ts';
import { figuresPeriodSeconds, type ShardFigures } from '../result/shard-figures.ts';
import type { CoordinatorMessage, ShardAssignment, WorkerMessage } from './messages.ts';

/** The connection of a shard's process to the coordinator. It keeps the order of messages. */
export interface WorkerChannel {
  send(message: WorkerMessage): void;
  /** Number of sent messages that the receiver has not accepted yet. */
  readonly unsentCount: number;
  /** Calls `listener` for every message of the coordinator, including earlier ones. */
  onMessage(listener: (message: CoordinatorMessage) => void): void;
}

/** Options of the run of a shard that its assignment does not contain. */
export interface ShardRunOptions {
  readonly channel: WorkerChannel;
  readonly clock: Clock;
  /** Version of Fleetbed, for the result. */
  readonly version?: string;
  /** Judges the exchanges of watched devices; required when the plan has a `checkShare`. */
  readonly judge?: SampledExchangeJudge | undefined;
  /** Describes an error in a sentence for the user and returns its exit code. */
  readonly describeError: (error: unknown) => {
    readonly sentence: string;
    readonly exitCode: number;
  };
}

/** Runs a shard and sends its result or its error. It never throws. */
export async function runShard(
  assignment: ShardAssignment,
  options: ShardRunOptions,
): Promise<void> {
  const { channel, clock, version, describeError } = options;
  const coordinator = new ShardConnection(assignment, channel, clock);
  const events = assignment.sendsEvents ? new EventBatches(channel, clock) : undefined;
  try {
    const result = await simulateFleet(assignment.plan, {
      signal: coordinator.signal,
      forceStop: coordinator.forceStop,
      clock,
      coordinator,
      ...(version !== undefined && { version }),
      onProgress: (progress) => {
        const figures = coordinator.figuresOnce();
        channel.send({ type: 'progress', progress, ...(figures && { figures }) });
      },
      judge: options.judge,
      ...(events && { onEvent: (event: FleetEvent) => events.add(event) }),
    });
    events?.close();
    channel.send({ type: 'result', result });
  } catch (error) {
    events?.close();
    const { sentence, exitCode } = describeError(error);
    channel.send({ type: 'failed', sentence, exitCode });
  }
}

/** Implements the shard's interface to the coordinator with messages. */
class ShardConnection implements CoordinatorConnection {
  readonly #channel: WorkerChannel;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #forceStop = new AbortController();
  readonly #startAtMs = new Deferred<number | undefined>();
  readonly #runDeployment = new Deferred<RunDeployment>();
  readonly #ended = new Deferred<EndReason>();
  readonly #checksPerFigures: number;
  #checks = 0;
  #plan: string | undefined;
  #figures: ShardFigures | undefined;
  readonly isTakeover: boolean;

  constructor(assignment: ShardAssignment, channel: WorkerChannel, clock: Clock) {
    this.isTakeover = assignment.isTakeover;
    this.#checksPerFigures = figuresPeriodSeconds(assignment.plan.shard?.of ?? 1);
    this.#channel = channel;
    this.#clock = clock;
    channel.onMessage((message) => {
      if (message.type === 'start') this.#startAtMs.resolve(message.atMs);
      else if (message.type === 'deployment') this.#runDeployment.resolve(message.runDeployment);
      else if (message.type === 'end') this.#ended.resolve(message.reason);
      else if (message.type === 'forceStop') this.#forceStop.abort();
      else this.#giveUp();
    });
  }

  get ended(): Promise<EndReason> {
    return this.#ended.value;
  }

  reportFigures(readFigures: () => ShardFigures): void {
    if (this.#checks++ % this.#checksPerFigures === 0) this.#figures = readFigures();
  }

  /** Returns the figures measured since the last call; undefined when there are none. */
  figuresOnce(): ShardFigures | undefined {
    const figures = this.#figures;
    this.#figures = undefined;
    return figures;
  }

  reportEnd(): void {
    this.#runDeployment.reject(new FleetStopped());
  }

  /** Signal that aborts when the coordinator sends `stop`. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Signal that aborts when the coordinator sends `forceStop`. */
  get forceStop(): AbortSignal {
    return this.#forceStop.signal;
  }

  reportPlan(digest: string | undefined): void {
    this.#plan = digest;
  }

  async awaitStart(signal: AbortSignal): Promise<number> {
    this.#channel.send({ type: 'ready', plan: this.#plan });
    const atMs = await this.#startAtMs.value;
    if (atMs === undefined) return 0;
    await this.#clock.sleep(atMs - this.#clock.now(), signal);
    return Math.max(0, this.#clock.now() - atMs);
  }

  deploymentFor(
    deviceIds: readonly string[],
    earlierDeployment: RunDeployment | undefined,
  ): Promise<RunDeployment> {
    this.#channel.send({ type: 'accepted', deviceIds, earlierDeployment });
    return this.#runDeployment.value;
  }

  reportAdopted(devices: number): void {
    this.#channel.send({ type: 'adopted', devices });
  }

  #giveUp(): void {
    this.#stop.abort();
    this.#startAtMs.resolve(undefined);
    this.#runDeployment.reject(new FleetStopped());
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
const UNSENT_MAX = 200;

/**
 * Sends events in batches, because a message for each event would cost more than the event itself.
 */
class EventBatches {
  readonly #channel: WorkerChannel;
  readonly #clock: Clock;
  readonly #timer: Timer;
  #unsentEvents: FleetEvent[] = [];
  #lost = 0;
  #reportedMs = 0;

  constructor(channel: WorkerChannel, clock: Clock) {
    this.#channel = channel;
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
    if (this.#lost > 0) this.#send([]);
  }

  #flush(): void {
    const events = this.#unsentEvents;
    const hasJustReported = this.#clock.now() - this.#reportedMs < SILENCE_MAX_MS;
    if (events.length === 0 && hasJustReported) return;
    this.#unsentEvents = [];
    if (this.#channel.unsentCount >= UNSENT_MAX) this.#lost += events.length;
    else this.#send(events);
  }

  #send(events: readonly FleetEvent[]): void {
    const lostCount = this.#lost;
    this.#lost = 0;
    this.#reportedMs = this.#clock.now();
    this.#channel.send({
      type: 'events',
      events,
      untilMs: this.#reportedMs,
      ...(lostCount > 0 && { lost: lostCount }),
    });
  }
}
