/** What the server may ask of a device's update client. Spec: Device connect */
import {
  type ConnectMessage,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import { messageStatuses } from './replies.ts';
import type { ConnectSurroundings, ProtocolHandler, Reply } from './surroundings.ts';

type Client = Pick<ConnectSurroundings, 'checkUpdate' | 'sendInventory'>;

/** The client's side of one session: says at once that it is about to do what was asked. */
export class ClientCommands implements ProtocolHandler {
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
  const { menderClient: proto } = connectProtocols;
  return { proto, typ, props: { status }, body: Buffer.from(because) };
}
