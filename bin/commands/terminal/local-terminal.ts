/**
 * Connects the user's terminal to a remote shell: sends every key, and shows every byte unchanged.
 * This is the only place where output of a device reaches a terminal unescaped.
 */
import type { Readable, Writable } from 'node:stream';
import { printable } from '../../../fixtures/base/printable.ts';
import type { RemoteShell, ScreenSize, ShellScreen } from './remote-shell.ts';

/** The members of a process's standard streams that a terminal needs. */
export interface LocalStreams {
  readonly stdin: Readable & {
    readonly isTTY?: boolean | undefined;
    setRawMode?(isRaw: boolean): unknown;
  };
  readonly stdout: Writable & {
    readonly columns?: number | undefined;
    readonly rows?: number | undefined;
  };
  readonly stderr: Writable;
}

type Keyboard = Pick<RemoteShell, 'type' | 'endInput' | 'resize' | 'resumeOutput'>;

/** The key that leaves the shell: Ctrl-], as in telnet. */
const LEAVE_KEY = 0x1d;
const NEWLINE = 0x0a;
/** The screen size when the output does not go to a terminal. */
const defaultSize: ScreenSize = { height: 40, width: 80 };

/** The terminal of the user. It connects once; `restore` resets it. */
export class LocalTerminal implements ShellScreen {
  readonly #streams: LocalStreams;
  readonly #undo: (() => void)[] = [];
  /** True when the input is a terminal, where keys arrive one by one. */
  readonly isInteractive: boolean;

  constructor(streams: LocalStreams) {
    this.#streams = streams;
    this.isInteractive = streams.stdin.isTTY === true;
  }

  get size(): ScreenSize {
    const { rows = defaultSize.height, columns = defaultSize.width } = this.#streams.stdout;
    return { height: rows || defaultSize.height, width: columns || defaultSize.width };
  }

  show(bytes: Uint8Array): boolean {
    return this.#streams.stdout.write(bytes);
  }

  note(text: string): void {
    this.#streams.stderr.write(`\r\n${printable(text)}\r\n`);
  }

  /** Sends keys until the input ends. Resolves when the user leaves with Ctrl-]. */
  join(keyboard: Keyboard): Promise<void> {
    const { stdin, stdout } = this.#streams;
    this.#listen(stdout, 'drain', () => keyboard.resumeOutput());
    this.#listen(stdout, 'resize', () => keyboard.resize(this.size));
    if (this.isInteractive) this.#setRaw();
    let last: number | undefined;
    return new Promise((resolve, reject) => {
      this.#listen(stdin, 'data', (chunk) => {
        const keys = Buffer.from(chunk);
        const end = this.isInteractive ? keys.indexOf(LEAVE_KEY) : -1;
        last = keys.at(-1);
        stdin.pause();
        keyboard
          .type(end < 0 ? keys : keys.subarray(0, end))
          .then(() => (end < 0 ? stdin.resume() : resolve()), reject);
      });
      this.#listen(stdin, 'end', () => {
        void this.#endInput(keyboard, last).catch(reject);
      });
      stdin.resume();
    });
  }

  /** Detaches from the streams, and takes a terminal out of raw mode. */
  restore(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
    this.#streams.stdin.pause();
  }

  /** Ends the input of the shell; a last line without a newline gets one. */
  async #endInput(keyboard: Keyboard, last: number | undefined): Promise<void> {
    if (last !== undefined && last !== NEWLINE) await keyboard.type(Buffer.from([NEWLINE]));
    await keyboard.endInput();
  }

  #setRaw(): void {
    const { stdin } = this.#streams;
    stdin.setRawMode?.(true);
    const restore = (): void => void stdin.setRawMode?.(false);
    // However the process ends, the terminal must leave raw mode.
    process.once('exit', restore);
    this.#undo.push(() => {
      process.off('exit', restore);
      restore();
    });
  }

  #listen(stream: Readable | Writable, event: string, listener: (chunk: Buffer) => void): void {
    stream.on(event, listener);
    this.#undo.push(() => stream.off(event, listener));
  }
}
