/** Shows where a run stands every few seconds, and writes the ready file at the right moment. */
import { progressLine } from '../../simulator/report/text.ts';
import type { FleetPlan, FleetProgress } from '../../simulator/simulator.ts';
import type { Output } from '../output.ts';
import { writeReadyFile } from '../ready.ts';
import { packageVersion } from '../version.ts';

const PROGRESS_EVERY_MS = 5000;

/** Sees every progress of one run. */
export class FleetWatch {
  readonly #plan: FleetPlan;
  readonly #readyFile: string | undefined;
  readonly #output: Output;
  #nextShownMs = PROGRESS_EVERY_MS;
  /** Settled once the ready file is written; rejects when it cannot be. */
  readyWritten: Promise<void> | undefined;

  constructor(plan: FleetPlan, readyFile: string | undefined, output: Output) {
    this.#plan = plan;
    this.#readyFile = readyFile;
    this.#output = output;
  }

  see(progress: FleetProgress): void {
    if (progress.elapsedMs >= this.#nextShownMs) {
      this.#output.progress(progressLine(progress));
      this.#nextShownMs = progress.elapsedMs + PROGRESS_EVERY_MS;
    }
    if (progress.funnel.silent > 0 || this.readyWritten) return;
    const { baseUrl, devices, seed } = this.#plan;
    const ready = { event: 'ready', baseUrl, devices, seed, version: packageVersion() };
    this.readyWritten = writeReadyFile(this.#readyFile, ready);
    // Reported when the run is over; until then nobody awaits it.
    this.readyWritten.catch(() => undefined);
  }
}
