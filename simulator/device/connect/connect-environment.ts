/** The environment of a device's persistent connection. */
import type { Clock } from '../../../fixtures/clock.ts';
import type { ConnectMessage } from '../../../fixtures/formats/connect-message.ts';

/** Facts about the device; those that an update changes are read each time. */
export interface DeviceDescription {
  readonly hostname: string;
  deviceType(): string;
  artifactName(): string;
}

/** What the rest of the device offers to its connection. */
export interface ConnectEnvironment {
  readonly clock: Clock;
  readonly facts: DeviceDescription;
  /** Schedules a check for updates; does not wait for it. */
  checkUpdate(): void;
  /** Schedules sending the inventory; does not wait for it. */
  sendInventory(): void;
}

/** An outgoing message; the session adds its own ID. */
export type Reply = Omit<ConnectMessage, 'sid'>;

/** The handler of one protocol in one session. */
export interface ProtocolHandler {
  answer(message: ConnectMessage): readonly Reply[];
  /** Called when the session ends: releases everything and returns the last messages. */
  end(): readonly Reply[];
}
