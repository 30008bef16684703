/**
 * Everything that a device uses during a run: API client, clock, random numbers, metrics and
 * events.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { DeviceClient } from '../api-client/device-client.ts';
import type { DownloadProgress } from '../api-client/download.ts';
import type { RunDeployment } from '../api-client/management.ts';
import type { ClientSession } from '../api-client/session.ts';
import type { DeviceKey } from '../identity/device-key.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import type { ExchangeTap } from '../network/exchange-tap.ts';
import type { Transport } from '../network/transport.ts';
import type { DeploymentRecord, SimulatedDevice } from './device.ts';
import type { EventSink } from './events.ts';

/** A partial download of a device on disk, in a run with a state folder. */
export interface PartialDownload {
  /** Progress when the download was opened; undefined when nothing was stored. */
  readonly progress: DownloadProgress | undefined;
  /** Yields the stored bytes in order. */
  chunks(): AsyncIterable<Buffer>;
  /**
   * Appends the next bytes of the file.
   * @throws StateError when they cannot be stored
   */
  append(chunk: Buffer, progress: DownloadProgress): void;
  close(): void;
}

/** The partial downloads of all devices, at most one for each device. */
export interface PartialDownloads {
  open(device: SimulatedDevice, deployment: DeploymentRecord): PartialDownload;
  /** Deletes the partial download of a device. */
  forget(device: SimulatedDevice): void;
}

/** Services and callbacks shared by all devices of one run. */
export interface DeviceEnvironment {
  readonly client: DeviceClient;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
  readonly metrics: RunMetrics;
  /** Receives the events of the run. */
  readonly events: EventSink;
  /**
   * Returns a key of the device.
   * @param generation 0, the default, for the first key; 1 after the first key change, and so on
   * @throws FleetStopped when the run ends first
   */
  keyFor(device: SimulatedDevice, generation?: number): Promise<DeviceKey>;
  /** Returns the observer of the device's exchanges; undefined unless the device is watched. */
  exchangeTap?(device: SimulatedDevice): ExchangeTap | undefined;
  /**
   * Called when state changes that the device must remember after a crash: its token, its ID, the
   * installed software, the state of its update. Also called before the first contact. Returns once
   * the state is stored.
   * @param deployment the record of a deployment that has changed, if any
   */
  recordChange(device: SimulatedDevice, deployment?: DeploymentRecord): void;
  /** Stored partial downloads; undefined when partial downloads end with the simulator. */
  readonly downloads?: PartialDownloads | undefined;
  /**
   * Waits for a time, or until `wakeable` is woken.
   * @throws FleetStopped when the run ends first
   */
  sleep(waitMs: number, wakeable?: SimulatedDevice): Promise<void>;
  /** Breaks the device's persistent connection without a close frame, as a power loss does. */
  dropSocket(device: SimulatedDevice): void;
  /** Returns the milliseconds until the device's next poll is due. */
  untilNextPollMs(device: SimulatedDevice): number;
  /**
   * Returns how long an incident or a stage keeps the device without power, from now; 0 when it has
   * power, Infinity when it stays off.
   */
  offForMs(device: SimulatedDevice): number;
  /**
   * Returns the deployment that the run created; undefined until the server has acknowledged it.
   */
  runDeployment(): RunDeployment | undefined;
  /**
   * Called when a device has finished a deployment and the server has acknowledged the final
   * status.
   */
  recordSettled(device: SimulatedDevice, deployment: DeploymentRecord): void;
  /** Asks the user to abort the device's deployment. Returns false when that failed. */
  abortDevice(device: SimulatedDevice): Promise<boolean>;
}

/** A device with its session and its environment. */
export interface DeviceInRun {
  readonly device: SimulatedDevice;
  readonly session: ClientSession;
  readonly environment: DeviceEnvironment;
}
