/**
 * Assigns the shards of a run to workers. Only the coordinator decides: a worker requests a shard
 * and runs it only when the shard is assigned to it. Messages about a shard count only from its
 * current worker. Therefore a job that was copied, or left over from an earlier run, is never run.
 */

import type { Clock } from '../../../fixtures/clock.ts';
import { ClusterError } from '../cluster-error.ts';
import type { Coordinator } from '../coordinator.ts';
import type { FromWorker, OwnerMessage } from './run-line.ts';

export interface ShardAssignmentsOptions {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly shards: number;
  /** Silence in milliseconds after which a worker counts as lost. */
  readonly silenceMaxMs: number;
  readonly send: (message: OwnerMessage) => void;
  /** Prints a message to the user. */
  readonly say: (text: string) => void;
}

/** Maximum number of restarts of each shard. */
const TAKEOVERS_MAX = 3;

interface ShardAssignment {
  readonly worker: string;
  readonly token: string;
  /** Sequence number that the worker's next message must have. */
  next: number;
  heardMs: number;
}

/** The assignments of the shards of a run. */
export class ShardAssignments {
  readonly #options: ShardAssignmentsOptions;
  /** The current worker of each shard. */
  readonly #seats = new Map<number, ShardAssignment>();
  /** For each shard, a worker that requested it while it was assigned to another worker. */
  readonly #requesters = new Map<number, FromWorker>();
  readonly #losses = new Map<number, number>();
  /** Shards that have been assigned at least once. */
  readonly #begun = new Set<number>();
  /** Shards that have ended with a result, or were given up. */
  readonly #over = new Set<number>();
  /** Tokens that have been used; a token is valid for one request. */
  readonly #tokens = new Set<string>();

  constructor(options: ShardAssignmentsOptions) {
    this.#options = options;
  }

  /** Returns true when every shard has had a worker. */
  get haveAllBegun(): boolean {
    return this.#begun.size === this.#options.shards;
  }

  /** Handles a message from a worker that runs or requests a shard. */
  hear(said: FromWorker): void {
    const seat = this.#seats.get(said.shard);
    if (said.message.say === 'asks') this.#asked(said);
    // The shard is assigned to another worker, or the message is a duplicate.
    else if (seat?.token !== said.token || said.sequence < seat.next) return;
    else if (said.sequence > seat.next) this.#options.coordinator.fail(missing(said.worker));
    else this.#heard(said, seat);
  }

  /** Ends the assignments of silent workers. Call it once all pending messages have been read. */
  look(): void {
    const { clock, silenceMaxMs } = this.#options;
    const minMs = clock.monotonicMs() - silenceMaxMs;
    for (const [shard, { heardMs, worker }] of this.#seats) {
      if (heardMs >= minMs) continue;
      this.#options.say(`${worker} is lost; shard ${shard} waits for another worker`);
      this.#lose(shard, `its worker was silent for ${silenceMaxMs / 1000} s`);
    }
  }

  #heard({ shard, worker, message }: FromWorker, seat: ShardAssignment): void {
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
    if (this.#seats.has(shard)) this.#requesters.set(shard, asking);
    else this.#give(asking);
  }

  #give({ shard, worker, token }: FromWorker): void {
    const { coordinator, clock, send } = this.#options;
    coordinator.begun(shard, worker);
    this.#seats.set(shard, { worker, token, next: 1, heardMs: clock.monotonicMs() });
    send({ say: 'owner', shard, token, isTakeover: this.#begun.has(shard) });
    this.#begun.add(shard);
  }

  #lose(shard: number, because: string): void {
    const { coordinator, send } = this.#options;
    const seat = this.#seats.get(shard);
    this.#seats.delete(shard);
    if (seat === undefined || !coordinator.lost(shard, seat.worker, because)) return;
    const losses = (this.#losses.get(shard) ?? 0) + 1;
    this.#losses.set(shard, losses);
    const waiting = this.#requesters.get(shard);
    this.#requesters.delete(shard);
    if (losses > TAKEOVERS_MAX) {
      this.#end(shard);
      coordinator.giveUp(shard, because);
    } else if (waiting) this.#give(waiting);
    // The lost worker may still be running; this message makes it stop.
    if (!this.#seats.has(shard)) send({ say: 'owner', shard, isTakeover: false });
  }

  #end(shard: number): void {
    this.#over.add(shard);
    this.#seats.delete(shard);
  }
}

function missing(worker: string): ClusterError {
  const sentence =
    `messages from ${worker} are missing in Redis: another program removed them, or more messages than it ` +
    'keeps were waiting for this coordinator; give Fleetbed a database of its own, or use fewer shards';
  return new ClusterError(sentence);
}
