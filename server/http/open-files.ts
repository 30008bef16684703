/**
 * The number of files and connections that this process may open, and its division: the API
 * receives most; the control listener and the server's own files have reserved shares.
 */
import { readFileSync } from 'node:fs';

/**
 * Assumed limit where the process's own is unknown. POSIX guarantees less, but current systems
 * allow at least this many.
 */
const OPEN_FILES_ELSEWHERE = 1024;
const RESERVE_MIN = 128;
const RESERVE_MAX = 1024;
/** Minimum number of connections accepted, even at a very low limit. */
const CONNECTIONS_MIN = 16;

/** Returns the open file limit of this process; Node raises it to the hard limit at start. */
export function openFilesLimit(): number {
  const limit = /^Max open files\s+(\S+)/m.exec(limitsOfProcess())?.[1];
  if (limit === 'unlimited') return Number.POSITIVE_INFINITY;
  return limit === undefined ? OPEN_FILES_ELSEWHERE : Number(limit);
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // The file exists on Linux only.
    return '';
  }
}

/** Maximum numbers of open connections and files, by purpose. */
interface OpenFilesShares {
  /** API connections, and files sent or received over them. */
  readonly api: number;
  /** Connections of the control listener. */
  readonly control: number;
  /** Surplus connections of all listeners that are open only until they are refused. */
  readonly refused: number;
}

/**
 * Divides the limit of open files. Half of the reserve is left for databases, modules and the event
 * loop.
 */
export function shareOpenFiles(openFiles: number, connectionsMax: number): OpenFilesShares {
  const reserve = Math.min(RESERVE_MAX, Math.max(RESERVE_MIN, Math.floor(openFiles / 4)));
  const max = Math.max(CONNECTIONS_MIN, openFiles - reserve);
  return {
    api: Math.min(connectionsMax, max),
    control: Math.min(connectionsMax, Math.floor(reserve / 4)),
    refused: Math.floor(reserve / 8),
  };
}

/** A counting semaphore, for units such as open files. */
export class Semaphore {
  readonly max: number;
  #held = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Acquires the units; returns false, and acquires none, when fewer are left. */
  tryAcquire(units = 1): boolean {
    if (this.#held + units > this.max) return false;
    this.#held += units;
    return true;
  }

  /** Returns acquired units; the caller must do so exactly once. */
  release(units = 1): void {
    this.#held -= units;
  }
}
