/**
 * The coordinator of a run in shards: starts all workers together, has the one deployment created,
 * merges their reports, and ensures that a lost worker never hangs the run. Its owner decides which
 * processes the workers are, on which machines, and how they are reached.
 */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import type { Target } from '../client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import { Deferred } from '../engine/deferred.ts';
import { FleetStopped } from '../network/errors.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { deviceRange } from '../plan/shard.ts';
import { MergeError, mergeResults } from '../result/merge.ts';
import type { PartFigures } from '../result/part-figures.ts';
import type { FleetProgress, FleetResult } from '../result/result.ts';
import type { Spread, Takeover } from '../result/result-spread.ts';
import { ThresholdWatch } from '../result/thresholds-live.ts';
import { ClusterError } from './cluster-error.ts';
import { EventOrder } from './event-order.ts';
import type { CoordinatorMessage, WorkerMessage } from './messages.ts';
import { type WholeRun, WorkerReports } from './worker-reports.ts';

/** Outcome of a run in shards. */
export interface ClusterOutcome {
  /** By shard; a lost shard has no result. */
  readonly results: readonly FleetResult[];
  /** What happened to the shards. */
  readonly spread: Spread;
  /** Figures that failed workers had last reported. */
  readonly kept: readonly PartFigures[];
}

/**
 * Thrown when a worker reports that its shard cannot be run; the message is a sentence for the
 * user.
 */
export class WorkerFault extends Error {
  override readonly name = 'PlayerFault';
  readonly exitCode: number;

  constructor(sentence: string, exitCode: number) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** Options of a coordinator. */
export interface CoordinatorOptions {
  readonly shards: number;
  readonly plan: Pick<FleetPlan, 'devices' | 'thresholds' | 'abortOnThreshold'>;
  readonly clock: Clock;
  /** Sends a message to every current and future worker. */
  readonly send: (message: CoordinatorMessage) => void;
  /** How long before the common start the workers are notified. */
  readonly startLeadMs: number;
  /** Creates the deployment for all devices; absent when the plan has none. */
  readonly deploy?: ((deviceIds: readonly string[]) => Promise<Target>) | undefined;
  readonly onProgress?: ((progress: FleetProgress) => void) | undefined;
  /** Called for the events of all workers in one order, a second after they happened. */
  readonly onEvent?: ((event: FleetEvent) => void) | undefined;
  /** Called with the number of events that a worker could not report. */
  readonly onEventsLost?: ((events: number) => void) | undefined;
  /** Called for a worker that has been silent too long; the owner ends it. */
  readonly onSilence: (shard: number, worker: string) => void;
}

/** Workers report progress every second; one that is silent this long is considered lost. */
export const SILENCE_MAX_MS = 30_000;
const WATCH_PERIOD_MS = 1000;

type AcceptedMessage = Extract<WorkerMessage, { readonly say: 'accepted' }>;
type EventsMessage = Extract<WorkerMessage, { readonly say: 'events' }>;
type ProgressMessage = Extract<WorkerMessage, { readonly say: 'progress' }>;

interface ShardState {
  worker: string | undefined;
  lastWorker: string | undefined;
  lostBecause: string | undefined;
  heardMs: number;
  isReady: boolean;
  deviceIds: readonly string[] | undefined;
  takeover: Takeover | undefined;
  result: FleetResult | undefined;
  isGivenUp: boolean;
}

/** Handles the messages and losses of workers; `outcome` settles when every shard has ended. */
export class Coordinator {
  readonly #options: CoordinatorOptions;
  readonly #books: readonly ShardState[];
  readonly #outcome = new Deferred<ClusterOutcome>();
  readonly #takeovers: Takeover[] = [];
  readonly #watch: Timer;
  readonly #told: WorkerReports;
  readonly #thresholds: ThresholdWatch;
  readonly #order: EventOrder | undefined;
  /** Digest of the plan as read by the first worker. */
  #plan: string | undefined;
  #hasLooked = false;
  #isEnding = false;
  #startedMs: number | undefined;
  #isDeployed = false;
  /** A resumed run already has its deployment. */
  #kept: Target | undefined;

  constructor(options: CoordinatorOptions) {
    this.#options = options;
    this.#books = Array.from({ length: options.shards }, newShardState);
    this.#told = new WorkerReports(options.shards);
    this.#thresholds = new ThresholdWatch(options.plan);
    this.#order = options.onEvent && new EventOrder(options.clock, options.onEvent);
    this.#watch = options.clock.every(WATCH_PERIOD_MS, () => this.#look());
  }

  /** Rejects with PlayerFault, or with what `deploy` threw. */
  get outcome(): Promise<ClusterOutcome> {
    return this.#outcome.value;
  }

  /** Number of shards that are running or have run to the end. */
  get begunCount(): number {
    return [...this.#books.keys()].filter((shard) => this.isBegun(shard)).length;
  }

  /** Returns true when the shard is running or has run to the end. */
  isBegun(shard: number): boolean {
    const book = this.#books[shard];
    return book?.worker !== undefined || book?.result !== undefined;
  }

  /**
   * Records that a worker has begun the shard; messages of an earlier worker are ignored from then
   * on.
   */
  begun(shard: number, worker: string): void {
    const book = this.#books[shard];
    if (book === undefined || book.result || book.isGivenUp || book.worker === worker) return;
    if (book.lastWorker !== undefined) {
      const kept = this.#told.keep(shard);
      book.takeover = {
        shard,
        afterMs: this.#elapsedMs(),
        from: book.lastWorker,
        to: worker,
        because: book.lostBecause ?? 'it stopped reporting',
        adopted: 0,
        ...(kept && { kept }),
      };
      this.#takeovers.push(book.takeover);
    }
    book.worker = worker;
    book.lastWorker = worker;
    book.lostBecause = undefined;
    book.heardMs = this.#options.clock.monotonicMs();
  }

  /** Handles a message of a worker; messages from any other worker of the shard are ignored. */
  onMessage(shard: number, worker: string, message: WorkerMessage): void {
    const book = this.#books[shard];
    if (book === undefined || book.worker !== worker || book.result) return;
    book.heardMs = this.#options.clock.monotonicMs();
    if (message.say === 'ready') this.#noteReady(shard, worker, message.plan);
    else if (message.say === 'accepted') this.#noteAccepted(book, message);
    else if (message.say === 'progress') this.#noteProgress(shard, worker, message);
    else if (message.say === 'adopted') this.#noteAdopted(book, message.devices);
    else if (message.say === 'events') this.#noteEvents(shard, message);
    else if (message.say === 'fault')
      this.fail(new WorkerFault(message.sentence, message.exitCode));
    else if (message.say === 'result') this.#noteResult(shard, message.result);
    this.#goOn();
  }

  /**
   * Records that the worker is gone. The owner of the workers restarts the shard or gives it up.
   * @returns true when the shard still has to be run
   */
  lost(shard: number, worker: string, because: string): boolean {
    const book = this.#books[shard];
    if (book === undefined || book.worker !== worker || book.result) return false;
    book.worker = undefined;
    book.lostBecause = because;
    this.#order?.ended(shard);
    return true;
  }

  /** Gives the shard up: no worker runs it any more. */
  giveUp(shard: number, because: string): void {
    const book = this.#books[shard];
    if (book === undefined || book.result) return;
    book.worker = undefined;
    book.isGivenUp = true;
    this.#order?.ended(shard);
    book.lostBecause = because;
    this.#goOn();
  }

  /** Ends the run cleanly; the workers send the results they have by then. */
  stop(): void {
    this.#options.send({ say: 'stop' });
  }

  /** Makes a stopping run no longer wait for open deployments. */
  hurry(): void {
    this.#options.send({ say: 'hurry' });
  }

  /** Ends the run with a fault. */
  fail(error: unknown): void {
    this.stop();
    this.#outcome.reject(error);
  }

  /** Stops watching the workers. */
  close(): void {
    this.#watch.cancel();
    this.#order?.close();
  }

  #goOn(): void {
    const open = this.#books.filter(({ isGivenUp }) => !isGivenUp);
    if (open.every(({ isReady, result }) => isReady || result)) this.#start();
    if (open.every(({ deviceIds }) => deviceIds)) this.#deploy(open);
    if (open.every(({ result }) => result)) this.#end();
  }

  #start(): void {
    if (this.#startedMs !== undefined) return;
    const { clock, startLeadMs, send: tell } = this.#options;
    this.#startedMs = clock.monotonicMs() + startLeadMs;
    this.#told.started(this.#startedMs);
    tell({ say: 'start', atMs: clock.now() + startLeadMs });
  }

  #deploy(books: readonly ShardState[]): void {
    const { deploy, send: tell } = this.#options;
    if (this.#isDeployed || deploy === undefined || books.length === 0) return;
    this.#isDeployed = true;
    const deviceIds = books.flatMap((book) => book.deviceIds ?? []);
    const made = this.#kept === undefined ? deploy(deviceIds) : Promise.resolve(this.#kept);
    made.then(
      (target) => tell({ say: 'deployment', target }),
      (error: unknown) => {
        if (!(error instanceof FleetStopped)) this.fail(error);
      },
    );
  }

  #end(): void {
    this.#look();
    this.#order?.close();
    const lost = [...this.#books.entries()].flatMap(([shard, { isGivenUp, lostBecause }]) => {
      if (!isGivenUp) return [];
      this.#told.ended(shard, this.#options.clock.monotonicMs());
      const kept = this.#told.keep(shard);
      return [{ shard, because: lostBecause ?? 'no worker ran it', ...(kept && { kept }) }];
    });
    const missingDeviceMs = this.#missingDeviceMs();
    const missing = missingDeviceMs === 0 ? {} : { missingDeviceMs };
    this.#outcome.resolve({
      results: this.#books.flatMap(({ result }) => result ?? []),
      spread: { takeovers: this.#takeovers, lost, ...missing },
      kept: this.#told.kept,
    });
  }

  #missingDeviceMs(): number {
    const { shards, plan } = this.#options;
    return [...this.#books.keys()].reduce((sum, index) => {
      const { first, end } = deviceRange({ devices: plan.devices, shard: { index, of: shards } });
      return sum + (end - first) * this.#told.missingMs(index);
    }, 0);
  }

  /** Reports the progress of the run, and ends what has to end. */
  #look(): void {
    const { clock, onProgress, onSilence } = this.#options;
    // Part of the fleet alone would look like all of it.
    const whole = this.#told.whole((shard) => this.#books[shard]?.isGivenUp === false);
    if (whole) {
      this.#hasLooked = true;
      onProgress?.(whole.progress);
      this.#judge(whole);
    }
    const leastMs = clock.monotonicMs() - SILENCE_MAX_MS;
    for (const [shard, { worker, heardMs, result }] of this.#books.entries()) {
      const isSilent = worker !== undefined && !result && heardMs < leastMs;
      if (isSilent) onSilence(shard, worker);
    }
  }

  /**
   * One shard cannot judge what the whole run can still reach: thresholds apply to all together.
   */
  #judge({ measures }: WholeRun): void {
    const isUnderway =
      (this.#startedMs ?? Number.POSITIVE_INFINITY) <= this.#options.clock.monotonicMs();
    if (!measures || !isUnderway || this.#isEnding) return;
    if (!this.#thresholds.look(measures)) return;
    this.#isEnding = true;
    this.#options.send({ say: 'end', because: 'threshold' });
  }

  #noteReady(shard: number, worker: string, plan: string | undefined): void {
    const book = this.#books[shard];
    this.#plan ??= plan;
    if (plan !== this.#plan) this.fail(otherPlan(worker));
    if (book) book.isReady = true;
    this.#told.ready(shard, worker, this.#options.clock.monotonicMs());
  }

  #noteProgress(shard: number, worker: string, { progress, figures }: ProgressMessage): void {
    const atMs = this.#options.clock.monotonicMs();
    this.#told.heard(shard, worker, { progress, figures, atMs });
    // The first progress report must not wait for the first second to pass.
    if (!this.#hasLooked) this.#look();
  }

  #noteResult(shard: number, result: FleetResult): void {
    const book = this.#books[shard];
    if (book) book.result = result;
    this.#order?.ended(shard);
  }

  #noteEvents(shard: number, { events, untilMs, lost = 0 }: EventsMessage): void {
    this.#order?.add(shard, events, untilMs);
    if (lost > 0) this.#options.onEventsLost?.(lost);
  }

  #noteAccepted(book: ShardState, { deviceIds, kept }: AcceptedMessage): void {
    book.deviceIds = deviceIds;
    this.#kept ??= kept;
  }

  #noteAdopted(book: ShardState, adopted: number): void {
    const noted = book.takeover && this.#takeovers.indexOf(book.takeover);
    if (book.takeover === undefined || noted === undefined) return;
    book.takeover = { ...book.takeover, adopted };
    this.#takeovers[noted] = book.takeover;
  }

  #elapsedMs(): number {
    if (this.#startedMs === undefined) return 0;
    return Math.max(0, this.#options.clock.monotonicMs() - this.#startedMs);
  }
}

/**
 * All workers get the same plan; they differ only in the files it names, which each reads itself.
 */
function otherPlan(worker: string): MergeError {
  return new MergeError(
    `${worker} runs another plan than the others: the files that the plan names (behaviours, ` +
      'id_data) must hold the same on every machine',
  );
}

function newShardState(): ShardState {
  return {
    worker: undefined,
    lastWorker: undefined,
    lostBecause: undefined,
    heardMs: 0,
    isReady: false,
    deviceIds: undefined,
    takeover: undefined,
    result: undefined,
    isGivenUp: false,
  };
}

/**
 * Returns the merged result, including what happened to the shards. @throws ClusterError when there
 * is none
 */
export function mergedResult({ results, spread, kept }: ClusterOutcome): FleetResult {
  if (results.length === 0) {
    const because = spread.lost[0]?.because ?? 'no worker ran it';
    const sentence = `no shard of the run came to an end (${because}); there is no result`;
    throw new ClusterError(sentence, 'no-result');
  }
  return { ...mergeResults(results, kept), spread };
}
