/**
 * The checksum file of a database: the checksum of every page, and how far the write-ahead log must
 * reach. It detects a database or log that anything but SQLite changed, truncated or removed.
 * SQLite itself checks the structure of the database.
 *
 * Pages in the log are newer than their checksums here. The checksums are updated, and flushed to
 * the disk, before SQLite moves pages from the log into the database.
 */
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { plainFile } from '../../../fixtures/base/plain-file.ts';
import { isPageSize } from './page-sum.ts';
import { StateError } from './state-error.ts';
import { syncPath } from './sync-path.ts';
import { type LogPosition, WriteAheadLog } from './write-ahead-log.ts';

const title = 'fleetbed sums 1\n';
const MARK_OFFSET = 32;
const SUMS_OFFSET = 64;
/** Offset of the page size, the number of pages, and the checksum over both and the checksums. */
const FIELDS = 16;

/** The content of a checksum file. */
export interface SavedSums {
  readonly pageBytes: number;
  readonly sums: Uint32Array;
  /**
   * The position that the log must reach; its `frames` is 0 when the log contains nothing that the
   * database lacks.
   */
  readonly mark: LogPosition;
}

const noMark: LogPosition = { salt1: 0, salt2: 0, frames: 0 };

/** Returns the path of a database's checksum file. */
function sumsPathOf(database: string): string {
  return `${database}-sums`;
}

/** Removes the checksum file of a database that can no longer be kept up to date. */
export function forgetSums(database: string): void {
  rmSync(sumsPathOf(database), { force: true });
}

/** Checksums of a database that is still empty. */
export const noSums: SavedSums = { pageBytes: 4096, sums: new Uint32Array(), mark: noMark };

/**
 * Reads the checksums of a database; undefined when there are none.
 * @throws StateError when the file is damaged
 */
export function readSums(database: string): SavedSums | undefined {
  const path = sumsPathOf(database);
  const size = statSync(plainFile(path), { throwIfNoEntry: false })?.size;
  if (size === undefined) return undefined;
  const pages = pagesIn(path);
  const expectedBytes = SUMS_OFFSET + 4 * pages;
  if (size !== expectedBytes)
    throw new StateError('damaged', `${path} has ${size} of ${expectedBytes} bytes`);
  const bytes = readFileSync(path);
  const isWhole =
    bytes.length === expectedBytes &&
    bytes.toString('latin1', 0, title.length) === title &&
    isPageSize(bytes.readUInt32LE(FIELDS)) &&
    bytes.readUInt32LE(FIELDS + 8) === sumOf(bytes) &&
    bytes.readUInt32LE(MARK_OFFSET + 12) === sumOfMark(bytes.subarray(MARK_OFFSET));
  if (!isWhole) throw new StateError('damaged', `${path} is damaged`);
  const sums = Uint32Array.from({ length: pages }, (_, at) =>
    bytes.readUInt32LE(SUMS_OFFSET + 4 * at),
  );
  return {
    pageBytes: bytes.readUInt32LE(FIELDS),
    sums,
    mark: {
      salt1: bytes.readUInt32LE(MARK_OFFSET),
      salt2: bytes.readUInt32LE(MARK_OFFSET + 4),
      frames: bytes.readUInt32LE(MARK_OFFSET + 8),
    },
  };
}

/**
 * Returns the number of pages that the file states; read first, because a damaged file may be too
 * large to read.
 */
function pagesIn(path: string): number {
  const head = Buffer.alloc(SUMS_OFFSET);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, head);
  } finally {
    closeSync(descriptor);
  }
  return head.readUInt32LE(FIELDS + 4);
}

/** Writes the file atomically, and flushes it to the disk. */
export function writeSums(database: string, { pageBytes, sums, mark }: SavedSums): void {
  const bytes = Buffer.alloc(SUMS_OFFSET + 4 * sums.length);
  bytes.write(title, 'latin1');
  bytes.writeUInt32LE(pageBytes, FIELDS);
  bytes.writeUInt32LE(sums.length, FIELDS + 4);
  for (const [at, sum] of sums.entries()) bytes.writeUInt32LE(sum, SUMS_OFFSET + 4 * at);
  bytes.writeUInt32LE(sumOf(bytes), FIELDS + 8);
  bytesOfMark(mark).copy(bytes, MARK_OFFSET);
  const path = sumsPathOf(database);
  const draft = `${path}.draft`;
  try {
    writeFileSync(draft, bytes, { mode: 0o600, flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncPath(dirname(path));
}

function bytesOfMark({ salt1, salt2, frames }: LogPosition): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(salt1, 0);
  bytes.writeUInt32LE(salt2, 4);
  bytes.writeUInt32LE(frames, 8);
  bytes.writeUInt32LE(sumOfMark(bytes), 12);
  return bytes;
}

function sumOfMark(bytes: Buffer): number {
  return crc32(bytes.subarray(0, 12));
}

function sumOf(bytes: Buffer): number {
  return crc32(bytes.subarray(SUMS_OFFSET), crc32(bytes.subarray(0, FIELDS + 8)));
}

/** Keeps the checksums of an open database up to date. */
export class PageSums {
  readonly #database: string;
  readonly #log: WriteAheadLog;
  #saved: SavedSums;
  #descriptor: number;

  /** @param saved the current content of the checksum file */
  constructor(database: string, saved: SavedSums) {
    this.#database = database;
    this.#saved = saved;
    this.#log = new WriteAheadLog(`${database}-wal`);
    this.#log.follow();
    this.#descriptor = openSync(sumsPathOf(database), 'r+');
  }

  /**
   * Records how far the log must reach from now on.
   * @returns the number of frames in the log
   */
  committed(): number {
    const { mark: previousMark } = this.#log;
    this.#log.follow();
    const { mark } = this.#log;
    if (mark !== previousMark) this.#note(mark);
    return mark.frames;
  }

  /**
   * Stores the checksums of all pages in the log. Must be called before these pages are moved into
   * the database.
   */
  fold(): void {
    const { pages, databasePages } = this.#log;
    if (databasePages === 0) return;
    const sums = new Uint32Array(databasePages);
    sums.set(this.#saved.sums.subarray(0, databasePages));
    for (const [number, sum] of pages) if (number <= databasePages) sums[number - 1] = sum;
    this.#save({ ...this.#saved, sums });
  }

  /** Records that the database contains everything in the log. */
  settle(): void {
    this.#save({ ...this.#saved, mark: noMark });
  }

  close(): void {
    this.#log.close();
    closeSync(this.#descriptor);
  }

  #note(mark: LogPosition): void {
    this.#saved = { ...this.#saved, mark };
    writeSync(this.#descriptor, bytesOfMark(mark), 0, 16, MARK_OFFSET);
  }

  #save(saved: SavedSums): void {
    writeSums(this.#database, saved);
    this.#saved = saved;
    const descriptor = openSync(sumsPathOf(this.#database), 'r+');
    closeSync(this.#descriptor);
    this.#descriptor = descriptor;
  }
}
