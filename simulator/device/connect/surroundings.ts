/** What the part of a device that speaks on the persistent connection finds around it. */
import type { Clock } from '../../../fixtures/clock.ts';
import type { ConnectMessage } from '../../../fixtures/formats/connect-message.ts';

/** What a device knows of itself; what an update changes is asked for each time. */
export interface DeviceFacts {
  readonly hostname: string;
  deviceType(): string;
  artifactName(): string;
}

/** The device around its connection. */
export interface ConnectSurroundings {
  readonly clock: Clock;
  readonly facts: DeviceFacts;
  /** Asks the server for an update soon; does not wait for it. */
  checkUpdate(): void;
  /** Sends the inventory soon; does not wait for it. */
  sendInventory(): void;
}

/** A message to go out; whoever passes it on knows its session. */
export type Reply = Omit<ConnectMessage, 'sid'>;

/** What one session has running in one protocol. */
export interface ProtocolHandler {
  answer(message: ConnectMessage): readonly Reply[];
  /** The session ends: lets go of everything, and says what there is to say. */
  end(): readonly Reply[];
}
