/**
 * How a shard speaks with the coordinator of its run. A shard runs the devices of its own index range
 * and is a fleet like any other; a fleet without a coordinator starts when it likes and makes its own
 * deployment.
 */
import type { Target } from '../client/management.ts';
import type { PartFigures } from '../result/part-figures.ts';
import type { Ended } from '../result/result.ts';

/** The shard's end of the line to its coordinator. */
export interface CoordinatorLink {
  /** Another worker of this shard was lost: the server knows these devices already. */
  readonly isTakeover: boolean;
  /** Tells what the shard has understood of the plan. @param digest the same for the same plan */
  planned(digest: string | undefined): void;
  /**
   * Says that the shard is ready; resolves at the moment at which all shards of the run start, or
   * as soon as the run ends, with the milliseconds that have passed since that moment.
   */
  started(signal: AbortSignal): Promise<number>;
  /**
   * Gives the ids of the shard's devices, all of them accepted, for the one deployment of the run.
   * @param kept the deployment that the devices remember from an earlier run
   * @throws FleetStopped when the run ends first
   */
  deploymentFor(deviceIds: readonly string[], kept: Target | undefined): Promise<Target>;
  /** Resolves when the coordinator ends the run before its time. */
  readonly ended: Promise<Ended>;
  /** Is asked about once a second; looks at what the shard has measured as often as it has to. */
  measured(look: () => PartFigures): void;
  /** The shard has come to its end and waits for nothing any more. */
  over(): void;
  /** Tells how many devices came to their end with the worker that was lost. */
  adopted(devices: number): void;
}
