/** The interface through which load, incidents and sockets control the devices of a run. */
import type { SimulatedDevice } from '../device/device.ts';
import type { EndReason } from '../result/result.ts';

/** Actions on the devices of a fleet and on its run. */
export interface DeviceControl {
  /** Makes the device start its next cycle at once. */
  wake(device: SimulatedDevice): void;
  /** Makes the device send its inventory at once. */
  sendInventory(device: SimulatedDevice): void;
  /** Aborts the exchanges of devices without power or network. */
  abortBlockedExchanges(): void;
  /**
   * Breaks the device's socket.
   * @param returnsAfterMs wait before the device reconnects; undefined for the device's back-off
   */
  cutSocket(device: SimulatedDevice, returnsAfterMs: number | undefined): void;
  /** Starts a stage of the metrics: later exchanges count in it. */
  enterStage(name: string): void;
  /** Aborts the deployment of the run for every device that has not finished it. */
  abortDeployment(): void;
  /** Ends the run for the given reason. */
  end(reason: EndReason): void;
}
