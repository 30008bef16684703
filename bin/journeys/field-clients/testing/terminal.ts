/**
 * The user's end of a WebSocket to a device: separates the output of the shell from other messages.
 */
import { once } from 'node:events';
import type { WebSocket } from 'ws';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import {
  type ConnectMessage,
  connectProtocols,
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../../../fixtures/formats/connect-message.ts';

const { shell } = connectProtocols;
const RESPONSE_MAX_MS = 20_000;
const PROMPT_MAX_MS = 3000;
const SHELLS_MAX = 5;
const prompt = /[$#] $/;

/** A terminal over an open socket. */
export class Terminal {
  /** Output of the shell since the last line was typed. */
  output = '';
  readonly #socket: WebSocket;
  readonly #responses: ConnectMessage[] = [];

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const message = decodeConnectMessage(data as Buffer);
      const isOutput = message.proto === shell && message.typ === 'shell';
      if (isOutput && message.props?.status === 1) this.output += textOf(message);
      else this.#responses.push(message);
    });
  }

  say(message: ConnectMessage): void {
    this.#socket.send(encodeConnectMessage(message));
  }

  /** Returns the next message that is not output. @throws Error when none arrives in time */
  async answer(): Promise<ConnectMessage> {
    await this.#until(() => this.#responses.length > 0, RESPONSE_MAX_MS);
    const response = this.#responses.shift();
    if (!response)
      throw new Error(`no response came; the shell showed ${JSON.stringify(this.output)}`);
    return response;
  }

  ask(message: ConnectMessage): Promise<ConnectMessage> {
    this.say(message);
    return this.answer();
  }

  /**
   * Starts a shell and waits for its prompt. `mender-connect` 2.1.0 sometimes starts a shell and
   * never reads its output; such a shell is stopped, and another one started.
   * @throws Error when a shell is refused, or when no shell shows a prompt
   */
  async openShell(): Promise<void> {
    for (let shells = 0; shells < SHELLS_MAX; shells += 1) {
      this.output = '';
      const props = { terminal_width: 80, terminal_height: 24 };
      const reply = await this.ask({ proto: shell, typ: 'new', props });
      if (reply.props?.status !== 1) throw new Error(`no shell: ${textOf(reply)}`);
      if (await this.#until(() => prompt.test(this.output), PROMPT_MAX_MS)) return;
      await this.ask({ proto: shell, typ: 'stop' });
    }
    throw new Error(`none of ${SHELLS_MAX} shells showed a prompt`);
  }

  /** Types a line, and returns the output of the shell up to its next prompt. */
  async type(line: string): Promise<string> {
    this.output = '';
    this.say({ proto: shell, typ: 'shell', body: Buffer.from(`${line}\n`) });
    await this.#until(
      () => this.output.includes('\n') && prompt.test(this.output),
      RESPONSE_MAX_MS,
    );
    return this.output;
  }

  /** Disconnects without notifying the device. */
  async close(): Promise<void> {
    const close = once(this.#socket, 'close');
    this.#socket.close();
    await close;
  }

  /**
   * Checks the condition after every message. Resolves with false when the time is over or the
   * socket closes.
   */
  async #until(isThere: () => boolean, withinMs: number): Promise<boolean> {
    const waitEnd = new AbortController();
    const { signal } = waitEnd;
    const giveUp = (): void => waitEnd.abort();
    const deadline = systemClock.after(withinMs, giveUp);
    this.#socket.on('close', giveUp);
    try {
      while (!isThere() && !signal.aborted) await nextMessage(this.#socket, signal);
      return isThere();
    } finally {
      deadline.cancel();
      this.#socket.off('close', giveUp);
    }
  }
}

/** Resolves with the next message, or when the signal aborts. */
function nextMessage(socket: WebSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      socket.off('message', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    socket.on('message', finish);
    signal.addEventListener('abort', finish);
  });
}

/** Returns the body of a message as text. */
export function textOf({ body }: ConnectMessage): string {
  return Buffer.from(body ?? []).toString();
}
