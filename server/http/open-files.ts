/**
 * How many files and connections this process may hold open, and how the server shares them out:
 * the API gets most, the control listener and the server's own files keep a part for themselves.
 */
import { readFileSync } from 'node:fs';

/** POSIX guarantees less, but no system of today starts a process with less than this. */
const OPEN_FILES_ELSEWHERE = 1024;
const RESERVE_MIN = 128;
const RESERVE_MAX = 1024;
/** Even a process that may open next to nothing lets somebody in. */
const CONNECTIONS_MIN = 16;

/** The limit of open files of this process; Node has raised it to the hard one. */
export function openFilesLimit(): number {
  const limit = /^Max open files\s+(\S+)/m.exec(limitsOfProcess())?.[1];
  if (limit === 'unlimited') return Number.POSITIVE_INFINITY;
  return limit === undefined ? OPEN_FILES_ELSEWHERE : Number(limit);
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Only Linux has the file.
    return '';
  }
}

/** Who may hold how many. */
interface OpenFilesShares {
  /** Connections of the API, and files that are sent or received over them. */
  readonly api: number;
  /** Connections of the control listener. */
  readonly control: number;
  /** Connections of either one that wait for their refusal. */
  readonly refused: number;
}

/** The shares of a limit; half of what is kept back is for databases, modules and event loop. */
export function shareOpenFiles(openFiles: number, connectionsMax: number): OpenFilesShares {
  const reserve = Math.min(RESERVE_MAX, Math.max(RESERVE_MIN, Math.floor(openFiles / 4)));
  const most = Math.max(CONNECTIONS_MIN, openFiles - reserve);
  return {
    api: Math.min(connectionsMax, most),
    control: Math.min(connectionsMax, Math.floor(reserve / 4)),
    refused: Math.floor(reserve / 8),
  };
}

/** A number of units, such as open files, that many share. */
export class Semaphore {
  readonly max: number;
  #held = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Takes so many units; false, and takes none, when fewer are left. */
  tryAcquire(units = 1): boolean {
    if (this.#held + units > this.max) return false;
    this.#held += units;
    return true;
  }

  /** Gives back what was taken; the caller sees to it that this happens once. */
  release(units = 1): void {
    this.#held -= units;
  }
}
