/**
 * Keeps a second simulator away from a folder or a file: a lock file with the process ID. A lock
 * left by a killed process is taken over.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import * as v from 'valibot';
import { fileFault, StateError } from './state-error.ts';

const holderShape = v.object({
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  host: v.string(),
  /**
   * When the process started, in system ticks; distinguishes it from a later one with the same ID.
   */
  started: v.optional(v.string()),
});
/** A process and its host. */
export type Holder = v.InferOutput<typeof holderShape>;

const OWNER_ONLY = 0o600;
/** Attempts to take a lock over while others try the same. */
const TRIES_MAX = 3;

/** A lock that is held until it is released or its process ends. */
export interface Lock {
  release(): void;
}

/**
 * Takes a lock.
 * @param what is locked, for the error message, such as `the state folder x`
 * @throws StateError when another process holds it
 */
export function takeLock(file: string, what: string): Lock {
  for (let attempt = 1; ; attempt++) {
    if (wasCreated(file, what)) return { release: () => rmSync(file, { force: true }) };
    const holder = holderOf(file);
    if (holder === undefined || isAlive(holder) || attempt === TRIES_MAX) {
      throw new StateError(refusal(holder, { file, what }));
    }
    rmSync(file, { force: true });
  }
}

function wasCreated(file: string, what: string): boolean {
  try {
    const lock = openSync(file, 'wx', OWNER_ONLY);
    writeSync(lock, JSON.stringify(ownHolder()));
    closeSync(lock);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw fileFault(`cannot use ${what}`, error);
  }
}

/** Undefined when the holder is unknown, as in a file that is just being written. */
function holderOf(file: string): Holder | undefined {
  try {
    const read = v.safeParse(holderShape, JSON.parse(readFileSync(file, 'utf8')));
    return read.success ? read.output : undefined;
  } catch {
    return undefined;
  }
}

function refusal(
  holder: Holder | undefined,
  { file, what }: { readonly file: string; readonly what: string },
): string {
  const who = holder
    ? `process ${holder.pid}${holder.host === hostname() ? '' : ` on ${holder.host}`}`
    : 'another process';
  return `${who} is using ${what}; end it first, or remove ${file} when nothing runs there.`;
}

/** Returns this process. */
export function ownHolder(): Holder {
  return { pid: process.pid, host: hostname(), started: startOf(process.pid) };
}

/** Returns true when the process is still running, as far as can be determined from here. */
export function isAlive({ pid, host, started }: Holder): boolean {
  // The state of another machine or container cannot be determined from here.
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  return started === undefined || started === startOf(pid);
}

/** Linux reports when a process started, in ticks since boot; undefined elsewhere. */
function startOf(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain spaces and brackets; the 20th field after it is the start.
    return status.slice(status.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
