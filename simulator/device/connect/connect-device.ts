/**
 * The device's side of its persistent connection: it answers messages and returns messages that are
 * due, without access to the socket. Every returned message is small enough for a device.
 * Spec: Device connect
 */
import {
  type ConnectMessage,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import type {
  ConnectEnvironment,
  DeviceDescription,
  OutgoingMessage,
  ProtocolHandler,
} from './connect-environment.ts';
import { FileTransfer } from './file-transfer.ts';
import { DeviceFiles } from './files.ts';
import { PortForward } from './port-forward.ts';
import { messageStatuses } from './replies.ts';
import { Sessions } from './sessions.ts';
import { Shells } from './shells.ts';

const { shell, fileTransfer, portForward, menderClient } = connectProtocols;

/** The files and the sessions of a device. Files persist; sessions end with the connection. */
export class ConnectDevice {
  readonly #environment: ConnectEnvironment;
  readonly #files: DeviceFiles;
  #shells: Shells;
  #sessions: Sessions;

  constructor(environment: ConnectEnvironment) {
    this.#environment = environment;
    this.#files = new DeviceFiles(environment.clock, contentsOf(environment.facts));
    this.#shells = this.#newShells();
    this.#sessions = this.#newSessions();
  }

  /** Returns the device's replies to a message; there may be none. */
  respond(message: ConnectMessage): readonly ConnectMessage[] {
    if (message.proto !== shell) return this.#sessions.respond(message);
    this.#sessions.noteLife(message.sid ?? '');
    return this.#shells.respond(message);
  }

  /**
   * Returns the messages that are due without a request, such as pings. Call it about once a
   * second.
   */
  due(): readonly ConnectMessage[] {
    return [...this.#sessions.due(), ...this.#shells.due()];
  }

  /** Ends every session after the connection is lost. */
  disconnect(): void {
    this.#shells = this.#newShells();
    this.#sessions = this.#newSessions();
  }

  #newShells(): Shells {
    const { clock, facts } = this.#environment;
    return new Shells({ clock, facts, files: this.#files });
  }

  #newSessions(): Sessions {
    const { clock, facts } = this.#environment;
    const routes = new Map<number, () => ProtocolHandler>([
      [fileTransfer, () => new FileTransfer(this.#files)],
      [portForward, () => new PortForward(facts)],
      [menderClient, () => new ClientCommands(this.#environment)],
    ]);
    const protocols = [shell, ...routes.keys()];
    return new Sessions({ clock, routes, protocols, onClose: (sid) => this.#shells.drop(sid) });
  }
}

/** Returns the files of a new device. */
function contentsOf(facts: DeviceDescription): Readonly<Record<string, string | (() => string)>> {
  return {
    '/data/': '',
    '/etc/artifact_info': () => `artifact_name=${facts.artifactName()}\n`,
    '/etc/device_type': () => `device_type=${facts.deviceType()}\n`,
    '/etc/hostname': `${facts.hostname}\n`,
    '/etc/os-release': 'ID=simulated\nNAME="Simulated device"\n',
    '/root/': '',
    '/tmp/': '',
    '/var/log/': '',
  };
}

type Client = Pick<ConnectEnvironment, 'checkUpdate' | 'sendInventory'>;

/**
 * The protocol of the update client in one session. The reply acknowledges a request before the
 * device acts on it.
 */
class ClientCommands implements ProtocolHandler {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  respond({ typ = '' }: ConnectMessage): readonly OutgoingMessage[] {
    if (typ === 'check-update') this.#client.checkUpdate();
    else if (typ === 'send-inventory') this.#client.sendInventory();
    else return [replyMessage(typ, messageStatuses.error, `unknown message type '${typ}'`)];
    return [replyMessage(typ, messageStatuses.normal)];
  }

  end(): readonly OutgoingMessage[] {
    return [];
  }
}

function replyMessage(typ: string, status: number, reason = ''): OutgoingMessage {
  return { proto: menderClient, typ, props: { status }, body: Buffer.from(reason) };
}
