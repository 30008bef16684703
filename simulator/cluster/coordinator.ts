/**
 * The coordinator of a run in shards: starts all workers together, has the one deployment made, adds up
 * what they tell, and sees to it that the loss of a worker is never a hang. Which processes the
 * workers are, on which machines, and how they are reached, is for its owner to know.
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

/** What a run in shards comes to. */
export interface ClusterOutcome {
  /** By shard; a lost one has none. */
  readonly results: readonly FleetResult[];
  /** What became of the shards. */
  readonly spread: Spread;
  /** What failed workers had measured when they last told of it. */
  readonly kept: readonly PartFigures[];
}

/** A worker has found that its shard cannot be played. Its message is a sentence for people. */
export class WorkerFault extends Error {
  override readonly name = 'PlayerFault';
  readonly exitCode: number;

  constructor(sentence: string, exitCode: number) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** What a coordinator is given. */
export interface CoordinatorOptions {
  readonly shards: number;
  readonly plan: Pick<FleetPlan, 'devices' | 'thresholds' | 'abortOnThreshold'>;
  readonly clock: Clock;
  /** Says something to every worker, now and to come. */
  readonly send: (message: CoordinatorMessage) => void;
  /** How long before the common start the workers are told of it. */
  readonly startLeadMs: number;
  /** Makes the deployment for all devices; absent when the plan has none. */
  readonly deploy?: ((deviceIds: readonly string[]) => Promise<Target>) | undefined;
  readonly onProgress?: ((progress: FleetProgress) => void) | undefined;
  /** Called for the events of all workers in one order, a second after they happened. */
  readonly onEvent?: ((event: FleetEvent) => void) | undefined;
  /** Called with the number of events that a worker could not tell. */
  readonly onEventsLost?: ((events: number) => void) | undefined;
  /** Called for a worker that has said nothing for too long; its owner ends it. */
  readonly onSilence: (shard: number, worker: string) => void;
}

/** A worker tells its progress every second; one that is silent for so long is taken for lost. */
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

/** Hears what happens to the workers; `outcome` is settled when every shard has come to its end. */
export class Coordinator {
  readonly #options: CoordinatorOptions;
  readonly #books: readonly ShardState[];
  readonly #outcome = new Deferred<ClusterOutcome>();
  readonly #takeovers: Takeover[] = [];
  readonly #watch: Timer;
  readonly #told: WorkerReports;
  readonly #thresholds: ThresholdWatch;
  readonly #order: EventOrder | undefined;
  /** Digest of the plan as the first worker has understood it. */
  #plan: string | undefined;
  #hasLooked = false;
  #isEnding = false;
  #startedMs: number | undefined;
  #isDeployed = false;
  /** A run that goes on has its deployment already. */
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

  /** Shards that somebody runs, or has run to the end. */
  get begunCount(): number {
    return [...this.#books.keys()].filter((shard) => this.isBegun(shard)).length;
  }

  /** Whether somebody runs the shard, or has completed it. */
  isBegun(shard: number): boolean {
    const book = this.#books[shard];
    return book?.worker !== undefined || book?.result !== undefined;
  }

  /** A worker has begun the shard; the former one, where there was one, is no longer heard. */
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

  /** A worker has said something. What anybody else says of the shard is not heard. */
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
   * The worker is gone. Whoever owns the workers has another one begin the shard, or gives it up.
   * @returns whether the shard still has to be played
   */
  lost(shard: number, worker: string, because: string): boolean {
    const book = this.#books[shard];
    if (book === undefined || book.worker !== worker || book.result) return false;
    book.worker = undefined;
    book.lostBecause = because;
    this.#order?.ended(shard);
    return true;
  }

  /** Nobody runs the shard any more. */
  giveUp(shard: number, because: string): void {
    const book = this.#books[shard];
    if (book === undefined || book.result) return;
    book.worker = undefined;
    book.isGivenUp = true;
    this.#order?.ended(shard);
    book.lostBecause = because;
    this.#goOn();
  }

  /** Ends the run in order; the workers give the results that they have by then. */
  stop(): void {
    this.#options.send({ say: 'stop' });
  }

  /** Lets a run that is stopping wait for open deployments no longer. */
  hurry(): void {
    this.#options.send({ say: 'hurry' });
  }

  /** Ends the run with a fault. */
  fail(error: unknown): void {
    this.stop();
    this.#outcome.reject(error);
  }

  /** Looks after nobody any more. */
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

  /** Tells where the run stands, and ends what has to be ended. */
  #look(): void {
    const { clock, onProgress, onSilence } = this.#options;
    // A part of the fleet alone would look like the whole.
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

  /** A part alone cannot tell what the whole still can do: thresholds are for all together. */
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
    // Whoever looks on is not left without a number until the first second is over.
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

/** All are given the same plan; what they read by themselves are the files that it names. */
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

/** The merged result, with what became of the shards. @throws ClusterError when there is none */
export function mergedResult({ results, spread, kept }: ClusterOutcome): FleetResult {
  if (results.length === 0) {
    const because = spread.lost[0]?.because ?? 'no worker ran it';
    const sentence = `no shard of the run came to an end (${because}); there is no result`;
    throw new ClusterError(sentence, 'no-result');
  }
  return { ...mergeResults(results, kept), spread };
}
