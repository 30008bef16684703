/**
 * The head of a run in shards: starts all players together, has the one deployment made, adds up
 * what they tell, and sees to it that the loss of a player is never a hang. Which processes the
 * players are, on which machines, and how they are reached, is for its owner to know.
 */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import type { Target } from '../client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import { Promised } from '../engine/deferred.ts';
import { FleetStopped } from '../network/stopped.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { deviceRange } from '../plan/shard.ts';
import { MergeError } from '../result/merge.ts';
import type { PartFigures } from '../result/part-figures.ts';
import type { FleetProgress, FleetResult } from '../result/result.ts';
import type { Spread, Takeover } from '../result/result-spread.ts';
import { ThresholdWatch } from '../result/thresholds-live.ts';
import { EventOrder } from './event-order.ts';
import type { HeadMessage, PlayerMessage } from './messages.ts';
import { Told, type WholeRun } from './worker-reports.ts';

/** What a run in shards comes to. */
export interface HeadOutcome {
  /** By shard; a lost one has none. */
  readonly results: readonly FleetResult[];
  /** What became of the shards. */
  readonly spread: Spread;
  /** What lost players had measured when they last told of it. */
  readonly kept: readonly PartFigures[];
}

/** A player has found that its shard cannot be played. Its message is a sentence for people. */
export class PlayerFault extends Error {
  override readonly name = 'PlayerFault';
  readonly exitCode: number;

  constructor(sentence: string, exitCode: number) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** What a head is given. */
export interface HeadOptions {
  readonly shards: number;
  readonly plan: Pick<FleetPlan, 'devices' | 'thresholds' | 'abortOnThreshold'>;
  readonly clock: Clock;
  /** Says something to every player, now and to come. */
  readonly tell: (message: HeadMessage) => void;
  /** How long before the common start the players are told of it. */
  readonly startLeadMs: number;
  /** Makes the deployment for all devices; absent when the plan has none. */
  readonly deploy?: ((deviceIds: readonly string[]) => Promise<Target>) | undefined;
  readonly onProgress?: ((progress: FleetProgress) => void) | undefined;
  /** Called for the events of all players in one order, a second after they happened. */
  readonly onEvent?: ((event: FleetEvent) => void) | undefined;
  /** Called with the number of events that a player could not tell. */
  readonly onEventsLost?: ((events: number) => void) | undefined;
  /** Called for a player that has said nothing for too long; its owner ends it. */
  readonly onSilence: (shard: number, player: string) => void;
}

/** A player tells its progress every second; one that is silent for so long is taken for lost. */
export const SILENCE_MAX_MS = 30_000;
const WATCH_PERIOD_MS = 1000;

type AcceptedMessage = Extract<PlayerMessage, { readonly say: 'accepted' }>;
type EventsMessage = Extract<PlayerMessage, { readonly say: 'events' }>;
type ProgressMessage = Extract<PlayerMessage, { readonly say: 'progress' }>;

interface ShardBook {
  player: string | undefined;
  lastPlayer: string | undefined;
  lostBecause: string | undefined;
  heardMs: number;
  isReady: boolean;
  deviceIds: readonly string[] | undefined;
  takeover: Takeover | undefined;
  result: FleetResult | undefined;
  isGivenUp: boolean;
}

/** Hears what happens to the players; `outcome` is settled when every shard has come to its end. */
export class Head {
  readonly #options: HeadOptions;
  readonly #books: readonly ShardBook[];
  readonly #outcome = new Promised<HeadOutcome>();
  readonly #takeovers: Takeover[] = [];
  readonly #watch: Timer;
  readonly #told: Told;
  readonly #thresholds: ThresholdWatch;
  readonly #order: EventOrder | undefined;
  /** Digest of the plan as the first player has understood it. */
  #plan: string | undefined;
  #hasLooked = false;
  #isEnding = false;
  #startedMs: number | undefined;
  #isDeployed = false;
  /** A run that goes on has its deployment already. */
  #kept: Target | undefined;

  constructor(options: HeadOptions) {
    this.#options = options;
    this.#books = Array.from({ length: options.shards }, newBook);
    this.#told = new Told(options.shards);
    this.#thresholds = new ThresholdWatch(options.plan);
    this.#order = options.onEvent && new EventOrder(options.clock, options.onEvent);
    this.#watch = options.clock.every(WATCH_PERIOD_MS, () => this.#look());
  }

  /** Rejects with PlayerFault, or with what `deploy` threw. */
  get outcome(): Promise<HeadOutcome> {
    return this.#outcome.value;
  }

  /** Shards that somebody plays, or has played to the end. */
  get begunCount(): number {
    return [...this.#books.keys()].filter((shard) => this.isBegun(shard)).length;
  }

  /** Whether somebody plays the shard, or has played it to the end. */
  isBegun(shard: number): boolean {
    const book = this.#books[shard];
    return book?.player !== undefined || book?.result !== undefined;
  }

  /** A player has begun the shard; the former one, where there was one, is no longer heard. */
  begun(shard: number, player: string): void {
    const book = this.#books[shard];
    if (book === undefined || book.result || book.isGivenUp || book.player === player) return;
    if (book.lastPlayer !== undefined) {
      const kept = this.#told.keep(shard);
      book.takeover = {
        shard,
        afterMs: this.#elapsedMs(),
        from: book.lastPlayer,
        to: player,
        because: book.lostBecause ?? 'it was no longer heard of',
        adopted: 0,
        ...(kept && { kept }),
      };
      this.#takeovers.push(book.takeover);
    }
    book.player = player;
    book.lastPlayer = player;
    book.lostBecause = undefined;
    book.heardMs = this.#options.clock.monotonicMs();
  }

  /** A player has said something. What anybody else says of the shard is not heard. */
  heard(shard: number, player: string, message: PlayerMessage): void {
    const book = this.#books[shard];
    if (book === undefined || book.player !== player || book.result) return;
    book.heardMs = this.#options.clock.monotonicMs();
    if (message.say === 'ready') this.#noteReady(shard, player, message.plan);
    else if (message.say === 'accepted') this.#noteAccepted(book, message);
    else if (message.say === 'progress') this.#noteProgress(shard, player, message);
    else if (message.say === 'adopted') this.#noteAdopted(book, message.devices);
    else if (message.say === 'events') this.#noteEvents(shard, message);
    else if (message.say === 'fault')
      this.fail(new PlayerFault(message.sentence, message.exitCode));
    else if (message.say === 'result') this.#noteResult(shard, message.result);
    this.#goOn();
  }

  /**
   * The player is gone. Whoever owns the players has another one begin the shard, or gives it up.
   * @returns whether the shard still has to be played
   */
  lost(shard: number, player: string, because: string): boolean {
    const book = this.#books[shard];
    if (book === undefined || book.player !== player || book.result) return false;
    book.player = undefined;
    book.lostBecause = because;
    this.#order?.ended(shard);
    return true;
  }

  /** Nobody plays the shard any more. */
  giveUp(shard: number, because: string): void {
    const book = this.#books[shard];
    if (book === undefined || book.result) return;
    book.player = undefined;
    book.isGivenUp = true;
    this.#order?.ended(shard);
    book.lostBecause = because;
    this.#goOn();
  }

  /** Ends the run in order; the players give the results that they have by then. */
  stop(): void {
    this.#options.tell({ say: 'stop' });
  }

  /** Lets a run that is stopping wait for open deployments no longer. */
  hurry(): void {
    this.#options.tell({ say: 'hurry' });
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
    const { clock, startLeadMs, tell } = this.#options;
    this.#startedMs = clock.monotonicMs() + startLeadMs;
    this.#told.started(this.#startedMs);
    tell({ say: 'start', atMs: clock.now() + startLeadMs });
  }

  #deploy(books: readonly ShardBook[]): void {
    const { deploy, tell } = this.#options;
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
      return [{ shard, because: lostBecause ?? 'nobody played it', ...(kept && { kept }) }];
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
    for (const [shard, { player, heardMs, result }] of this.#books.entries()) {
      const isSilent = player !== undefined && !result && heardMs < leastMs;
      if (isSilent) onSilence(shard, player);
    }
  }

  /** A part alone cannot tell what the whole still can do: thresholds are for all together. */
  #judge({ measures }: WholeRun): void {
    const isUnderway =
      (this.#startedMs ?? Number.POSITIVE_INFINITY) <= this.#options.clock.monotonicMs();
    if (!measures || !isUnderway || this.#isEnding) return;
    if (!this.#thresholds.look(measures)) return;
    this.#isEnding = true;
    this.#options.tell({ say: 'end', because: 'threshold' });
  }

  #noteReady(shard: number, player: string, plan: string | undefined): void {
    const book = this.#books[shard];
    this.#plan ??= plan;
    if (plan !== this.#plan) this.fail(otherPlan(player));
    if (book) book.isReady = true;
    this.#told.ready(shard, player, this.#options.clock.monotonicMs());
  }

  #noteProgress(shard: number, player: string, { progress, figures }: ProgressMessage): void {
    const atMs = this.#options.clock.monotonicMs();
    this.#told.heard(shard, player, { progress, figures, atMs });
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

  #noteAccepted(book: ShardBook, { deviceIds, kept }: AcceptedMessage): void {
    book.deviceIds = deviceIds;
    this.#kept ??= kept;
  }

  #noteAdopted(book: ShardBook, adopted: number): void {
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
function otherPlan(player: string): MergeError {
  return new MergeError(
    `${player} plays another plan than the others: the files that the plan names (behaviours, ` +
      'id_data) must hold the same on every machine',
  );
}

function newBook(): ShardBook {
  return {
    player: undefined,
    lastPlayer: undefined,
    lostBecause: undefined,
    heardMs: 0,
    isReady: false,
    deviceIds: undefined,
    takeover: undefined,
    result: undefined,
    isGivenUp: false,
  };
}
