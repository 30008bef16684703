/** Runs a command on a pseudo-terminal, types into it, and returns the final screen. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../../dist/bin/fleetbed.js', import.meta.url));

/**
 * A Python program, because Node has no pseudo-terminals. It ends a command that hangs after a
 * minute.
 */
const typist = `
import fcntl, json, os, pty, signal, struct, sys, termios
signal.alarm(60)
columns, rows, keys, words = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
shown = b''
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    if keys and keys[0][0].encode() in shown:
        os.write(terminal, keys.pop(0)[1].encode())
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

/** The character that a terminal sends for Ctrl-C. */
export const CTRL_C = '\u0003';

/** Size, input and environment of a terminal. */
export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  /** Texts to wait for, each with the keys typed once it is shown. */
  readonly keys?: readonly (readonly [string, string])[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs `fleetbed` with these arguments to its end. */
export function runOnTerminal(args: readonly string[], options?: TerminalOptions) {
  return programOnTerminal([process.execPath, command, ...args], options);
}

/** Runs any program with its arguments to its end. */
export async function programOnTerminal(args: readonly string[], options: TerminalOptions = {}) {
  const { columns = 80, rows = 24, keys = [], environment = {} } = options;
  const typistInput = JSON.stringify([columns, rows, keys, args]);
  const { NO_COLOR: _, ...childEnvironment } = process.env;
  const env = { ...childEnvironment, TERM: 'xterm-256color', ...environment };
  const child = spawn('python3', ['-c', typist, typistInput], { env });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (complaints !== '') throw new Error(complaints);
  const output = Buffer.concat(chunks).toString();
  return { code, written: output, screen: screenOf(output) };
}

const ESCAPE = '\u001b';
const sequence = new RegExp(
  `${ESCAPE}\\[(\\??)(\\d*)([A-Za-z])|([\\r\\n])|([^${ESCAPE}\\r\\n]+)`,
  'g',
);

/** Returns the screen of a terminal that never scrolls, and whether its cursor is visible. */
export function screenOf(written: string): {
  readonly lines: readonly string[];
  readonly cursorShown: boolean;
} {
  const lines: string[] = [];
  let row = 0;
  let column = 0;
  let cursorShown = true;
  const putText = (text: string): void => {
    const line = (lines[row] ?? '').padEnd(column);
    lines[row] = line.slice(0, column) + text + line.slice(column + text.length);
    column += text.length;
  };
  const moves: Readonly<Record<string, (count: number) => void>> = {
    A: (count) => {
      row = Math.max(0, row - count);
    },
    B: (count) => {
      row += count;
    },
    G: (count) => {
      column = count - 1;
    },
    K: () => {
      lines[row] = (lines[row] ?? '').slice(0, column);
    },
  };
  for (const [, mark, digits = '', letter = '', control, text] of written.matchAll(sequence)) {
    if (text !== undefined) putText(text);
    else if (control === '\r') column = 0;
    else if (control === '\n') row++;
    else if (mark === '?' && digits === '25') cursorShown = letter === 'h';
    else if (letter === 'K' && digits === '2') lines[row] = '';
    else if (mark === '') moves[letter]?.(Number(digits || 1));
  }
  return { lines: Array.from(lines, (line = '') => line.trimEnd()), cursorShown };
}
