/**
 * What a run stores outside the process: the state of its devices, and the ledger of what it
 * creates.
 */
import { join } from 'node:path';
import type { Lock } from '../../fixtures/process-lock.ts';
import type { Target } from '../client/management.ts';
import type { Device, DeviceDeployment } from '../device/device.ts';
import type { KeptDownloads } from '../device/environment.ts';
import { FleetState, type StateSubject, stateFolder } from './fleet-state.ts';
import { CleanupLedger } from './made-ledger.ts';
import { takeStateLock } from './state-lock.ts';

/** Receives everything that must survive the simulator, before anything depends on it. */
export interface Memory {
  /** The run's own deployment, where one was created before. */
  readonly target: Target | undefined;
  /** Partial downloads of devices; absent where nothing is stored. */
  readonly downloads?: KeptDownloads | undefined;
  /** @throws StateError when it cannot be stored */
  changed(device: Device, deployment?: DeviceDeployment): void;
  /** @throws StateError when it cannot be stored */
  deployed(target: Target): void;
  close(): void;
}

/** For a run that stores nothing. */
export const noMemory: Memory = {
  target: undefined,
  changed: () => undefined,
  deployed: () => undefined,
  close: () => undefined,
};

/** The storage options of a plan. */
export interface MemoryPlan {
  readonly baseUrl: string;
  readonly seed: string;
  readonly devices: number;
  readonly shard?: { readonly index: number; readonly of: number } | undefined;
  /** Path of the state folder, from which a later run continues. */
  readonly state?: string | undefined;
  /** File of the ledger; defaults to one in the state folder. */
  readonly ledger?: string | undefined;
}

/** Name of a ledger in a state folder. */
export const ledgerFile = 'ledger.ndjson';

/**
 * Opens what the plan names, and restores the devices.
 * @throws StateError when it is in use, of another fleet, or cannot be used
 */
export function openMemory(plan: MemoryPlan, devices: readonly Device[]): Memory {
  const { state: folder, baseUrl } = plan;
  const subject: StateSubject | undefined =
    folder === undefined ? undefined : { folder, plan, devices };
  const state = subject && FleetState.open(subject);
  try {
    const ledger = openLedger(ledgerPlace(plan, subject), baseUrl, plan.ledger !== undefined);
    return new RunMemory(state, ledger);
  } catch (error) {
    state?.close();
    throw error;
  }
}

function ledgerPlace(plan: MemoryPlan, subject: StateSubject | undefined): string | undefined {
  const { ledger, shard } = plan;
  if (ledger === undefined) return subject && join(stateFolder(subject), ledgerFile);
  return shard === undefined ? ledger : `${ledger}.${shard.index}-of-${shard.of}`;
}

interface OpenLedger {
  readonly ledger: CleanupLedger;
  readonly lock: Lock | undefined;
}

function openLedger(path: string | undefined, baseUrl: string, isNamed: boolean) {
  if (path === undefined) return undefined;
  // The lock of the folder covers the ledger in it.
  const lock = isNamed ? takeStateLock(`${path}.lock`, `the ledger ${path}`) : undefined;
  try {
    return { ledger: CleanupLedger.open(path, baseUrl), lock };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

class RunMemory implements Memory {
  readonly #state: FleetState | undefined;
  readonly #made: OpenLedger | undefined;

  constructor(state: FleetState | undefined, made: OpenLedger | undefined) {
    this.#state = state;
    this.#made = made;
  }

  get target(): Target | undefined {
    return this.#state?.target;
  }

  get downloads(): KeptDownloads | undefined {
    return this.#state?.downloads;
  }

  changed(device: Device, deployment?: DeviceDeployment): void {
    this.#made?.ledger.note(device);
    this.#state?.changed(device, deployment);
  }

  deployed(target: Target): void {
    this.#made?.ledger.deployed(target);
    this.#state?.deployed(target);
  }

  close(): void {
    this.#made?.ledger.close();
    this.#made?.lock?.release();
    this.#state?.close();
  }
}
