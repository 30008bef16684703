/**
 * Keeps the state of a fleet between runs. Every change that a device must remember is written to a
 * state log in the state folder before the device acts on it, and the next run restores it.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import * as v from 'valibot';
import { makeFolder } from '../../fixtures/base/make-folder.ts';
import type { Lock } from '../../fixtures/base/process-lock.ts';
import type { RunDeployment } from '../api-client/management.ts';
import type { DeploymentRecord, SimulatedDevice } from '../device/device.ts';
import type { PartialDownloads } from '../device/environment.ts';
import { identityKey } from '../identity/identity.ts';
import {
  type DeviceLine,
  deploymentRecord,
  deviceLineShape,
  fieldNames,
  fieldsOf,
  restoreDevice,
} from './device-record.ts';
import { DownloadFolder } from './kept-downloads.ts';
import { FleetStateError, fileError } from './state-error.ts';
import {
  requireSameCut,
  requireSameFleet,
  type StateHead,
  stateFile,
  stateHeadShape,
} from './state-head.ts';
import { takeStateLock } from './state-lock.ts';
import { readStateLog, StateLog } from './state-log.ts';

/** The state folder, and the fleet that it belongs to. */
export interface StateSubject {
  readonly folder: string;
  readonly plan: {
    readonly baseUrl: string;
    readonly seed: string;
    readonly devices: number;
    readonly shard?: { readonly index: number; readonly of: number } | undefined;
  };
  /** Devices of this process, in their initial state. */
  readonly devices: readonly SimulatedDevice[];
}

const FOLDER_MODE = 0o700;
/**
 * Minimum growth in bytes after which the state log is rewritten; it must also grow by twice its
 * compact size.
 */
const GROWTH_MIN_BYTES = 32 * 2 ** 20;

const runDeploymentShape = v.object({
  deploymentId: v.string(),
  artifactName: v.string(),
  createdMs: v.exactOptional(v.number()),
});
const lineShape = v.union([
  stateHeadShape,
  v.object({ runDeployment: runDeploymentShape }),
  deviceLineShape,
]);

/** An open state folder. The owner must close it. */
export class FleetState {
  readonly #lock: Lock;
  readonly #subject: StateSubject;
  readonly #head: StateHead;
  /** Checksum of each field of each device as last stored; initially of the new fleet. */
  readonly #kept: Uint32Array;
  readonly #initial: Uint32Array;
  #log: StateLog | undefined;
  #compactBytes = 0;
  #runDeployment: RunDeployment | undefined;
  #downloads: DownloadFolder | undefined;

  private constructor(subject: StateSubject, lock: Lock) {
    this.#subject = subject;
    this.#lock = lock;
    this.#head = headOf(subject);
    this.#initial = Uint32Array.from(subject.devices.flatMap(checksumsOf));
    this.#kept = Uint32Array.from(this.#initial);
  }

  /**
   * Opens the folder and restores the state of these devices. Later changes are stored in the
   * folder.
   * @throws FleetStateError when another simulator uses the folder, or it belongs to another fleet or is
   *   damaged
   */
  static open(subject: StateSubject): FleetState {
    const folder = stateFolder(subject);
    requireSameCut(subject.folder, subject.plan.shard);
    try {
      makeFolder(folder, FOLDER_MODE);
    } catch (error) {
      throw fileError(`cannot use the state folder ${folder}`, error);
    }
    const lock = takeStateLock(join(folder, 'lock'), `the state folder ${folder}`);
    try {
      const state = new FleetState(subject, lock);
      state.#restore();
      state.#downloads = new DownloadFolder(join(folder, 'downloads'), subject.devices);
      return state;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** The deployment that this run or an earlier one has created; undefined without one. */
  get runDeployment(): RunDeployment | undefined {
    return this.#runDeployment;
  }

  /** Partial downloads of the devices. */
  get downloads(): PartialDownloads | undefined {
    return this.#downloads;
  }

  /**
   * Stores the deployment that the run has created.
   * @throws FleetStateError
   */
  recordDeployment(runDeployment: RunDeployment): void {
    this.#runDeployment = runDeployment;
    this.#append({ runDeployment });
  }

  /**
   * Stores the changes of a device.
   * @throws FleetStateError
   */
  recordChange(device: SimulatedDevice, deployment?: DeploymentRecord): void {
    const line = this.#lineOf(device, this.#kept);
    if (deployment)
      this.#append({ ...line, device: device.index, deployment: deploymentRecord(deployment) });
    else if (line) this.#append({ device: device.index, ...line });
  }

  close(): void {
    this.#log?.close();
    this.#lock.release();
  }

  #append(line: unknown): void {
    const log = this.#log;
    if (log === undefined) return;
    log.append(line);
    const grownBytes = log.sizeBytes - this.#compactBytes;
    if (grownBytes > Math.max(GROWTH_MIN_BYTES, 2 * this.#compactBytes)) this.#compact(log);
  }

  #compact(log: StateLog): void {
    log.replace(this.#allLines());
    this.#compactBytes = log.sizeBytes;
  }

  #restore(): void {
    const path = join(stateFolder(this.#subject), stateFile);
    const { devices } = this.#subject;
    const first = devices[0]?.index ?? 0;
    let number = 0;
    for (const content of readStateLog(path)) {
      number++;
      const line = v.safeParse(lineShape, content);
      if (!line.success || (number === 1) !== 'state' in line.output) {
        throw new FleetStateError(
          `line ${number} of ${path} is not the state of a fleet; use another folder.`,
        );
      }
      const { output } = line;
      if ('state' in output) requireSameFleet(output, this.#head, stateFolder(this.#subject));
      else if ('runDeployment' in output) this.#runDeployment = output.runDeployment;
      else restoreDevice(devices[output.device - first], output);
    }
    this.#log = StateLog.begin(path, this.#allLines());
    this.#compactBytes = this.#log.sizeBytes;
  }

  *#allLines(): Generator<unknown> {
    yield this.#head;
    if (this.#runDeployment) yield { runDeployment: this.#runDeployment };
    for (const device of this.#subject.devices) {
      const since = Uint32Array.from(this.#initial.subarray(...this.#rangeOf(device)));
      const line = this.#changes(device, since);
      this.#kept.set(since, this.#rangeOf(device)[0]);
      if (line) yield { device: device.index, ...line };
      for (const deployment of device.deployments)
        yield { device: device.index, deployment: deploymentRecord(deployment) };
    }
  }

  #lineOf(device: SimulatedDevice, kept: Uint32Array): Partial<DeviceLine> | undefined {
    return this.#changes(device, kept.subarray(...this.#rangeOf(device)));
  }

  /** Returns the fields whose values differ from these checksums, and updates the checksums. */
  #changes(device: SimulatedDevice, checksums: Uint32Array): Partial<DeviceLine> | undefined {
    const changes: [string, unknown][] = [];
    for (const [position, value] of fieldsOf(device).entries()) {
      const checksum = crc32(JSON.stringify(value));
      if (checksums[position] === checksum) continue;
      checksums[position] = checksum;
      changes.push([fieldNames[position] ?? '', value]);
    }
    return changes.length === 0 ? undefined : Object.fromEntries(changes);
  }

  #rangeOf({ index }: SimulatedDevice): [number, number] {
    const start = (index - (this.#subject.devices[0]?.index ?? 0)) * fieldNames.length;
    return [start, start + fieldNames.length];
  }
}

/** Returns the state folder of a plan. A shard has its own subfolder in the folder of the fleet. */
export function stateFolder({ folder, plan: { shard } }: StateSubject): string {
  return shard === undefined ? folder : join(folder, `shard-${shard.index}-of-${shard.of}`);
}

function headOf({ plan, devices }: StateSubject): StateHead {
  const hash = createHash('sha256');
  for (const { index, keyType, idData } of devices) {
    hash.update(`${index} ${keyType} ${identityKey(idData)}\n`);
  }
  const { baseUrl, seed, shard } = plan;
  const fleet = { baseUrl, seed, devices: plan.devices, identities: hash.digest('hex') };
  return { state: 'fleetbed-state/1', ...fleet, ...(shard === undefined ? {} : { shard }) };
}

function checksumsOf(device: SimulatedDevice): number[] {
  return fieldsOf(device).map((value) => crc32(JSON.stringify(value)));
}
