/**
 * All that a device answers on its persistent connection: messages in, messages out, and what falls
 * due with time. It knows no socket. Every message that it gives is small enough for a device.
 * Spec: Device connect
 */
import {
  type ConnectMessage,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import { FileTransfer } from './file-transfer.ts';
import { DeviceFiles } from './files.ts';
import { PortForward } from './port-forward.ts';
import { messageStatuses } from './replies.ts';
import { Sessions } from './sessions.ts';
import { Shells } from './shells.ts';
import type { ConnectSurroundings, DeviceFacts, ProtocolHandler, Reply } from './surroundings.ts';

const { shell, fileTransfer, portForward, menderClient } = connectProtocols;

/** A device's files and what it has running; files stay, the rest ends with the connection. */
export class ConnectDevice {
  readonly #around: ConnectSurroundings;
  readonly #files: DeviceFiles;
  #shells: Shells;
  #sessions: Sessions;

  constructor(around: ConnectSurroundings) {
    this.#around = around;
    this.#files = new DeviceFiles(around.clock, contentsOf(around.facts));
    this.#shells = this.#newShells();
    this.#sessions = this.#newSessions();
  }

  /** What the device says to a message; nothing to some. */
  answer(message: ConnectMessage): readonly ConnectMessage[] {
    if (message.proto !== shell) return this.#sessions.answer(message);
    this.#sessions.noteLife(message.sid ?? '');
    return this.#shells.answer(message);
  }

  /** What the device says by itself, now; to be asked for every second or so. */
  due(): readonly ConnectMessage[] {
    return [...this.#sessions.due(), ...this.#shells.due()];
  }

  /** The connection is gone, and with it every session. */
  disconnect(): void {
    this.#shells = this.#newShells();
    this.#sessions = this.#newSessions();
  }

  #newShells(): Shells {
    const { clock, facts } = this.#around;
    return new Shells({ clock, facts, files: this.#files });
  }

  #newSessions(): Sessions {
    const { clock, facts } = this.#around;
    const routes = new Map<number, () => ProtocolHandler>([
      [fileTransfer, () => new FileTransfer(this.#files)],
      [portForward, () => new PortForward(facts)],
      [menderClient, () => new ClientCommands(this.#around)],
    ]);
    const protocols = [shell, ...routes.keys()];
    return new Sessions({ clock, routes, protocols, onClose: (sid) => this.#shells.drop(sid) });
  }
}

/** What a device has in its files when it is new. */
function contentsOf(facts: DeviceFacts): Readonly<Record<string, string | (() => string)>> {
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

type Client = Pick<ConnectSurroundings, 'checkUpdate' | 'sendInventory'>;

/** The update client's side of one session: says at once that it is about to do what was asked. */
class ClientCommands implements ProtocolHandler {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  answer({ typ = '' }: ConnectMessage): readonly Reply[] {
    if (typ === 'check-update') this.#client.checkUpdate();
    else if (typ === 'send-inventory') this.#client.sendInventory();
    else return [reply(typ, messageStatuses.error, `unknown message type '${typ}'`)];
    return [reply(typ, messageStatuses.normal)];
  }

  end(): readonly Reply[] {
    return [];
  }
}

function reply(typ: string, status: number, because = ''): Reply {
  return { proto: menderClient, typ, props: { status }, body: Buffer.from(because) };
}
