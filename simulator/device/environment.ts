/** A device's environment: API client, time, randomness and the metrics of the run. */
import type { Clock } from '../../fixtures/clock.ts';
import type { Random } from '../../fixtures/random.ts';
import type { DeviceClient } from '../client/device-client.ts';
import type { DownloadProgress } from '../client/download.ts';
import type { Target } from '../client/management.ts';
import type { Session } from '../client/session.ts';
import type { DeviceKey } from '../identity/device-key.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import type { ExchangeTap } from '../network/exchange-tap.ts';
import type { Transport } from '../network/transport.ts';
import type { Device, DeviceDeployment } from './device.ts';
import type { EventSink } from './events.ts';

/** A device's partial download, kept outside the process. */
export interface KeptDownload {
  /** How far it had come when opened; undefined when there is nothing. */
  readonly progress: DownloadProgress | undefined;
  /** Yields the stored pieces in order. */
  pieces(): AsyncIterable<Buffer>;
  /** Appends the next piece. @throws StateError when it cannot be stored */
  append(piece: Buffer, progress: DownloadProgress): void;
  close(): void;
}

/** Partial downloads of all devices, at most one file each. */
export interface KeptDownloads {
  open(device: Device, deployment: DeviceDeployment): KeptDownload;
  /** Removes what is kept for a device. */
  forget(device: Device): void;
}

/** Shared by all devices of one run. */
export interface DeviceEnvironment {
  readonly client: DeviceClient;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
  readonly metrics: RunMetrics;
  /** Receives every event of the run. */
  readonly events: EventSink;
  /**
   * Returns the device's key; throws FleetStopped when the run ends first.
   * @param generation number of the key, for devices that change keys; 0, the default, is the first
   */
  keyFor(device: Device, generation?: number): Promise<DeviceKey>;
  /**
   * Returns the observer of the device's exchanges; undefined unless the device is in the sample.
   */
  exchangeTap?(device: Device): ExchangeTap | undefined;
  /**
   * Called before first contact, and whenever something changes that the device must remember after
   * a crash: its token, its ID, what is installed, the state of its update. Returns once that is
   * stored.
   * @param deployment the device deployment that changed, if any
   */
  changed(device: Device, deployment?: DeviceDeployment): void;
  /** Absent when partial downloads do not outlive the simulator. */
  readonly downloads?: KeptDownloads | undefined;
  /** Waits, or until the given device is woken; throws FleetStopped when the run ends first. */
  rest(waitMs: number, wakeable?: Device): Promise<void>;
  /** Breaks the device's persistent connection, as a power loss does. */
  losesSocket(device: Device): void;
  /** Returns the milliseconds until the device's next poll is due. */
  untilNextPollMs(device: Device): number;
  /**
   * Returns how long the device stays without power from now; 0 when it has power, Infinity when
   * permanently off.
   */
  offForMs(device: Device): number;
  /** Returns the deployment created by the run, once the server has acknowledged it. */
  target(): Target | undefined;
  /** Called when a device deployment has ended and the server knows it. */
  settled(device: Device, deployment: DeviceDeployment): void;
  /** Asks the operator to abort the device's deployment; false when that was not possible. */
  abortDevice(device: Device): Promise<boolean>;
}

/** A device with its session and environment. */
export interface UpdateSubject {
  readonly device: Device;
  readonly session: Session;
  readonly environment: DeviceEnvironment;
}
