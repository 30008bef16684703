/** One run of a hook: a child process that reads and writes JSON, with bounded time and output. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** Limit of standard output; a response is a few fields. */
const OUTPUT_MAX_BYTES = 1_048_576;
/** Limit of standard error; the last characters are kept. */
const STDERR_MAX_CHARACTERS = 4096;

/** The output and exit code of a hook. */
export interface HookOutcome {
  readonly code: number;
  readonly output: string;
  /** The last characters of the standard error of the hook. */
  readonly stderr: string;
}

/** A hook did not finish; the message gives the reason and its standard error. */
export class HookEnded extends Error {
  constructor(message: string, stderr: string, cause?: unknown) {
    super(stderr === '' ? message : `${message}: ${stderr}`, { cause });
    this.name = 'HookEnded';
  }
}

export interface HookRun {
  readonly command: readonly string[];
  readonly folder: string;
  readonly input: string;
  /** Kills the hook and everything that it started. */
  readonly signal: AbortSignal;
}

/** Runs a command without a shell. @throws HookEnded, or the reason of the signal */
export async function runHook({ command, folder, input, signal }: HookRun): Promise<HookOutcome> {
  const [program = '', ...args] = command;
  signal.throwIfAborted();
  // Its own process group, so that processes started by the hook end with it.
  const child = spawn(program, args, { cwd: folder, stdio: 'pipe', detached: true });
  const kill = (): void => killGroup(child);
  signal.addEventListener('abort', kill, { once: true });
  try {
    return await outcomeOf(child, input, signal);
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

async function outcomeOf(
  child: ChildProcess & { readonly stdout: Readable; readonly stderr: Readable },
  input: string,
  signal: AbortSignal,
): Promise<HookOutcome> {
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_MAX_CHARACTERS);
  });
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > OUTPUT_MAX_BYTES) killGroup(child);
    else chunks.push(chunk);
  });
  // A hook may close its standard input without reading it.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const { code, error } = await exitOf(child);
  signal.throwIfAborted();
  if (error) throw new HookEnded(`it could not be started: ${error.message}`, stderr, error);
  if (length > OUTPUT_MAX_BYTES) {
    throw new HookEnded(`it wrote more than ${OUTPUT_MAX_BYTES} bytes`, stderr);
  }
  if (code === null) throw new HookEnded('it was killed by a signal', stderr);
  return { code, output: Buffer.concat(chunks).toString('utf8'), stderr: stderr.trim() };
}

function exitOf(child: ChildProcess): Promise<{ code: number | null; error?: Error }> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, error }));
    child.once('close', (code) => resolve({ code }));
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group has no process left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
