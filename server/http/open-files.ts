/**
 * How many files and connections this process may hold open, and how the server divides them: the
 * API gets most; the control listener and the server's own files have reserved shares.
 */
import { readFileSync } from 'node:fs';

/** POSIX guarantees less, but no current system starts a process with a lower limit. */
const OPEN_FILES_ELSEWHERE = 1024;
const RESERVE_MIN = 128;
const RESERVE_MAX = 1024;
/** Even a process with a very low limit accepts this many. */
const CONNECTIONS_MIN = 16;

/** Returns the open file limit of this process; Node has raised it to the hard limit. */
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
  /** Connections of either listener that wait for their refusal. */
  readonly refused: number;
}

/** Divides a limit; half of the reserve is for databases, modules and event loop. */
export function shareOpenFiles(openFiles: number, connectionsMax: number): OpenFilesShares {
  const reserve = Math.min(RESERVE_MAX, Math.max(RESERVE_MIN, Math.floor(openFiles / 4)));
  const most = Math.max(CONNECTIONS_MIN, openFiles - reserve);
  return {
    api: Math.min(connectionsMax, most),
    control: Math.min(connectionsMax, Math.floor(reserve / 4)),
    refused: Math.floor(reserve / 8),
  };
}

/** A shared number of units, such as open files. */
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

  /** Returns acquired units; the caller ensures that this happens once. */
  release(units = 1): void {
    this.#held -= units;
  }
}
