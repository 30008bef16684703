/**
 * The user's side of a remote shell: sends keystrokes, and receives bytes for the screen.
 * Spec: Device connect
 */
import type { Timer } from '../../../fixtures/base/clock.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import { connectErrorShape, decodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import { UserSocket, type UserSocketOptions } from './user-socket.ts';

/** Screen size in characters. */
export interface ScreenSize {
  readonly height: number;
  readonly width: number;
}

/** The screen on which the shell is shown. */
export interface ShellScreen {
  readonly size: ScreenSize;
  /** Shows the bytes unchanged. Returns false when the caller should wait for `resumeOutput`. */
  show(bytes: Uint8Array): boolean;
  /** Shows a note about the connection. */
  note(text: string): void;
}

/** The end of a shell: an empty object for a clean end, or an error described in one sentence. */
interface ShellEnd {
  readonly error?: string;
}

/** The shell did not start; the message has the reason given by the device or by the server. */
export class ShellRefused extends Error {
  override readonly name = 'ShellRefused';
}

const { shell, control } = connectProtocols;
const STATUS_ERROR = 2;
/**
 * Limit on keystroke bytes per message, so that a message with its header is small enough for a
 * device.
 */
const KEYS_MAX_BYTES = 4096;
const CONTROL_D = Buffer.from([0x04]);
/** How long a shell may stay silent after the end of input before it is stopped. */
const IDLE_MAX_MS = 30_000;
const LEAVE_MAX_MS = 2000;

/** A shell on a device, from its start to its end. */
export class RemoteShell {
  readonly #screen: ShellScreen;
  readonly #options: UserSocketOptions;
  #socket: UserSocket | undefined;
  #sid: string | undefined;
  #started: (error?: string) => void = () => undefined;
  #end: (end: ShellEnd) => void = () => undefined;
  #idleTimer: Timer | undefined;
  #isInputOver = false;
  /** Resolves once the shell has ended. Never rejects. */
  readonly ended: Promise<ShellEnd>;

  private constructor(options: UserSocketOptions, screen: ShellScreen) {
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
  static async start(options: UserSocketOptions, screen: ShellScreen): Promise<RemoteShell> {
    const remote = new RemoteShell(options, screen);
    await remote.#begin();
    return remote;
  }

  /** Sends keystrokes; resolves once they are sent. */
  async type(keys: Uint8Array): Promise<void> {
    for (let at = 0; at < keys.length; at += KEYS_MAX_BYTES) {
      await this.#say('shell', { body: keys.subarray(at, at + KEYS_MAX_BYTES) });
    }
  }

  /** Signals the end of input. A shell that does not exit then is stopped once it is idle. */
  async endInput(): Promise<void> {
    await this.type(CONTROL_D);
    this.#isInputOver = true;
    this.#stopWhenIdle();
  }

  resize(size: ScreenSize): void {
    void this.#say('resize', { props: sizeProps(size) });
  }

  /** Resumes output after the screen has drained. */
  resumeOutput(): void {
    this.#socket?.resume();
  }

  /** Ends the shell and the connection. */
  async stop(): Promise<void> {
    this.#idleTimer?.cancel();
    // A stalled connection must not prevent the user from leaving.
    await Promise.race([this.#say('stop', {}), this.#options.clock.sleep(LEAVE_MAX_MS)]);
    this.#end({});
    this.#socket?.close();
  }

  async #begin(): Promise<void> {
    const shellStart = new Promise<string | undefined>((resolve) => {
      this.#started = resolve;
    });
    this.#socket = await UserSocket.open(this.#options, {
      message: (message) => this.#receive(message),
      onClose: (cause) => this.#finish(cause),
    });
    await this.#say('new', { props: sizeProps(this.#screen.size) });
    const waitMs = limits.connectReplyMaxSeconds * 1000;
    const timer = this.#options.clock.after(waitMs, () =>
      this.#started(`the device did not respond for ${limits.connectReplyMaxSeconds} seconds`),
    );
    const error = await shellStart;
    timer.cancel();
    if (error === undefined) return;
    this.#socket.close();
    throw new ShellRefused(error);
  }

  #receive(message: ConnectMessage): void {
    if (this.#isInputOver) this.#stopWhenIdle();
    if (message.proto === shell) this.#receiveShell(message);
    else if (message.proto === control) this.#receiveControl(message);
  }

  #receiveShell(message: ConnectMessage): void {
    const { typ, body = new Uint8Array(), props } = message;
    const hasFailed = props?.status === STATUS_ERROR;
    if (typ === 'ping') void this.#say('pong', {});
    else if (typ === 'stop') this.#finish(hasFailed ? textOf(message) : undefined);
    else if (hasFailed) this.#finish(textOf(message) || `${typ} failed`);
    else if (typ === 'new') this.#receiveStart(message);
    else if (typ === 'shell' && !this.#screen.show(body)) this.#socket?.pause();
  }

  #receiveControl(message: ConnectMessage): void {
    if (message.typ === 'ping') void this.#socket?.send({ ...message, typ: 'pong' });
    else if (message.typ === 'close') this.#finish('the device closed the session');
    else if (message.typ === 'error') this.#receiveError(message);
  }

  /**
   * Handles an error message. Before the shell has started, any error is the reply to the request
   * for a shell.
   */
  #receiveError(message: ConnectMessage): void {
    const { err, close } = errorIn(message);
    if (close || this.#sid === undefined) this.#finish(err);
    else this.#screen.note(err);
  }

  #receiveStart({ sid = '' }: ConnectMessage): void {
    this.#sid = sid;
    this.#started();
  }

  #finish(error?: string): void {
    this.#started(error ?? 'the shell ended before it started');
    this.#idleTimer?.cancel();
    this.#end(error === undefined ? {} : { error });
    this.#socket?.close();
  }

  #stopWhenIdle(): void {
    this.#idleTimer?.cancel();
    this.#idleTimer = this.#options.clock.after(IDLE_MAX_MS, () => void this.stop());
  }

  async #say(typ: string, fields: Pick<ConnectMessage, 'props' | 'body'>): Promise<void> {
    const sid = this.#sid === undefined ? {} : { sid: this.#sid };
    await this.#socket?.send({ proto: shell, typ, ...sid, ...fields });
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
    return { err: `an unreadable error message: ${error.message}`, close: false };
  }
}
