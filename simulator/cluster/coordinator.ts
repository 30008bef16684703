/**
 * The coordinator of a run in shards. It starts all workers together, creates the one deployment,
 * merges the workers' reports, and ensures that a lost worker does not block the run. Its owner
 * starts the workers and transports the messages.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type { RunDeployment } from '../api-client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import { Deferred } from '../engine/deferred.ts';
import { FleetStopped } from '../network/errors.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { deviceRange } from '../plan/shard.ts';
import { MergeError, mergeResults } from '../result/merge.ts';
import type { FleetProgress, FleetResult } from '../result/result.ts';
import type { RestartedShard, ShardSpread } from '../result/result-spread.ts';
import type { ShardFigures } from '../result/shard-figures.ts';
import { ThresholdWatch } from '../result/thresholds-live.ts';
import { ClusterError } from './cluster-error.ts';
import { EventOrder } from './event-order.ts';
import type { CoordinatorMessage, WorkerMessage } from './messages.ts';
import { type WholeRun, WorkerReports } from './worker-reports.ts';

/** The outcome of a run in shards. */
export interface ClusterOutcome {
  /** The results by shard; a lost shard has none. */
  readonly results: readonly FleetResult[];
  /** The restarted and lost shards. */
  readonly spread: ShardSpread;
  /** The last figures of failed workers. */
  readonly lastFigures: readonly ShardFigures[];
}

/**
 * Thrown when a worker reports that no worker can run its shard. The message is a sentence for the
 * user.
 */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
  readonly exitCode: number;

  constructor(sentence: string, exitCode: number) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

export interface CoordinatorOptions {
  readonly shards: number;
  readonly plan: Pick<FleetPlan, 'devices' | 'thresholds' | 'abortOnThreshold'>;
  readonly clock: Clock;
  /** Sends a message to every current worker, and to every worker that starts later. */
  readonly send: (message: CoordinatorMessage) => void;
  /** Milliseconds between the start message and the common start. */
  readonly startLeadMs: number;
  /** Creates the deployment for all devices; undefined when the plan has none. */
  readonly deploy?: ((deviceIds: readonly string[]) => Promise<RunDeployment>) | undefined;
  readonly onProgress?: ((progress: FleetProgress) => void) | undefined;
  /** Called for the events of all workers in a common order, with a delay of about a second. */
  readonly onEvent?: ((event: FleetEvent) => void) | undefined;
  /** Called with the number of events that a worker could not send. */
  readonly onEventsLost?: ((events: number) => void) | undefined;
  /** Called for a worker that has sent nothing for `SILENCE_MAX_MS`. The owner must end it. */
  readonly onNoResponse: (shard: number, worker: string) => void;
}

/**
 * Time without a message, in milliseconds, after which a worker counts as lost; workers report
 * every second.
 */
export const SILENCE_MAX_MS = 30_000;
const WATCH_PERIOD_MS = 1000;

type AcceptedMessage = Extract<WorkerMessage, { readonly type: 'accepted' }>;
type EventsMessage = Extract<WorkerMessage, { readonly type: 'events' }>;
type ProgressMessage = Extract<WorkerMessage, { readonly type: 'progress' }>;

interface ShardState {
  worker: string | undefined;
  lastWorker: string | undefined;
  lostReason: string | undefined;
  lastMessageMs: number;
  isReady: boolean;
  deviceIds: readonly string[] | undefined;
  takeover: RestartedShard | undefined;
  result: FleetResult | undefined;
  isGivenUp: boolean;
}

/** The coordinator. `outcome` settles when every shard has ended. */
export class Coordinator {
  readonly #options: CoordinatorOptions;
  readonly #shards: readonly ShardState[];
  readonly #outcome = new Deferred<ClusterOutcome>();
  readonly #takeovers: RestartedShard[] = [];
  readonly #watch: Timer;
  readonly #reports: WorkerReports;
  readonly #thresholds: ThresholdWatch;
  readonly #order: EventOrder | undefined;
  /** Digest of the plan from the first worker that is ready. */
  #plan: string | undefined;
  #hasChecked = false;
  #isEnding = false;
  #startedMs: number | undefined;
  #isDeployed = false;
  /** The deployment of a resumed run, which a worker remembers from its state folder. */
  #earlierDeployment: RunDeployment | undefined;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
    this.#shards = Array.from({ length: options.shards }, newShardState);
    this.#reports = new WorkerReports(options.shards);
    this.#thresholds = new ThresholdWatch(options.plan);
    this.#order = options.onEvent && new EventOrder(options.clock, options.onEvent);
    this.#watch = options.clock.every(WATCH_PERIOD_MS, () => this.#checkRun());
  }

  /** The outcome of the run. It rejects with WorkerFailed or with the error of `deploy`. */
  get outcome(): Promise<ClusterOutcome> {
    return this.#outcome.value;
  }

  /** Number of shards that are running or have ended with a result. */
  get begunCount(): number {
    return [...this.#shards.keys()].filter((shard) => this.isBegun(shard)).length;
  }

  /** Returns true when the shard is running or has ended with a result. */
  isBegun(shard: number): boolean {
    const state = this.#shards[shard];
    return state?.worker !== undefined || state?.result !== undefined;
  }

  /**
   * Records that a worker has started the shard. Later messages of its earlier workers are ignored.
   */
  recordStart(shard: number, worker: string): void {
    const state = this.#shards[shard];
    if (state === undefined || state.result || state.isGivenUp || state.worker === worker) return;
    if (state.lastWorker !== undefined) {
      const keptFigures = this.#reports.keep(shard);
      state.takeover = {
        shard,
        afterMs: this.#elapsedMs(),
        from: state.lastWorker,
        to: worker,
        reason: state.lostReason ?? 'it stopped reporting',
        adopted: 0,
        ...(keptFigures && { kept: keptFigures }),
      };
      this.#takeovers.push(state.takeover);
    }
    state.worker = worker;
    state.lastWorker = worker;
    state.lostReason = undefined;
    state.lastMessageMs = this.#options.clock.monotonicMs();
  }

  /**
   * Handles a message of a worker. Messages are ignored when the shard belongs to another worker.
   */
  onMessage(shard: number, worker: string, message: WorkerMessage): void {
    const state = this.#shards[shard];
    if (state === undefined || state.worker !== worker || state.result) return;
    state.lastMessageMs = this.#options.clock.monotonicMs();
    if (message.type === 'ready') this.#recordReady(shard, worker, message.plan);
    else if (message.type === 'accepted') this.#recordAccepted(state, message);
    else if (message.type === 'progress') this.#recordProgress(shard, worker, message);
    else if (message.type === 'adopted') this.#recordAdopted(state, message.devices);
    else if (message.type === 'events') this.#recordEvents(shard, message);
    else if (message.type === 'failed')
      this.fail(new WorkerFailed(message.sentence, message.exitCode));
    else if (message.type === 'result') this.#recordResult(shard, message.result);
    this.#advance();
  }

  /**
   * Records that a worker is gone. The caller must restart the shard or give it up.
   * @returns true when the shard still has to run
   */
  recordLoss(shard: number, worker: string, reason: string): boolean {
    const state = this.#shards[shard];
    if (state === undefined || state.worker !== worker || state.result) return false;
    state.worker = undefined;
    state.lostReason = reason;
    this.#order?.recordEnd(shard);
    return true;
  }

  /** Gives up a shard: no worker will run it. */
  giveUp(shard: number, reason: string): void {
    const state = this.#shards[shard];
    if (state === undefined || state.result) return;
    state.worker = undefined;
    state.isGivenUp = true;
    this.#order?.recordEnd(shard);
    state.lostReason = reason;
    this.#advance();
  }

  /** Ends the run cleanly. The workers send the results that they have then. */
  stop(): void {
    this.#options.send({ type: 'stop' });
  }

  /** Ends a stopping run without waiting for deployments in progress. */
  forceStop(): void {
    this.#options.send({ type: 'forceStop' });
  }

  /** Ends the run with an error. */
  fail(error: unknown): void {
    this.stop();
    this.#outcome.reject(error);
  }

  /** Stops the supervision of the workers. */
  close(): void {
    this.#watch.cancel();
    this.#order?.close();
  }

  #advance(): void {
    const open = this.#shards.filter(({ isGivenUp }) => !isGivenUp);
    if (open.every(({ isReady, result }) => isReady || result)) this.#start();
    if (open.every(({ deviceIds }) => deviceIds)) this.#deploy(open);
    if (open.every(({ result }) => result)) this.#end();
  }

  #start(): void {
    if (this.#startedMs !== undefined) return;
    const { clock, startLeadMs, send } = this.#options;
    this.#startedMs = clock.monotonicMs() + startLeadMs;
    this.#reports.started(this.#startedMs);
    send({ type: 'start', atMs: clock.now() + startLeadMs });
  }

  #deploy(shards: readonly ShardState[]): void {
    const { deploy, send } = this.#options;
    if (this.#isDeployed || deploy === undefined || shards.length === 0) return;
    this.#isDeployed = true;
    const deviceIds = shards.flatMap((state) => state.deviceIds ?? []);
    const deployment =
      this.#earlierDeployment === undefined
        ? deploy(deviceIds)
        : Promise.resolve(this.#earlierDeployment);
    deployment.then(
      (runDeployment) => send({ type: 'deployment', runDeployment }),
      (error: unknown) => {
        if (!(error instanceof FleetStopped)) this.fail(error);
      },
    );
  }

  #end(): void {
    this.#checkRun();
    this.#order?.close();
    const lostShards = [...this.#shards.entries()].flatMap(([shard, { isGivenUp, lostReason }]) => {
      if (!isGivenUp) return [];
      this.#reports.recordEnd(shard, this.#options.clock.monotonicMs());
      const keptFigures = this.#reports.keep(shard);
      return [
        {
          shard,
          reason: lostReason ?? 'no worker ran it',
          ...(keptFigures && { kept: keptFigures }),
        },
      ];
    });
    const missingDeviceMs = this.#missingDeviceMs();
    const missing = missingDeviceMs === 0 ? {} : { missingDeviceMs };
    this.#outcome.resolve({
      results: this.#shards.flatMap(({ result }) => result ?? []),
      spread: { takeovers: this.#takeovers, lost: lostShards, ...missing },
      lastFigures: this.#reports.lastFigures,
    });
  }

  #missingDeviceMs(): number {
    const { shards, plan } = this.#options;
    return [...this.#shards.keys()].reduce((sum, index) => {
      const { first, end } = deviceRange({ devices: plan.devices, shard: { index, of: shards } });
      return sum + (end - first) * this.#reports.missingMs(index);
    }, 0);
  }

  /**
   * Reports the progress of the run, judges its thresholds, and reports workers that are silent.
   */
  #checkRun(): void {
    const { clock, onProgress, onNoResponse } = this.#options;
    // The report is undefined until all shards have reported, because a part would look like the
    // whole.
    const fleetReport = this.#reports.whole((shard) => this.#shards[shard]?.isGivenUp === false);
    if (fleetReport) {
      this.#hasChecked = true;
      onProgress?.(fleetReport.progress);
      this.#judge(fleetReport);
    }
    const minMs = clock.monotonicMs() - SILENCE_MAX_MS;
    for (const [shard, { worker, lastMessageMs, result }] of this.#shards.entries()) {
      const isSilent = worker !== undefined && !result && lastMessageMs < minMs;
      if (isSilent) onNoResponse(shard, worker);
    }
  }

  /**
   * Ends the run when a threshold can no longer be met. The thresholds apply to all shards
   * together.
   */
  #judge({ measures }: WholeRun): void {
    const isInProgress =
      (this.#startedMs ?? Number.POSITIVE_INFINITY) <= this.#options.clock.monotonicMs();
    if (!measures || !isInProgress || this.#isEnding) return;
    if (!this.#thresholds.check(measures)) return;
    this.#isEnding = true;
    this.#options.send({ type: 'end', reason: 'threshold' });
  }

  #recordReady(shard: number, worker: string, plan: string | undefined): void {
    const state = this.#shards[shard];
    this.#plan ??= plan;
    if (plan !== this.#plan) this.fail(otherPlan(worker));
    if (state) state.isReady = true;
    this.#reports.ready(shard, worker, this.#options.clock.monotonicMs());
  }

  #recordProgress(shard: number, worker: string, { progress, figures }: ProgressMessage): void {
    const atMs = this.#options.clock.monotonicMs();
    this.#reports.recordProgress(shard, worker, { progress, figures, atMs });
    // The first progress report is due at once, not after the first second.
    if (!this.#hasChecked) this.#checkRun();
  }

  #recordResult(shard: number, result: FleetResult): void {
    const state = this.#shards[shard];
    if (state) state.result = result;
    this.#order?.recordEnd(shard);
  }

  #recordEvents(shard: number, { events, untilMs, lost = 0 }: EventsMessage): void {
    this.#order?.add(shard, events, untilMs);
    if (lost > 0) this.#options.onEventsLost?.(lost);
  }

  #recordAccepted(state: ShardState, { deviceIds, earlierDeployment }: AcceptedMessage): void {
    state.deviceIds = deviceIds;
    this.#earlierDeployment ??= earlierDeployment;
  }

  #recordAdopted(state: ShardState, adopted: number): void {
    const noted = state.takeover && this.#takeovers.indexOf(state.takeover);
    if (state.takeover === undefined || noted === undefined) return;
    state.takeover = { ...state.takeover, adopted };
    this.#takeovers[noted] = state.takeover;
  }

  #elapsedMs(): number {
    if (this.#startedMs === undefined) return 0;
    return Math.max(0, this.#options.clock.monotonicMs() - this.#startedMs);
  }
}

/**
 * Returns the error for a worker with another plan. All workers receive the same plan, so the
 * difference is in the files that it names, which each worker reads itself.
 */
function otherPlan(worker: string): MergeError {
  return new MergeError(
    `${worker} runs a different plan: the files that the plan names (behaviours, ` +
      'id_data) must have the same content on every machine',
  );
}

function newShardState(): ShardState {
  return {
    worker: undefined,
    lastWorker: undefined,
    lostReason: undefined,
    lastMessageMs: 0,
    isReady: false,
    deviceIds: undefined,
    takeover: undefined,
    result: undefined,
    isGivenUp: false,
  };
}

/**
 * Merges the results of all shards, and adds the restarted and lost shards.
 * @throws ClusterError when there is no result
 */
export function mergedResult({ results, spread, lastFigures }: ClusterOutcome): FleetResult {
  if (results.length === 0) {
    const reason = spread.lost[0]?.reason ?? 'no worker ran it';
    const sentence = `no shard of the run finished (${reason}); there is no result`;
    throw new ClusterError(sentence, 'no-result');
  }
  return { ...mergeResults(results, lastFigures), spread };
}
