/**
 * Checks a closed database against the checksums in the file beside it. It only reads, so that a
 * refused database stays unchanged.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { plainFile } from '../../../fixtures/base/plain-file.ts';
import { isPageSize, pageSum } from './page-sum.ts';
import { noSums, readSums, type SavedSums, writeSums } from './page-sums.ts';
import { StateError } from './state-error.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

const magic = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const PAGE_BYTES_MAX = 65_536;
/** Maximum size of a rollback journal's header, for which SQLite uses a sector. */
const JOURNAL_HEAD_BYTES = 65_536;
/** Number of pages that are read at a time. */
const CHUNK_PAGES = 256;

/** The result of checking an undamaged database. */
export interface CheckedDatabase {
  /**
   * False for a database without checksums, as older versions wrote it; SQLite must check it
   * instead.
   */
  readonly hasChecksums: boolean;
  /**
   * True when the database was not closed properly or has a log, so that opening it may change it.
   */
  readonly isOpen: boolean;
}

/**
 * Checks a database with its log.
 * @throws StateError when a file is missing, empty, or not as it was written
 */
export function checkDatabase(path: string): CheckedDatabase {
  const header = readHeader(path);
  const savedSums = readSums(path);
  const log = new WriteAheadLog(`${path}-wal`);
  try {
    log.follow();
    const isOpen = header[18] !== 1 || sizeOf(`${path}-wal`) > 0 || sizeOf(`${path}-journal`) > 0;
    requireSizes(path, { header, saved: savedSums, log });
    if (!savedSums) return { hasChecksums: false, isOpen };
    requireLog(path, savedSums, log);
    requirePages(path, savedSums, log);
    return { hasChecksums: true, isOpen };
  } finally {
    log.close();
  }
}

/** Returns true when nothing was ever committed to the database, so that nothing can be lost. */
export function isUncommitted(path: string): boolean {
  const savedSums = readSums(path);
  if (savedSums) return savedSums.sums.length === 0 && savedSums.mark.frames === 0;
  return sizeOf(path) === 0 && sizeOf(`${path}-wal`) === 0;
}

/**
 * Reads the checksums of a database; computes and writes them if there are none. The database must
 * be closed.
 */
export function ensureSums(path: string): SavedSums {
  const storedSums = readSums(path);
  if (storedSums) return storedSums;
  const currentSums = sizeOf(path) === 0 ? noSums : sumsOf(path);
  writeSums(path, currentSums);
  return currentSums;
}

function sumsOf(path: string): SavedSums {
  const pageBytes = pageBytesOf(readHeader(path));
  const sums = new Uint32Array(Math.floor(sizeOf(path) / pageBytes));
  for (const [number, page] of pagesOf(path, pageBytes)) sums[number - 1] = pageSum(number, page);
  return { ...noSums, pageBytes, sums };
}

function readHeader(path: string): Buffer {
  const bytes = sizeOf(path, true);
  if (bytes === undefined) throw new StateError('damaged', `${path} is missing`);
  if (bytes === 0) throw new StateError('damaged', `${path} is empty`);
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(descriptor);
  }
  if (header.toString('latin1', 0, magic.length) !== magic || !isPageSize(pageBytesOf(header))) {
    throw new StateError('damaged', `${path} is no longer a database`);
  }
  return header;
}

/** Returns the page size; SQLite encodes 64 KiB as 1. */
function pageBytesOf(header: Buffer): number {
  const stated = header.readUInt16BE(16);
  return stated === 1 ? 65_536 : stated;
}

/** Returns the number of pages in the header, which is valid in files that this server wrote. */
function pagesByHead(header: Buffer): number {
  return header.readUInt32BE(28);
}

/**
 * Returns the maximum sizes of a database with this number of pages, and of its rollback journal.
 */
function sizesOf(pageBytes: number, pages: number): { database: number; journal: number } {
  const database = pageBytes * Math.max(pages, 1);
  // The journal contains each page at most once, plus a few bytes.
  return { database, journal: 2 * database + JOURNAL_HEAD_BYTES };
}

/** Refuses larger files: a sparse file, for example, could take unlimited time to read. */
function requireSizes(
  path: string,
  { header, saved, log }: { header: Buffer; saved: SavedSums | undefined; log: WriteAheadLog },
): void {
  const pages = Math.max(saved ? saved.sums.length : pagesByHead(header), log.databasePages);
  const sizes = sizesOf(saved ? saved.pageBytes : pageBytesOf(header), pages);
  const bytes = sizeOf(path);
  if (bytes > sizes.database) {
    throw new StateError('damaged', `${path} has ${bytes} of ${sizes.database} bytes`);
  }
  const journal = `${path}-journal`;
  const journalBytes = sizeOf(journal);
  if (journalBytes > sizes.journal) {
    const comparison = `more than changes to ${path} can have`;
    throw new StateError('damaged', `${journal} has ${journalBytes} bytes, ${comparison}`);
  }
}

/**
 * Returns how many bytes to copy of a possibly damaged database and its journal, by its checksums,
 * header or log. If all are lost: one page, which SQLite refuses as a database.
 */
export function countSalvageableBytes(
  path: string,
  log: WriteAheadLog,
): { database: number; journal: number } {
  const savedSums = unlessDamaged(() => readSums(path));
  const header = unlessDamaged(() => readHeader(path));
  const pageBytes = savedSums?.pageBytes ?? (header ? pageBytesOf(header) : PAGE_BYTES_MAX);
  const byHead = header ? pagesByHead(header) : 0;
  return sizesOf(pageBytes, Math.max(savedSums?.sums.length ?? 0, byHead, log.databasePages));
}

function unlessDamaged<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    // Checking the database reports the damage.
    return undefined;
  }
}

/**
 * Requires the log to reach as far as recorded. A restarted log is also valid: its old content is
 * in the database, and a process killed after writing the new header leaves no frame.
 */
function requireLog(path: string, { mark }: SavedSums, log: WriteAheadLog): void {
  if (mark.frames === 0) return;
  const { salt1, salt2, frames } = log.mark;
  const isSame = salt1 === mark.salt1 && salt2 === mark.salt2;
  const isNext = salt1 === (mark.salt1 + 1) >>> 0;
  if (isNext || (isSame && frames >= mark.frames)) return;
  const name = `${path}-wal`;
  const bytes = sizeOf(name, true);
  const lossText = `with changes that ${path} does not have yet`;
  if (bytes === undefined) throw new StateError('damaged', `${name} is missing, ${lossText}`);
  if (bytes === 0) throw new StateError('damaged', `${name} is empty; it was written ${lossText}`);
  throw new StateError('damaged', `${name} is damaged or cut short; it was written ${lossText}`);
}

/** Requires every page of the database to be unchanged, or to be in the log. */
function requirePages(path: string, { pageBytes, sums }: SavedSums, log: WriteAheadLog): void {
  const bytes = sizeOf(path);
  const expectedPages = log.databasePages === 0 ? sums.length : log.databasePages;
  let readPages = 0;
  for (const [number, page] of pagesOf(path, pageBytes)) {
    readPages = number;
    const isKnown = log.pages.has(number) || sums[number - 1] === pageSum(number, page);
    if (number <= expectedPages && !isKnown) {
      throw new StateError('damaged', `${path} is damaged: page ${number} was changed`);
    }
  }
  const missing = firstMissing(readPages, expectedPages, log);
  if (missing !== undefined || (log.databasePages === 0 && bytes !== expectedPages * pageBytes)) {
    throw new StateError('damaged', `${path} has ${bytes} of ${expectedPages * pageBytes} bytes`);
  }
}

function firstMissing(read: number, wanted: number, log: WriteAheadLog): number | undefined {
  for (let number = read + 1; number <= wanted; number += 1) {
    if (!log.pages.has(number)) return number;
  }
  return undefined;
}

/**
 * Yields the whole pages of a file with their numbers. The buffer is reused: a page is valid until
 * the next one.
 */
function* pagesOf(path: string, pageBytes: number): Generator<[number, Buffer]> {
  const descriptor = openSync(path, 'r');
  const chunk = Buffer.allocUnsafe(CHUNK_PAGES * pageBytes);
  try {
    for (let number = 1; ; ) {
      const length = readSync(descriptor, chunk, 0, chunk.length, (number - 1) * pageBytes);
      const pages = Math.floor(length / pageBytes);
      for (let at = 0; at < pages; at += 1) {
        yield [number, chunk.subarray(at * pageBytes, (at + 1) * pageBytes)];
        number += 1;
      }
      if (pages === 0) return;
    }
  } finally {
    closeSync(descriptor);
  }
}

function sizeOf(path: string): number;
function sizeOf(path: string, mayBeAbsent: true): number | undefined;
function sizeOf(path: string, mayBeAbsent = false): number | undefined {
  const stats = statSync(plainFile(path), { throwIfNoEntry: false });
  return stats?.size ?? (mayBeAbsent ? undefined : 0);
}
