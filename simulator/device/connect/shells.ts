/**
 * The remote shells of one device: which user owns each, how many may be open, and when they time
 * out.
 * Spec: Device connect
 */
import type { Clock } from '../../../fixtures/base/clock.ts';
import { valueText } from '../../../fixtures/base/value-text.ts';
import {
  type ConnectMessage,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import type { DeviceDescription } from './connect-environment.ts';
import type { DeviceFiles } from './files.ts';
import { messageChunks, messageStatuses, textProp } from './replies.ts';
import { DeviceShell, type TerminalSize } from './terminal.ts';

/** Limits that match the defaults of real devices. */
const shellLimits = {
  perUserMax: 1,
  perDeviceMax: 16,
  idleMaxSeconds: 600,
  pingEverySeconds: 60,
  /** Time limit for the reply to a ping. */
  pongMaxSeconds: 5,
} as const;

interface Shell {
  readonly sid: string;
  readonly userId: string;
  readonly terminal: DeviceShell;
  /** Monotonic time of the user's last typed input. */
  activeMs: number;
  pingedMs: number;
  /** Monotonic time of the last pong from the user's side, or of the shell's start. */
  pongMs: number;
}

type ShellMessages = readonly ConnectMessage[];

const defaultSize: TerminalSize = { height: 40, width: 80 };
const SIZE_MAX = 0xffff;
const MS = 1000;

/** All shells of a device, by session ID. */
export class Shells {
  readonly #context: { clock: Clock; facts: DeviceDescription; files: DeviceFiles };
  readonly #shells = new Map<string, Shell>();
  readonly #kinds = new Map<string | undefined, (message: ConnectMessage) => ShellMessages>([
    ['new', (message) => this.#spawn(message)],
    ['shell', (message) => this.#type(message)],
    ['resize', (message) => this.#resize(message)],
    ['stop', (message) => this.#stop(message)],
    ['ping', (message) => this.#ping(message)],
    ['pong', (message) => this.#pong(message)],
  ]);

  constructor(context: { clock: Clock; facts: DeviceDescription; files: DeviceFiles }) {
    this.#context = context;
  }

  respond(message: ConnectMessage): ShellMessages {
    const kind = this.#kinds.get(message.typ);
    if (kind !== undefined) return kind(message);
    return [failure(message, `unknown message type '${message.typ ?? ''}'`)];
  }

  /**
   * Returns the messages that are due: pings, and closes of shells that are idle or unresponsive.
   */
  due(): ShellMessages {
    const nowMs = this.#nowMs();
    return [...this.#shells.values()].flatMap((shell) => this.#dueOf(shell, nowMs));
  }

  /** Removes the shell of a session without sending a message. */
  drop(sid: string): void {
    this.#shells.delete(sid);
  }

  #dueOf(shell: Shell, nowMs: number): ShellMessages {
    const { idleMaxSeconds, pingEverySeconds, pongMaxSeconds } = shellLimits;
    if (nowMs - shell.activeMs > idleMaxSeconds * MS) return this.#expire(shell, 'session expired');
    if (nowMs - shell.pongMs > (pingEverySeconds + pongMaxSeconds) * MS) {
      return this.#expire(shell, 'health check failed: no pong came in time');
    }
    if (nowMs - shell.pingedMs < pingEverySeconds * MS) return [];
    shell.pingedMs = nowMs;
    const timeout = pingEverySeconds + pongMaxSeconds;
    return [
      { ...headerOf(shell), typ: 'ping', props: { status: messageStatuses.control, timeout } },
    ];
  }

  #expire(shell: Shell, reason: string): ShellMessages {
    this.#shells.delete(shell.sid);
    return [stopMessage(shell, messageStatuses.error, reason)];
  }

  #spawn(message: ConnectMessage): ShellMessages {
    const sid = message.sid ?? '';
    const userId = textProp(message, 'user_id') ?? '';
    const refusal = this.#refusal(sid, userId);
    if (refusal !== undefined) return [failure(message, refusal)];
    const terminal = new DeviceShell(this.#context, sizeIn(message) ?? defaultSize);
    const nowMs = this.#nowMs();
    const times = { activeMs: nowMs, pingedMs: nowMs, pongMs: nowMs };
    const shell = { sid, userId, terminal, ...times };
    this.#shells.set(sid, shell);
    const startMessage = {
      ...headerOf(shell),
      typ: 'new',
      props: { status: messageStatuses.normal },
    };
    return [
      { ...startMessage, body: Buffer.from('Shell started') },
      ...screen(shell, terminal.begin()),
    ];
  }

  #refusal(sid: string, userId: string): string | undefined {
    const { perDeviceMax, perUserMax } = shellLimits;
    if (this.#shells.size >= perDeviceMax) return 'too many shells spawned';
    if (this.#shells.has(sid)) return 'failed to start shell: shell is already running';
    const userShells = [...this.#shells.values()].filter((shell) => shell.userId === userId);
    return userShells.length >= perUserMax ? 'user has too many open sessions' : undefined;
  }

  #type(message: ConnectMessage): ShellMessages {
    return this.#with(message, (shell) => {
      shell.activeMs = this.#nowMs();
      const screenMessages = screen(shell, shell.terminal.type(message.body ?? new Uint8Array()));
      if (!shell.terminal.hasEnded) return screenMessages;
      this.#shells.delete(shell.sid);
      return [...screenMessages, stopMessage(shell, messageStatuses.normal)];
    });
  }

  #resize(message: ConnectMessage): ShellMessages {
    return this.#with(message, (shell) => {
      const size = sizeIn(message);
      if (size === undefined)
        return [failure(message, 'terminal_height or terminal_width is missing or invalid')];
      shell.terminal.resize(size);
      return [];
    });
  }

  /** Ends the shell of a session. A message without a session ID ends all shells of its user. */
  #stop(message: ConnectMessage): ShellMessages {
    if (message.sid !== undefined) {
      return this.#with(message, (shell) => {
        this.#shells.delete(shell.sid);
        return [stopMessage(shell, messageStatuses.normal)];
      });
    }
    const userId = textProp(message, 'user_id');
    const userShells = [...this.#shells.values()].filter((shell) => shell.userId === userId);
    if (userShells.length === 0) return [failure(message, 'session not found')];
    for (const { sid } of userShells) this.#shells.delete(sid);
    return userShells.map((shell) => stopMessage(shell, messageStatuses.normal));
  }

  #ping(message: ConnectMessage): ShellMessages {
    return this.#with(message, (shell) => {
      const props = { status: messageStatuses.control };
      return [{ ...headerOf(shell), typ: 'pong', props }];
    });
  }

  #pong(message: ConnectMessage): ShellMessages {
    return this.#with(message, (shell) => {
      shell.pongMs = this.#nowMs();
      return [];
    });
  }

  #with(message: ConnectMessage, callback: (shell: Shell) => ShellMessages): ShellMessages {
    const shell = this.#shells.get(message.sid ?? '');
    return shell === undefined ? [failure(message, 'session not found')] : callback(shell);
  }

  #nowMs(): number {
    return this.#context.clock.monotonicMs();
  }
}

function headerOf({ sid }: Shell): { readonly proto: number; readonly sid: string } {
  return { proto: connectProtocols.shell, sid };
}

/** Builds the message that reports the end of a shell. */
function stopMessage(shell: Shell, status: number, reason = ''): ConnectMessage {
  const props = { status, user_id: shell.userId };
  return { ...headerOf(shell), typ: 'stop', props, body: Buffer.from(reason) };
}

/** Builds the messages that carry a shell's output to the user's terminal. */
function screen(shell: Shell, bytes: Buffer): ShellMessages {
  const props = { status: messageStatuses.normal };
  return messageChunks(bytes).map((body) => ({ ...headerOf(shell), typ: 'shell', props, body }));
}

/** Builds an error message with the type and the session of the request. */
function failure({ proto, typ = '', sid = '' }: ConnectMessage, reason: string): ConnectMessage {
  const props = { status: messageStatuses.error };
  return { proto, typ, sid, props, body: Buffer.from(reason) };
}

/** Returns the terminal size that a message requests; undefined when it is missing or invalid. */
function sizeIn({ props = {} }: ConnectMessage): TerminalSize | undefined {
  const height = Number(valueText(props.terminal_height));
  const width = Number(valueText(props.terminal_width));
  const isSize = [height, width].every(
    (each) => Number.isInteger(each) && each > 0 && each <= SIZE_MAX,
  );
  return isSize ? { height, width } : undefined;
}
