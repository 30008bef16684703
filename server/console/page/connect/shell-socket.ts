/** Runs a shell on a device over a WebSocket. Spec: Device connect */
import { decode, encode } from '@msgpack/msgpack';
import { reasonOf, requestJson, withTenant } from '../api/client.ts';
import { pathOf } from '../api/management.ts';

const SHELL = 1;
const CONTROL = 0xffff;
const STATUS_ERROR = 2;

/** The fields of a message that this client reads. */
interface ShellMessage {
  readonly hdr: {
    readonly proto: number;
    readonly typ?: string;
    readonly sid?: string;
    readonly props?: Readonly<Record<string, unknown>>;
  };
  readonly body?: unknown;
}

/** The callbacks of the terminal that shows the shell. */
interface TerminalCallbacks {
  readonly size: () => { readonly height: number; readonly width: number };
  readonly onOutput: (bytes: Uint8Array) => void;
  readonly onEnd: (why: string) => void;
}

/** The connection of one shell, from its start to its end. */
export class ShellSocket {
  readonly #deviceId: string;
  readonly #screen: TerminalCallbacks;
  #socket: WebSocket | undefined;
  #sid: string | undefined;
  #isOver = false;

  constructor(deviceId: string, screen: TerminalCallbacks) {
    this.#deviceId = deviceId;
    this.#screen = screen;
  }

  /** Connects and requests a shell. A failure is reported through `onEnd`. */
  async open(): Promise<void> {
    try {
      const { ticket } = await requestJson('POST /management/tickets');
      const { path } = await pathOf('connect-device', { id: this.#deviceId });
      if (this.#isOver) return;
      const url = new URL(withTenant(path, { ticket }), location.href);
      url.protocol = url.protocol.replace('http', 'ws');
      const socket = new WebSocket(url);
      this.#socket = socket;
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => this.#say('new', { props: this.#sizeProps() });
      socket.onmessage = ({ data }) => this.#take(data);
      socket.onclose = () => this.#end('The connection is closed.');
    } catch (error) {
      this.#end(reasonOf(error));
    }
  }

  /** Sends typed text to the shell on the device. */
  type(text: string): void {
    this.#say('shell', { body: new TextEncoder().encode(text) });
  }

  /** Sends the size of the terminal to the device. */
  resize(): void {
    if (this.#sid !== undefined) this.#say('resize', { props: this.#sizeProps() });
  }

  /** Ends the shell and closes the connection. No further callbacks follow. */
  close(): void {
    this.#isOver = true;
    this.#say('stop', {});
    this.#socket?.close();
  }

  #sizeProps() {
    const { height, width } = this.#screen.size();
    return { terminal_height: height, terminal_width: width };
  }

  #say(typ: string, { props, body }: { props?: object; body?: Uint8Array }): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const sid = this.#sid === undefined ? {} : { sid: this.#sid };
    const hdr = { proto: SHELL, typ, ...sid, ...(props && { props }) };
    this.#socket.send(encode({ hdr, ...(body && { body }) }));
  }

  #take(data: unknown): void {
    if (!(data instanceof ArrayBuffer)) return;
    const { hdr, body } = decode(data) as ShellMessage;
    if (hdr.proto === CONTROL) this.#takeControl(hdr.typ);
    if (hdr.proto !== SHELL) return;
    const bytes = body instanceof Uint8Array ? body : new Uint8Array();
    if (hdr.typ === 'ping') this.#say('pong', {});
    else if (hdr.typ === 'stop' || hdr.props?.status === STATUS_ERROR) this.#end(endOf(bytes));
    else if (hdr.typ === 'new') this.#sid = hdr.sid;
    else if (hdr.typ === 'shell') this.#screen.onOutput(bytes);
  }

  #takeControl(typ: string | undefined): void {
    if (typ === 'ping') this.#socket?.send(encode({ hdr: { proto: CONTROL, typ: 'pong' } }));
    else if (typ === 'close' || typ === 'error') this.#end('The device refused the shell.');
  }

  #end(why: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket?.close();
    this.#screen.onEnd(why);
  }
}

function endOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return text === '' ? 'The shell has ended.' : `The shell has ended: ${text}`;
}
