/** Runs a fleet in several processes on this machine, to use every core. */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { FleetEnvironment, FleetPlan } from '../engine/simulate-fleet.ts';
import { type ClusterOutcome, Coordinator } from './coordinator.ts';
import { deployForAll } from './deploy-for-all.ts';
import type { CoordinatorMessage } from './messages.ts';
import { type ShardProcess, startShardProcess } from './shard-process.ts';

/** Number of times that a shard is restarted before it is given up. */
const TAKEOVERS_MAX = 2;

/**
 * Runs the plan in several processes with one shard each.
 * @throws WorkerFailed when a shard cannot run; ClientError when the deployment cannot be created
 */
export async function runInProcesses(
  plan: FleetPlan,
  environment: Omit<FleetEnvironment, 'coordinator'>,
  processes: number,
): Promise<ClusterOutcome> {
  const workers = new WorkerPool(plan, environment, processes);
  const removeListeners = forwardStops(environment, workers);
  try {
    return await workers.run();
  } finally {
    removeListeners();
    workers.close();
  }
}

/** The worker processes and their coordinator. */
class WorkerPool {
  readonly #plan: FleetPlan;
  readonly #processes: number;
  readonly #sendsEvents: boolean;
  readonly #coordinator: Coordinator;
  /** The running shard processes, by shard index. */
  readonly #workers = new Map<number, ShardProcess>();
  /** Messages sent so far, for processes that start later. */
  readonly #sent: CoordinatorMessage[] = [];
  readonly #begun = new Map<number, number>();

  constructor(
    plan: FleetPlan,
    environment: Omit<FleetEnvironment, 'coordinator'>,
    processes: number,
  ) {
    const { clock, signal, onProgress, onEvent, onEventsLost } = environment;
    this.#plan = plan;
    this.#processes = processes;
    this.#sendsEvents = onEvent !== undefined;
    this.#coordinator = new Coordinator({
      shards: processes,
      plan,
      clock,
      startLeadMs: 0,
      send: (message) => this.#send(message),
      deploy: deploymentOf(plan, clock, signal),
      onProgress,
      onEvent,
      onEventsLost,
      onNoResponse: (shard) => this.#workers.get(shard)?.kill(),
    });
  }

  run(): Promise<ClusterOutcome> {
    for (let shard = 0; shard < this.#processes; shard++) this.#begin(shard);
    return this.#coordinator.outcome;
  }

  stop(): void {
    this.#coordinator.stop();
  }

  forceStop(): void {
    this.#coordinator.forceStop();
  }

  /** Kills the processes that are still running, which have nothing more to report. */
  close(): void {
    this.#coordinator.close();
    for (const worker of this.#workers.values()) worker.kill();
  }

  #begin(shard: number): void {
    const startCount = this.#begun.get(shard) ?? 0;
    this.#begun.set(shard, startCount + 1);
    const assignment = {
      plan: { ...this.#plan, shard: { index: shard, of: this.#processes } },
      isTakeover: startCount > 0,
      sendsEvents: this.#sendsEvents,
    };
    const worker = startShardProcess(assignment, {
      onMessage: (message) => this.#coordinator.onMessage(shard, nameOf(worker), message),
      onEnd: (how) => this.#handleLoss(shard, nameOf(worker), how),
    });
    this.#workers.set(shard, worker);
    this.#coordinator.recordStart(shard, nameOf(worker));
    for (const message of this.#sent) worker.send(message);
  }

  #handleLoss(shard: number, name: string, how: string): void {
    if (!this.#coordinator.recordLoss(shard, name, `${name} ${how}`)) return;
    const isOver = this.#sent.some(({ type }) => type === 'stop' || type === 'end');
    const mayTry = !isOver && (this.#begun.get(shard) ?? 0) <= TAKEOVERS_MAX;
    if (mayTry) this.#begin(shard);
    else this.#coordinator.giveUp(shard, `${name} ${how}`);
  }

  #send(message: CoordinatorMessage): void {
    this.#sent.push(message);
    for (const worker of this.#workers.values()) worker.send(message);
  }
}

/**
 * Passes the signals that end a run on to its workers.
 * @returns a function that removes the listeners
 */
export function forwardStops(
  { signal, forceStop }: Pick<FleetEnvironment, 'signal' | 'forceStop'>,
  run: { stop(): void; forceStop(): void },
): () => void {
  const stop = (): void => run.stop();
  const forceStopAll = (): void => run.forceStop();
  if (signal.aborted) stop();
  if (forceStop?.aborted) forceStopAll();
  signal.addEventListener('abort', stop, { once: true });
  forceStop?.addEventListener('abort', forceStopAll, { once: true });
  return () => {
    signal.removeEventListener('abort', stop);
    forceStop?.removeEventListener('abort', forceStopAll);
  };
}

const nameOf = ({ pid }: ShardProcess): string => `process ${pid ?? 'unknown'}`;

/** Returns the function that creates the plan's deployment; undefined when the plan has none. */
export function deploymentOf(plan: FleetPlan, clock: Clock, signal: AbortSignal) {
  if (plan.deploy === undefined) return undefined;
  return (deviceIds: readonly string[]) => deployForAll(plan, deviceIds, { clock, signal });
}
