/**
 * What is said on the line between the coordinator of a run and the workers of its shards. All of it can
 * be JSON. What the coordinator says is for every worker, now and to come: whoever takes a shard over
 * hears it from the beginning.
 */
import type { Target } from '../client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import type { FleetPlan } from '../plan/plan.ts';
import type { PartFigures } from '../result/part-figures.ts';
import type { Ended, FleetProgress, FleetResult } from '../result/result.ts';

/** What a worker is to play. */
export interface ShardOrder {
  /** With the shard. */
  readonly plan: FleetPlan;
  readonly isTakeover: boolean;
  /** Whether the coordinator wants to hear of every event. */
  readonly tellsEvents: boolean;
}

/** What the coordinator says. */
export type CoordinatorMessage =
  /** Milliseconds since the Unix epoch on the clock that coordinator and worker share. */
  | { readonly say: 'start'; readonly atMs: number }
  | { readonly say: 'deployment'; readonly target: Target }
  /** A threshold of the whole run can no longer be met: ends in order, as a run of one does. */
  | { readonly say: 'end'; readonly because: Extract<Ended, 'threshold'> }
  /** Ends in order and gives the result. */
  | { readonly say: 'stop' }
  /** Leaves open deployments as they stand; after `stop`. */
  | { readonly say: 'hurry' };

/** What a worker says. */
export type WorkerMessage =
  /** With the digest of its plan, in which the files that the plan names have their part. */
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
      /** Not with every progress where there are many shards. */
      readonly figures?: PartFigures | undefined;
    }
  | {
      readonly say: 'events';
      readonly events: readonly FleetEvent[];
      /** All events before this moment are told; milliseconds since the Unix epoch. */
      readonly untilMs: number;
      /** Events before these that could not be told, because too much waited to be. */
      readonly lost?: number;
    }
  | { readonly say: 'result'; readonly result: FleetResult }
  /** The shard cannot be played, by nobody: a sentence for people, and the exit code of the run. */
  | { readonly say: 'fault'; readonly sentence: string; readonly exitCode: number };
