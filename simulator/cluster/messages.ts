/**
 * Messages between the coordinator of a run and the workers of its shards, as plain JSON. Every
 * worker receives all messages of the coordinator from the first one on, also a worker that takes
 * over a shard later.
 */
import type { RunDeployment } from '../api-client/management.ts';
import type { FleetEvent } from '../device/events.ts';
import type { FleetPlan } from '../plan/plan.ts';
import type { EndReason, FleetProgress, FleetResult } from '../result/result.ts';
import type { ShardFigures } from '../result/shard-figures.ts';

/** The task of a worker. */
export interface ShardAssignment {
  /** The plan of the run, with the worker's shard. */
  readonly plan: FleetPlan;
  readonly isTakeover: boolean;
  /** True when the worker must send its events to the coordinator. */
  readonly sendsEvents: boolean;
}

/** A message from the coordinator to a worker. */
export type CoordinatorMessage =
  /**
   * Start at this time, in milliseconds since the Unix epoch by the clock that all processes share.
   */
  | { readonly type: 'start'; readonly atMs: number }
  | { readonly type: 'deployment'; readonly runDeployment: RunDeployment }
  /** End cleanly, because a threshold of the whole run can no longer be met. */
  | { readonly type: 'end'; readonly reason: Extract<EndReason, 'threshold'> }
  /** End cleanly and send the result. */
  | { readonly type: 'stop' }
  /** Do not wait for deployments in progress; sent after `stop`. */
  | { readonly type: 'forceStop' };

/** A message from a worker to the coordinator. */
export type WorkerMessage =
  /** The shard is ready. `plan` is the digest of the plan, including the files that it names. */
  | { readonly type: 'ready'; readonly plan?: string | undefined }
  | {
      readonly type: 'accepted';
      readonly deviceIds: readonly string[];
      /** The deployment that the devices remember from an earlier run. */
      readonly earlierDeployment?: RunDeployment | undefined;
    }
  | { readonly type: 'adopted'; readonly devices: number }
  | {
      readonly type: 'progress';
      readonly progress: FleetProgress;
      /** Figures of the shard; with many shards, not every progress message contains them. */
      readonly figures?: ShardFigures | undefined;
    }
  | {
      readonly type: 'events';
      readonly events: readonly FleetEvent[];
      /** Time before which all events have been sent, in milliseconds since the Unix epoch. */
      readonly untilMs: number;
      /** Number of earlier events that were dropped because the queue was full. */
      readonly lost?: number;
    }
  | { readonly type: 'result'; readonly result: FleetResult }
  /**
   * No worker can run the shard. `sentence` is for the user; `exitCode` is the exit code of the
   * run.
   */
  | { readonly type: 'failed'; readonly sentence: string; readonly exitCode: number };
