/**
 * The operator's side of a shell on a device: keys go there, bytes for the screen come back.
 * Spec: Device connect
 */
import type { Timer } from '../../fixtures/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { connectErrorShape, decodeBody } from '../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
} from '../../fixtures/formats/connect-message.ts';
import { OperatorSocket, type OperatorSocketOptions } from './operator-socket.ts';

/** How many characters a screen shows. */
export interface ScreenSize {
  readonly height: number;
  readonly width: number;
}

/** What the shell is shown on. */
export interface Screen {
  readonly size: ScreenSize;
  /** Shows bytes as they are; false when no more should come until `drained` is called. */
  show(bytes: Uint8Array): boolean;
  /** Shows a word about the connection. */
  note(text: string): void;
}

/** How a shell has come to its end: in order, or by a fault that is told in a sentence. */
interface ShellEnd {
  readonly fault?: string;
}

/** The device, or the server in its place, did not start a shell; the message says why. */
export class ShellRefused extends Error {
  override readonly name = 'ShellRefused';
}

const { shell, control } = connectProtocols;
const STATUS_ERROR = 2;
/** Bytes of keys in one message: with its header it is small enough for a device. */
const KEYS_MAX_BYTES = 4096;
const CONTROL_D = Buffer.from([0x04]);
/** Quiet after the last key, when no more will come, that ends a shell which does not end itself. */
const QUIET_MAX_MS = 30_000;
const LEAVE_MAX_MS = 2000;

/** A shell that has started. */
export class RemoteShell {
  readonly #screen: Screen;
  readonly #options: OperatorSocketOptions;
  #socket: OperatorSocket | undefined;
  #sid: string | undefined;
  #started: (fault?: string) => void = () => undefined;
  #end: (end: ShellEnd) => void = () => undefined;
  #quiet: Timer | undefined;
  #isInputOver = false;
  /** Resolves once the shell is over; never rejects. */
  readonly ended: Promise<ShellEnd>;

  private constructor(options: OperatorSocketOptions, screen: Screen) {
    this.#options = options;
    this.#screen = screen;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /**
   * Opens the socket and starts a shell.
   * @throws ClientError when the socket cannot be opened; ShellRefused when there is no shell
   */
  static async start(options: OperatorSocketOptions, screen: Screen): Promise<RemoteShell> {
    const remote = new RemoteShell(options, screen);
    await remote.#begin();
    return remote;
  }

  /** Sends keys; resolves once they have left. */
  async type(keys: Uint8Array): Promise<void> {
    for (let at = 0; at < keys.length; at += KEYS_MAX_BYTES) {
      await this.#say('shell', { body: keys.subarray(at, at + KEYS_MAX_BYTES) });
    }
  }

  /** Tells that no more keys will come; a shell that does not end of that ends when it is quiet. */
  async endInput(): Promise<void> {
    await this.type(CONTROL_D);
    this.#isInputOver = true;
    this.#awaitQuiet();
  }

  resize(size: ScreenSize): void {
    void this.#say('resize', { props: sizeProps(size) });
  }

  /** The screen takes bytes again. */
  drained(): void {
    this.#socket?.resume();
  }

  /** Ends the shell and the connection. */
  async stop(): Promise<void> {
    this.#quiet?.cancel();
    // A connection that takes nothing any more must not keep whoever leaves.
    await Promise.race([this.#say('stop', {}), this.#options.clock.sleep(LEAVE_MAX_MS)]);
    this.#end({});
    this.#socket?.close();
  }

  async #begin(): Promise<void> {
    const started = new Promise<string | undefined>((resolve) => {
      this.#started = resolve;
    });
    this.#socket = await OperatorSocket.open(this.#options, {
      message: (message) => this.#take(message),
      closed: (cause) => this.#finish(cause),
    });
    await this.#say('new', { props: sizeProps(this.#screen.size) });
    const waitMs = limits.connectReplyMaxSeconds * 1000;
    const timer = this.#options.clock.after(waitMs, () =>
      this.#started(`the device did not respond for ${limits.connectReplyMaxSeconds} seconds`),
    );
    const fault = await started;
    timer.cancel();
    if (fault === undefined) return;
    this.#socket.close();
    throw new ShellRefused(fault);
  }

  #take(message: ConnectMessage): void {
    if (this.#isInputOver) this.#awaitQuiet();
    if (message.proto === shell) this.#takeShell(message);
    else if (message.proto === control) this.#takeControl(message);
  }

  #takeShell(message: ConnectMessage): void {
    const { typ, body = new Uint8Array(), props } = message;
    const hasFailed = props?.status === STATUS_ERROR;
    if (typ === 'ping') void this.#say('pong', {});
    else if (typ === 'stop') this.#finish(hasFailed ? textOf(message) : undefined);
    else if (hasFailed) this.#finish(textOf(message) || `${typ} failed`);
    else if (typ === 'new') this.#begun(message);
    else if (typ === 'shell' && !this.#screen.show(body)) this.#socket?.pause();
  }

  #takeControl(message: ConnectMessage): void {
    if (message.typ === 'ping') void this.#socket?.send({ ...message, typ: 'pong' });
    else if (message.typ === 'close') this.#finish('the device has closed the session');
    else if (message.typ === 'error') this.#takeError(message);
  }

  /** Before there is a shell, any error is the answer to the wish for one. */
  #takeError(message: ConnectMessage): void {
    const { err, close } = errorIn(message);
    if (close || this.#sid === undefined) this.#finish(err);
    else this.#screen.note(err);
  }

  #begun({ sid = '' }: ConnectMessage): void {
    this.#sid = sid;
    this.#started();
  }

  #finish(fault?: string): void {
    this.#started(fault ?? 'the shell ended before it had started');
    this.#quiet?.cancel();
    this.#end(fault === undefined ? {} : { fault });
    this.#socket?.close();
  }

  #awaitQuiet(): void {
    this.#quiet?.cancel();
    this.#quiet = this.#options.clock.after(QUIET_MAX_MS, () => void this.stop());
  }

  async #say(typ: string, rest: Pick<ConnectMessage, 'props' | 'body'>): Promise<void> {
    const sid = this.#sid === undefined ? {} : { sid: this.#sid };
    await this.#socket?.send({ proto: shell, typ, ...sid, ...rest });
  }
}

function sizeProps({ height, width }: ScreenSize): Record<string, unknown> {
  return { terminal_height: height, terminal_width: width };
}

function textOf({ body }: ConnectMessage): string {
  return Buffer.from(body ?? '').toString();
}

function errorIn({ body }: ConnectMessage): { readonly err: string; readonly close: boolean } {
  try {
    const { err, close = false } = decodeBody(connectErrorShape, body);
    return { err, close };
  } catch (error) {
    if (!(error instanceof ConnectMessageError)) throw error;
    return { err: `an error that cannot be read: ${error.message}`, close: false };
  }
}
