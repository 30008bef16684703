/** What a device finds around it: the server's client, time, chance, the metrics of the run. */
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
import type { DeploymentPart, Device } from './device.ts';
import type { EventSink } from './events.ts';

/** What a device has of a file that it downloads, kept outside the process. */
export interface KeptDownload {
  /** How far it had come when it was opened; undefined when nothing is there. */
  readonly progress: DownloadProgress | undefined;
  /** What is there, in order. */
  pieces(): AsyncIterable<Buffer>;
  /** Adds the piece that follows. @throws StateError when it cannot be kept */
  append(piece: Buffer, progress: DownloadProgress): void;
  close(): void;
}

/** What all devices have of the files that they download, one file each at a time. */
export interface KeptDownloads {
  open(device: Device, part: DeploymentPart): KeptDownload;
  /** Removes what is kept for a device. */
  forget(device: Device): void;
}

/** Shared by all devices of one run. */
export interface DeviceEnvironment {
  readonly client: DeviceClient;
  readonly transport: Transport;
  readonly clock: Clock;
  /** The fleet's chance, made from its seed. */
  readonly random: Random;
  readonly metrics: RunMetrics;
  /** Is notified of everything that happens. */
  readonly events: EventSink;
  /**
   * The device's key; throws FleetStopped when the run ends first.
   * @param generation which of its keys, when it changes them: 0, the default, is the first
   */
  keyFor(device: Device, generation?: number): Promise<DeviceKey>;
  /** Who looks on at the device's exchanges; nobody, unless it is in the sample. */
  exchangeTap?(device: Device): ExchangeTap | undefined;
  /**
   * Called before a device makes itself known, and as soon as anything changed that the device must still know after a crash: its token, its
   * id, what is installed, where its update stands. Returns once that is kept.
   * @param part the part in a deployment that changed, where one did
   */
  changed(device: Device, part?: DeploymentPart): void;
  /** Absent: what a device has of a file ends with the simulator. */
  readonly downloads?: KeptDownloads | undefined;
  /**
   * Waits, or until the device is woken, where one is named; throws FleetStopped when the run ends
   * first.
   */
  rest(waitMs: number, wakeable?: Device): Promise<void>;
  /** Breaks the device's persistent connection, as the loss of its power does. */
  losesSocket(device: Device): void;
  /** Milliseconds until the device's next poll is due. */
  untilNextPollMs(device: Device): number;
  /** How long the device is without power from now on; zero when it has power, Infinity: for good. */
  offForMs(device: Device): number;
  /** The deployment that the run has made, once the server has acknowledged it. */
  target(): Target | undefined;
  /** Called when a part has come to an end that the server knows of. */
  settled(device: Device, part: DeploymentPart): void;
  /** Asks the operator to abort the device's part; false when that could not be done. */
  abortDevice(device: Device): Promise<boolean>;
}

/** A device with its standing and its surroundings. */
export interface UpdateSubject {
  readonly device: Device;
  readonly session: Session;
  readonly environment: DeviceEnvironment;
}
