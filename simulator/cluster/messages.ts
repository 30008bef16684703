/**
 * Messages between the coordinator of a run and the workers of its shards. All are valid JSON. The
 * coordinator's messages go to every current and future worker: one that takes over a shard
 * receives them from the beginning.
 */
import type { Target } from '../client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import type { FleetPlan } from '../plan/plan.ts';
import type { Ended, FleetProgress, FleetResult } from '../result/result.ts';
import type { ShardFigures } from '../result/shard-figures.ts';

/** What a worker is to run. */
export interface ShardOrder {
  /** The plan of the run, with the shard that the worker runs. */
  readonly plan: FleetPlan;
  readonly isTakeover: boolean;
  /** True when the coordinator wants every event. */
  readonly sendsEvents: boolean;
}

/** A message from the coordinator to a worker. */
export type CoordinatorMessage =
  /** Milliseconds since the Unix epoch on the clock that coordinator and workers share. */
  | { readonly say: 'start'; readonly atMs: number }
  | { readonly say: 'deployment'; readonly target: Target }
  /** A threshold of the whole run can no longer be met: end cleanly, like a run in one process. */
  | { readonly say: 'end'; readonly because: Extract<Ended, 'threshold'> }
  /** End cleanly and send the result. */
  | { readonly say: 'stop' }
  /** Leave open deployments as they are; sent after `stop`. */
  | { readonly say: 'forceStop' };

/** A message from a worker to the coordinator. */
export type WorkerMessage =
  /** With the digest of its plan, which includes the files that the plan names. */
  | { readonly say: 'ready'; readonly plan?: string | undefined }
  | {
      readonly say: 'accepted';
      readonly deviceIds: readonly string[];
      /** The deployment that the devices remember from an earlier run. */
      readonly kept?: Target | undefined;
    }
  | { readonly say: 'adopted'; readonly devices: number }
  | {
      readonly say: 'progress';
      readonly progress: FleetProgress;
      /** Not in every progress message when there are many shards. */
      readonly figures?: ShardFigures | undefined;
    }
  | {
      readonly say: 'events';
      readonly events: readonly FleetEvent[];
      /** All events before this time have been reported; milliseconds since the Unix epoch. */
      readonly untilMs: number;
      /** Number of earlier events that could not be reported because the queue was full. */
      readonly lost?: number;
    }
  | { readonly say: 'result'; readonly result: FleetResult }
  /** No worker can run the shard: a sentence for the user, and the exit code of the run. */
  | { readonly say: 'failed'; readonly sentence: string; readonly exitCode: number };
