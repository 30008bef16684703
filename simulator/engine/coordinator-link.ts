/**
 * The interface between a shard and the coordinator of its run. A shard runs the devices of its own
 * index range and is otherwise a regular fleet; a fleet without a coordinator starts immediately
 * and creates its own deployment.
 */
import type { Target } from '../client/management.ts';
import type { Ended } from '../result/result.ts';
import type { ShardFigures } from '../result/shard-figures.ts';

/** The shard's end of the line to its coordinator. */
export interface CoordinatorLink {
  /** True when an earlier worker of this shard was lost: the server knows these devices already. */
  readonly isTakeover: boolean;
  /** Reports the plan as the shard has read it. @param digest the same for the same plan */
  planned(digest: string | undefined): void;
  /**
   * Reports that the shard is ready; resolves when all shards of the run start, or as soon as the
   * run ends, with the milliseconds that have passed since the common start.
   */
  started(signal: AbortSignal): Promise<number>;
  /**
   * Sends the IDs of the shard's devices, all of them accepted, for the one deployment of the run.
   * @param kept the deployment that the devices remember from an earlier run
   * @throws FleetStopped when the run ends first
   */
  deploymentFor(deviceIds: readonly string[], kept: Target | undefined): Promise<Target>;
  /** Resolves when the coordinator ends the run early. */
  readonly ended: Promise<Ended>;
  /** Called about once a second; calls `look` whenever the coordinator needs new figures. */
  measured(look: () => ShardFigures): void;
  /** Reports that the shard has ended and waits for nothing any more. */
  over(): void;
  /** Reports how many devices had finished with the lost worker. */
  adopted(devices: number): void;
}
