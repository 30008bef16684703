import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { LocalTerminal } from './local-terminal.ts';

/** Streams like those of a process; a terminal's streams record their calls. */
function streamsOf(isTTY: boolean) {
  const modes: boolean[] = [];
  const terminal = isTTY
    ? { isTTY, setRawMode: (isRaw: boolean) => void modes.push(isRaw) }
    : { isTTY: undefined };
  const stdin = Object.assign(new PassThrough(), terminal);
  const size: { columns?: number | undefined; rows?: number | undefined } = {};
  const stdout = Object.assign(new PassThrough({ highWaterMark: 8 }), size);
  return { stdin, stdout, stderr: new PassThrough(), modes };
}

/** The calls to the remote shell, in order. */
class Keyboard {
  readonly calls: string[] = [];
  #waiting: (() => void) | undefined;

  async type(keys: Uint8Array): Promise<void> {
    this.#record(`type ${JSON.stringify(Buffer.from(keys).toString())}`);
  }

  async endInput(): Promise<void> {
    this.#record('end');
  }

  resize({ height, width }: { readonly height: number; readonly width: number }): void {
    this.#record(`resize ${height} ${width}`);
  }

  resumeOutput(): void {
    this.#record('resumeOutput');
  }

  /** Resolves after this many calls to the remote shell. */
  async until(count: number): Promise<string[]> {
    while (this.calls.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    return this.calls;
  }

  #record(call: string): void {
    this.calls.push(call);
    this.#waiting?.();
  }
}

function joinTerminal(isTTY: boolean) {
  const streams = streamsOf(isTTY);
  const local = new LocalTerminal(streams);
  const keyboard = new Keyboard();
  return { ...streams, local, keyboard, left: local.join(keyboard) };
}

describe('a terminal joined with a remote shell', () => {
  it('sends each key immediately, including Ctrl-C, and shows bytes unchanged', async () => {
    const { stdin, stdout, keyboard, local } = joinTerminal(true);
    stdin.write('a\x03\x1b[A');
    expect(await keyboard.until(1)).toEqual(['type "a\\u0003\\u001b[A"']);
    local.show(Buffer.from('\x1b[31m\xff', 'latin1'));
    expect(stdout.read()).toEqual(Buffer.from('\x1b[31m\xff', 'latin1'));
    local.restore();
  });

  it('is in raw mode while joined, and restored afterwards', () => {
    const { modes, local } = joinTerminal(true);
    expect(modes).toEqual([true]);
    local.restore();
    expect(modes).toEqual([true, false]);
    local.restore();
    expect(modes).toEqual([true, false]);
  });

  it('is restored even when the process ends while it is joined', () => {
    const listenersBefore = process.listeners('exit');
    const { modes, local } = joinTerminal(true);
    const [added] = process.listeners('exit').filter((each) => !listenersBefore.includes(each));
    added?.(0);
    expect(modes).toEqual([true, false]);
    local.restore();
    expect(process.listeners('exit')).toEqual(listenersBefore);
  });

  it('is left by Ctrl-] after the keys before it have been sent', async () => {
    const { stdin, keyboard, left, local } = joinTerminal(true);
    stdin.write('bye\x1dnever');
    await left;
    expect(keyboard.calls).toEqual(['type "bye"']);
    local.restore();
  });

  it('reports its size and each change of its size', async () => {
    const { stdout, keyboard, local } = joinTerminal(true);
    expect(local.size).toEqual({ height: 40, width: 80 });
    Object.assign(stdout, { rows: 50, columns: 132 });
    stdout.emit('resize');
    expect(await keyboard.until(1)).toEqual(['resize 50 132']);
    Object.assign(stdout, { rows: 0, columns: 0 });
    expect(local.size).toEqual({ height: 40, width: 80 });
    local.restore();
  });

  it('reports when its output is full, and when it has drained', async () => {
    const { stdout, keyboard, local } = joinTerminal(true);
    expect(local.show(Buffer.alloc(100))).toBe(false);
    stdout.resume();
    expect(await keyboard.until(1)).toEqual(['resumeOutput']);
    local.restore();
  });

  it('shows notes about the connection on standard error, with control characters escaped', () => {
    const { stderr, stdout, local } = joinTerminal(true);
    local.note('too \x1b[2Jlong');
    expect(String(stderr.read())).toBe('\r\ntoo \\u{1b}[2Jlong\r\n');
    expect(stdout.read()).toBeNull();
    local.restore();
  });

  it('releases its streams at the end', () => {
    const { stdin, stdout, keyboard, local } = joinTerminal(true);
    local.restore();
    stdin.write('x');
    stdout.emit('resize');
    stdout.emit('drain');
    expect(keyboard.calls).toEqual([]);
    expect(stdin.isPaused()).toBe(true);
  });
});

describe('input that is not a terminal', () => {
  it.each([
    ['pwd\n', ['type "pwd\\n"', 'end']],
    ['pwd', ['type "pwd"', 'type "\\n"', 'end']],
    ['a\x1db\n', ['type "a\\u001db\\n"', 'end']],
    ['', ['end']],
  ])('reads %j to the end of its last line', async (text, calls) => {
    const { stdin, keyboard, modes, local } = joinTerminal(false);
    stdin.end(text);
    expect(await keyboard.until(calls.length)).toEqual(calls);
    expect(modes).toEqual([]);
    local.restore();
  });

  it('is read no faster than it can be sent', async () => {
    const { stdin, keyboard, local } = joinTerminal(false);
    let sent: () => void = () => undefined;
    keyboard.type = (keys) => {
      keyboard.calls.push(String(keys));
      return new Promise((resolve) => {
        sent = resolve;
      });
    };
    stdin.write('one');
    while (keyboard.calls.length < 1) await new Promise((resolve) => setImmediate(resolve));
    expect(stdin.isPaused()).toBe(true);
    stdin.write('two');
    expect(keyboard.calls).toEqual(['one']);
    sent();
    while (keyboard.calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(keyboard.calls).toEqual(['one', 'two']);
    sent();
    local.restore();
  });

  it('fails when the keys cannot be sent', async () => {
    const { stdin, keyboard, left, local } = joinTerminal(false);
    keyboard.type = () => Promise.reject(new Error('gone'));
    stdin.write('x');
    await expect(left).rejects.toThrow('gone');
    local.restore();
  });
});
