/**
 * Who runs which shard of a run on workers. The coordinator alone decides: a worker asks, and plays only
 * what it is given; nobody but the one who has a shard is heard of it. So a job that somebody has
 * copied, or kept from an earlier run, is played by nobody.
 */

import type { Clock } from '../../../fixtures/clock.ts';
import { ClusterError } from '../cluster-error.ts';
import type { Coordinator } from '../coordinator.ts';
import type { FromWorker, PlaysMessage } from './run-line.ts';

/** What is decided with. */
export interface ShardAssignmentsOptions {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly shards: number;
  /** A worker that has said nothing for so long is lost. */
  readonly silenceMaxMs: number;
  readonly tell: (message: PlaysMessage) => void;
  /** Says a word to the user. */
  readonly say: (text: string) => void;
}

/** Every shard is begun again so often at most. */
const TAKEOVERS_MAX = 3;

interface Seat {
  readonly worker: string;
  readonly token: string;
  /** The number of its next message. */
  next: number;
  heardMs: number;
}

/** The seats of a run, one a shard. */
export class ShardAssignments {
  readonly #options: ShardAssignmentsOptions;
  /** By shard, who runs it now. */
  readonly #seats = new Map<number, Seat>();
  /** By shard, who has asked for it while another one still seemed to play it. */
  readonly #waiting = new Map<number, FromWorker>();
  readonly #losses = new Map<number, number>();
  /** Shards that somebody has begun. */
  readonly #begun = new Set<number>();
  /** Shards that are played to their end, or given up. */
  readonly #over = new Set<number>();
  /** Whoever asks does so once. */
  readonly #tokens = new Set<string>();

  constructor(options: ShardAssignmentsOptions) {
    this.#options = options;
  }

  /** Whether every shard has had a worker. */
  get haveAllBegun(): boolean {
    return this.#begun.size === this.#options.shards;
  }

  /** Hears what somebody says who runs a shard or asks for one. */
  hear(said: FromWorker): void {
    const seat = this.#seats.get(said.shard);
    if (said.message.say === 'asks') this.#asked(said);
    // Another one has the shard by now, or what was said before is there a second time.
    else if (seat?.token !== said.token || said.sequence < seat.next) return;
    else if (said.sequence > seat.next) this.#options.coordinator.fail(missing(said.worker));
    else this.#heard(said, seat);
  }

  /** Finds out who is silent; to be called when all has been heard that was said. */
  look(): void {
    const { clock, silenceMaxMs } = this.#options;
    const leastMs = clock.monotonicMs() - silenceMaxMs;
    for (const [shard, { heardMs, worker }] of this.#seats) {
      if (heardMs >= leastMs) continue;
      this.#options.say(`${worker} is lost; shard ${shard} waits for another worker`);
      this.#lose(shard, `its worker was silent for ${silenceMaxMs / 1000} s`);
    }
  }

  #heard({ shard, worker, message }: FromWorker, seat: Seat): void {
    seat.next++;
    seat.heardMs = this.#options.clock.monotonicMs();
    if (message.say === 'asks' || message.say === 'alive') return;
    if (message.say === 'lost') this.#lose(shard, message.because);
    else this.#options.coordinator.onMessage(shard, worker, message);
    if (message.say === 'result') this.#end(shard);
  }

  #asked(asking: FromWorker): void {
    const { shard, token } = asking;
    const isShard = shard >= 0 && shard < this.#options.shards;
    if (!isShard || this.#over.has(shard) || this.#tokens.has(token)) return;
    this.#tokens.add(token);
    if (this.#seats.has(shard)) this.#waiting.set(shard, asking);
    else this.#give(asking);
  }

  #give({ shard, worker, token }: FromWorker): void {
    const { coordinator, clock, tell } = this.#options;
    coordinator.begun(shard, worker);
    this.#seats.set(shard, { worker, token, next: 1, heardMs: clock.monotonicMs() });
    tell({ say: 'plays', shard, token, isTakeover: this.#begun.has(shard) });
    this.#begun.add(shard);
  }

  #lose(shard: number, because: string): void {
    const { coordinator, tell } = this.#options;
    const seat = this.#seats.get(shard);
    this.#seats.delete(shard);
    if (seat === undefined || !coordinator.lost(shard, seat.worker, because)) return;
    const losses = (this.#losses.get(shard) ?? 0) + 1;
    this.#losses.set(shard, losses);
    const waiting = this.#waiting.get(shard);
    this.#waiting.delete(shard);
    if (losses > TAKEOVERS_MAX) {
      this.#end(shard);
      coordinator.giveUp(shard, because);
    } else if (waiting) this.#give(waiting);
    // Should the lost one live after all, it ends.
    if (!this.#seats.has(shard)) tell({ say: 'plays', shard, isTakeover: false });
  }

  #end(shard: number): void {
    this.#over.add(shard);
    this.#seats.delete(shard);
  }
}

function missing(worker: string): ClusterError {
  const sentence =
    `messages of ${worker} are missing at Redis: somebody has taken them away, or more than it ` +
    'keeps have waited for this coordinator; give Fleetbed a database of its own, or cut into fewer shards';
  return new ClusterError(sentence);
}
