/** Facts of a device without a socket, for tests of its replies. */
import { ManualClock } from '../../fixtures/base/clock.ts';
import { connectErrorShape, decodeBody } from '../../fixtures/formats/connect-bodies.ts';
import { type ConnectMessage, connectProtocols } from '../../fixtures/formats/connect-message.ts';
import { ConnectDevice } from '../device/connect/connect-device.ts';
import type { DeviceDescription } from '../device/connect/connect-environment.ts';
import { noonMs } from './client-fixture.ts';

export const facts: DeviceDescription = {
  hostname: 'fb-1',
  deviceType: () => 'board',
  artifactName: () => 'factory-image',
};

/** A device with its clock, and the requests to its update client. */
export class ConnectFixture {
  readonly clock = new ManualClock(noonMs);
  readonly clientRequests: string[] = [];
  readonly device = new ConnectDevice({
    clock: this.clock,
    facts,
    checkUpdate: () => this.clientRequests.push('check-update'),
    sendInventory: () => this.clientRequests.push('send-inventory'),
  });

  /** Sends a message in the session `s-1` and returns the replies. */
  say(
    proto: keyof typeof connectProtocols,
    typ: string,
    fields: Omit<ConnectMessage, 'proto' | 'typ'> = {},
  ): readonly ConnectMessage[] {
    return this.device.respond({ proto: connectProtocols[proto], typ, sid: 's-1', ...fields });
  }

  /**
   * Advances the clock and returns the messages that the device sends without a request meanwhile.
   */
  pass(seconds: number): readonly ConnectMessage[] {
    const messages: ConnectMessage[] = [];
    for (let second = 0; second < seconds; second++) {
      this.clock.advance(1000);
      messages.push(...this.device.due());
    }
    return messages;
  }
}

/** Returns the types of messages, such as `file_chunk`. */
export function typesOf(messages: readonly ConnectMessage[]): string[] {
  return messages.map(({ typ = '' }) => typ);
}

/**
 * Returns the text of a single error message, or of a shell's failure.
 * @throws Error when there is not exactly one message, or it reports no error
 */
export function errorTextOf([message, ...more]: readonly ConnectMessage[]): string {
  if (message === undefined || more.length > 0) throw new Error('there is not one message');
  if (message.typ === 'error') return decodeBody(connectErrorShape, message.body).err;
  if (message.props?.status !== 2) throw new Error('the message is not an error');
  return Buffer.from(message.body ?? '').toString();
}

/** Returns the bytes of all message bodies as text. */
export function textOf(messages: readonly ConnectMessage[]): string {
  return Buffer.concat(messages.map(({ body }) => Buffer.from(body ?? ''))).toString();
}
