/** Types for the interface between a device and its persistent connection. */
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { ConnectMessage } from '../../../fixtures/formats/connect-message.ts';

/** Facts about the device. Facts that an update can change are functions. */
export interface DeviceDescription {
  readonly hostname: string;
  deviceType(): string;
  artifactName(): string;
}

/** The parts of the device that its persistent connection uses. */
export interface ConnectEnvironment {
  readonly clock: Clock;
  readonly facts: DeviceDescription;
  /** Schedules a poll for a deployment and returns immediately. */
  checkUpdate(): void;
  /** Schedules an inventory update and returns immediately. */
  sendInventory(): void;
}

/** An outgoing message; `Sessions` adds the session ID. */
export type OutgoingMessage = Omit<ConnectMessage, 'sid'>;

/** The handler of one protocol in one session. */
export interface ProtocolHandler {
  respond(message: ConnectMessage): readonly OutgoingMessage[];
  /** Called when the session ends. Returns the last messages of this protocol. */
  end(): readonly OutgoingMessage[];
}
