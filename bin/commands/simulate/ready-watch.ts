/** Writes the ready file of a run after every device has made its first contact. */
import type { FleetPlan, FleetProgress } from '../../../simulator/engine/simulate-fleet.ts';
import { packageVersion } from '../../output/version.ts';
import { writeReadyFile } from '../../server-access/ready.ts';

/** Watches the progress of one run. */
export class ReadyWatch {
  readonly #plan: FleetPlan;
  readonly #readyFile: string | undefined;
  /** Resolves once the ready file is written; rejects when writing fails. */
  readyWritten: Promise<void> | undefined;

  constructor(plan: FleetPlan, readyFile: string | undefined) {
    this.#plan = plan;
    this.#readyFile = readyFile;
  }

  record(progress: FleetProgress): void {
    const { noContact, off } = progress.funnel;
    if (noContact + off > 0 || this.readyWritten) return;
    const { baseUrl, devices, seed } = this.#plan;
    const ready = { event: 'ready', baseUrl, devices, seed, version: packageVersion() };
    this.readyWritten = writeReadyFile(this.#readyFile, ready);
    // A failure is reported at the end of the run; nothing awaits it before.
    this.readyWritten.catch(() => undefined);
  }
}
