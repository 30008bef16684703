/**
 * Assigns the shards of a run to workers. Only the coordinator decides: a worker requests a shard
 * and runs it only when the shard is assigned to it. Messages about a shard count only from its
 * current worker. Therefore a job that was copied, or left over from an earlier run, is never run.
 */
import type { Clock } from '../../../fixtures/base/clock.ts';
import { ClusterError } from '../cluster-error.ts';
import type { Coordinator } from '../coordinator.ts';
import type { FromWorker, OwnerMessage } from './run-channel.ts';

export interface ShardAssignmentsOptions {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly shards: number;
  /** Time without a message, in milliseconds, after which a worker counts as lost. */
  readonly idleMaxMs: number;
  readonly send: (message: OwnerMessage) => void;
  /** Prints a message to the user. */
  readonly print: (text: string) => void;
}

/** Maximum number of restarts of each shard. */
const TAKEOVERS_MAX = 3;

interface AssignedWorker {
  readonly worker: string;
  readonly token: string;
  /** Sequence number that the worker's next message must have. */
  next: number;
  lastMessageMs: number;
}

/** The assignments of the shards of a run. */
export class ShardAssignments {
  readonly #options: ShardAssignmentsOptions;
  /** The current worker of each shard. */
  readonly #assigned = new Map<number, AssignedWorker>();
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
  onMessage(received: FromWorker): void {
    const assignment = this.#assigned.get(received.shard);
    if (received.message.type === 'request') this.#request(received);
    // The shard is assigned to another worker, or the message is a duplicate.
    else if (assignment?.token !== received.token || received.sequence < assignment.next) return;
    else if (received.sequence > assignment.next)
      this.#options.coordinator.fail(missing(received.worker));
    else this.#handle(received, assignment);
  }

  /** Ends the assignments of workers that stopped reporting. Call it once all pending messages have been read. */
  endIdle(): void {
    const { clock, idleMaxMs } = this.#options;
    const minMs = clock.monotonicMs() - idleMaxMs;
    for (const [shard, { lastMessageMs, worker }] of this.#assigned) {
      if (lastMessageMs >= minMs) continue;
      this.#options.print(`${worker} is lost; shard ${shard} waits for another worker`);
      this.#lose(shard, `its worker was silent for ${idleMaxMs / 1000} s`);
    }
  }

  #handle({ shard, worker, message }: FromWorker, assigned: AssignedWorker): void {
    assigned.next++;
    assigned.lastMessageMs = this.#options.clock.monotonicMs();
    if (message.type === 'request' || message.type === 'heartbeat') return;
    if (message.type === 'lost') this.#lose(shard, message.reason);
    else this.#options.coordinator.onMessage(shard, worker, message);
    if (message.type === 'result') this.#end(shard);
  }

  #request(request: FromWorker): void {
    const { shard, token } = request;
    const isShard = shard >= 0 && shard < this.#options.shards;
    if (!isShard || this.#over.has(shard) || this.#tokens.has(token)) return;
    this.#tokens.add(token);
    if (this.#assigned.has(shard)) this.#requesters.set(shard, request);
    else this.#give(request);
  }

  #give({ shard, worker, token }: FromWorker): void {
    const { coordinator, clock, send } = this.#options;
    coordinator.recordStart(shard, worker);
    this.#assigned.set(shard, { worker, token, next: 1, lastMessageMs: clock.monotonicMs() });
    send({ type: 'owner', shard, token, isTakeover: this.#begun.has(shard) });
    this.#begun.add(shard);
  }

  #lose(shard: number, reason: string): void {
    const { coordinator, send } = this.#options;
    const assignment = this.#assigned.get(shard);
    this.#assigned.delete(shard);
    if (assignment === undefined || !coordinator.recordLoss(shard, assignment.worker, reason))
      return;
    const losses = (this.#losses.get(shard) ?? 0) + 1;
    this.#losses.set(shard, losses);
    const requester = this.#requesters.get(shard);
    this.#requesters.delete(shard);
    if (losses > TAKEOVERS_MAX) {
      this.#end(shard);
      coordinator.giveUp(shard, reason);
    } else if (requester) this.#give(requester);
    // The lost worker may still be running; this message makes it stop.
    if (!this.#assigned.has(shard)) send({ type: 'owner', shard, isTakeover: false });
  }

  #end(shard: number): void {
    this.#over.add(shard);
    this.#assigned.delete(shard);
  }
}

function missing(worker: string): ClusterError {
  const sentence =
    `messages from ${worker} are missing in Redis: another program removed them, or more messages than it ` +
    'keeps were waiting for this coordinator; give Fleetbed a database of its own, or use fewer shards';
  return new ClusterError(sentence);
}
