/** Storage of a run outside the process: the state of its devices, and its ledger. */
import { join } from 'node:path';
import type { Lock } from '../../fixtures/base/process-lock.ts';
import type { RunDeployment } from '../api-client/management.ts';
import type { DeploymentRecord, SimulatedDevice } from '../device/device.ts';
import type { PartialDownloads } from '../device/environment.ts';
import { CleanupLedger } from './cleanup-ledger.ts';
import { FleetState, type StateSubject, stateFolder } from './fleet-state.ts';
import { takeStateLock } from './state-lock.ts';

/**
 * Stores everything that must survive the simulator. Each method returns once the change is stored.
 */
export interface RunStorage {
  /** The deployment that this run or an earlier one has created; undefined without one. */
  readonly runDeployment: RunDeployment | undefined;
  /** Partial downloads of devices; undefined in a run without a state folder. */
  readonly downloads?: PartialDownloads | undefined;
  /**
   * Stores the changes of a device.
   * @throws StateError when they cannot be stored
   */
  recordChange(device: SimulatedDevice, deployment?: DeploymentRecord): void;
  /**
   * Stores the deployment that the run has created.
   * @throws StateError when it cannot be stored
   */
  recordDeployment(runDeployment: RunDeployment): void;
  close(): void;
}

/** The storage of a run that stores nothing. */
export const noStorage: RunStorage = {
  runDeployment: undefined,
  recordChange: () => undefined,
  recordDeployment: () => undefined,
  close: () => undefined,
};

/** The storage options of a plan. */
export interface StoragePlan {
  readonly baseUrl: string;
  readonly seed: string;
  readonly devices: number;
  readonly shard?: { readonly index: number; readonly of: number } | undefined;
  /** Path of the state folder, from which a later run continues. */
  readonly state?: string | undefined;
  /** Path of the ledger; without it, the ledger is in the state folder. */
  readonly ledger?: string | undefined;
}

/** Name of the ledger in a state folder. */
export const ledgerFile = 'ledger.ndjson';

/**
 * Opens the state folder and the ledger of the plan, and restores the devices.
 * @throws StateError when either is in use, belongs to another fleet, or cannot be used
 */
export function openStorage(plan: StoragePlan, devices: readonly SimulatedDevice[]): RunStorage {
  const { state: folder, baseUrl } = plan;
  const subject: StateSubject | undefined =
    folder === undefined ? undefined : { folder, plan, devices };
  const state = subject && FleetState.open(subject);
  try {
    const ledger = openLedger(ledgerLocation(plan, subject), baseUrl, plan.ledger !== undefined);
    return new FolderStorage(state, ledger);
  } catch (error) {
    state?.close();
    throw error;
  }
}

function ledgerLocation(plan: StoragePlan, subject: StateSubject | undefined): string | undefined {
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
  // A ledger in the state folder is protected by the folder's lock.
  const lock = isNamed ? takeStateLock(`${path}.lock`, `the ledger ${path}`) : undefined;
  try {
    return { ledger: CleanupLedger.open(path, baseUrl), lock };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

class FolderStorage implements RunStorage {
  readonly #state: FleetState | undefined;
  readonly #made: OpenLedger | undefined;

  constructor(state: FleetState | undefined, made: OpenLedger | undefined) {
    this.#state = state;
    this.#made = made;
  }

  get runDeployment(): RunDeployment | undefined {
    return this.#state?.runDeployment;
  }

  get downloads(): PartialDownloads | undefined {
    return this.#state?.downloads;
  }

  recordChange(device: SimulatedDevice, deployment?: DeploymentRecord): void {
    this.#made?.ledger.record(device);
    this.#state?.recordChange(device, deployment);
  }

  recordDeployment(runDeployment: RunDeployment): void {
    this.#made?.ledger.recordDeployment(runDeployment);
    this.#state?.recordDeployment(runDeployment);
  }

  close(): void {
    this.#made?.ledger.close();
    this.#made?.lock?.release();
    this.#state?.close();
  }
}
