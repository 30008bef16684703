/** The one way from what drives a run (its load, its incidents, its sockets) to the devices. */
import type { Device } from '../device/device.ts';
import type { Ended } from '../result/result.ts';

/** What can be done to the devices of a fleet, and to its run. */
export interface DeviceControl {
  /** Makes the device begin its next round now. */
  wake(device: Device): void;
  /** Makes the device send its inventory now. */
  sendInventory(device: Device): void;
  /** Breaks off the exchanges of devices whose power or network is away. */
  breakOffBlocked(): void;
  /** Breaks the device's socket; it comes back after so long, or by its back-off. */
  cutSocket(device: Device, returnsAfterMs: number | undefined): void;
  /** From now on exchanges belong to this phase. */
  enterPhase(name: string): void;
  /** Ends the run. */
  end(because: Ended): void;
}
