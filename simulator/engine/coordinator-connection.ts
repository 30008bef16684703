/**
 * The interface between a shard and the coordinator of its run. A shard runs the devices of its
 * index range and otherwise works like a whole fleet. A fleet without a coordinator starts at once
 * and creates its own deployment.
 */
import type { RunDeployment } from '../api-client/management.ts';
import type { EndReason } from '../result/result.ts';
import type { ShardFigures } from '../result/shard-figures.ts';

/** The connection of a shard to its coordinator. */
export interface CoordinatorConnection {
  /**
   * True when an earlier worker of this shard was lost, so that the server already knows its
   * devices.
   */
  readonly isTakeover: boolean;
  /**
   * Reports the plan that the shard runs.
   * @param digest SHA-256 of the plan, equal for equal plans
   */
  reportPlan(digest: string | undefined): void;
  /**
   * Reports that the shard is ready and waits for the common start of all shards, or for the end of
   * the run. Returns the milliseconds that have passed since the common start.
   */
  awaitStart(signal: AbortSignal): Promise<number>;
  /**
   * Sends the IDs of the shard's devices, once all are accepted, and returns the deployment of the
   * run for the devices of all shards.
   * @param kept the deployment that the devices remember from an earlier run
   * @throws FleetStopped when the run ends first
   */
  deploymentFor(
    deviceIds: readonly string[],
    kept: RunDeployment | undefined,
  ): Promise<RunDeployment>;
  /** Resolves when the coordinator ends the run early. */
  readonly ended: Promise<EndReason>;
  /** Called about once a second. Calls `readFigures` when the coordinator needs new figures. */
  reportFigures(readFigures: () => ShardFigures): void;
  /** Reports that the shard has ended and awaits no further message. */
  reportEnd(): void;
  /** Reports how many devices had already finished under the lost worker. */
  reportAdopted(devices: number): void;
}
