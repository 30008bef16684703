/**
 * Reads SQLite's write-ahead log up to its last complete commit, exactly as far as SQLite recovers
 * it. Format: https://www.sqlite.org/fileformat2.html, "The Write-Ahead Log".
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { plainFile } from '../../../fixtures/base/plain-file.ts';
import { isPageSize, pageSum } from './page-sum.ts';

const HEAD_BYTES = 32;
const FRAME_HEAD_BYTES = 24;
/** Number of frames that are read at a time. */
const CHUNK_FRAMES = 16;
const littleMagic = 0x377f0682;
const bigMagic = 0x377f0683;

/** A position in a log, after the frames of a commit. The salts identify the log. */
export interface LogPosition {
  readonly salt1: number;
  readonly salt2: number;
  readonly frames: number;
}

/** Follows one log from commit to commit. */
export class WriteAheadLog {
  readonly #path: string;
  #descriptor: number | undefined;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #pageBytes = 0;
  #isLittle = true;
  #chunk = Buffer.alloc(0);
  #sum: [number, number] = [0, 0];
  #mark: LogPosition = { salt1: 0, salt2: 0, frames: 0 };
  #databasePages = 0;
  readonly #pages = new Map<number, number>();

  constructor(path: string) {
    this.#path = path;
  }

  /** The position after the last complete commit. */
  get mark(): LogPosition {
    return this.#mark;
  }

  /** Checksums of the pages in the log, by page number. */
  get pages(): ReadonlyMap<number, number> {
    return this.#pages;
  }

  /** Size of the database in pages after the last commit in the log; 0 without one. */
  get databasePages(): number {
    return this.#databasePages;
  }

  /** Length of the log up to its last commit, including its header; 0 without a commit. */
  get bytes(): number {
    const { frames } = this.#mark;
    return frames === 0 ? 0 : HEAD_BYTES + frames * (FRAME_HEAD_BYTES + this.#pageBytes);
  }

  /** Reads from the known position to the last complete commit. */
  follow(): void {
    const descriptor = this.#open();
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    if (descriptor === undefined || readSync(descriptor, head, 0, HEAD_BYTES, 0) < HEAD_BYTES) {
      return;
    }
    const isSame = this.#pageBytes > 0 && head.equals(this.#head);
    if (!isSame && !this.#begin(head)) return;
    this.#readFrames(descriptor);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #open(): number | undefined {
    try {
      this.#descriptor ??= openSync(plainFile(this.#path), 'r');
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
    return this.#descriptor;
  }

  /**
   * Reads the header of a new log. SQLite restarts the log over its old frames once all of them are
   * in the database.
   */
  #begin(head: Buffer): boolean {
    const magic = head.readUInt32BE(0);
    if (magic !== littleMagic && magic !== bigMagic) return false;
    this.#isLittle = magic === littleMagic;
    const sum = this.#summed(head, [0, 0], { from: 0, to: 24 });
    if (sum[0] !== head.readUInt32BE(24) || sum[1] !== head.readUInt32BE(28)) return false;
    const pageBytes = head.readUInt32BE(8);
    if (!isPageSize(pageBytes)) return false;
    if (pageBytes !== this.#pageBytes) {
      this.#pageBytes = pageBytes;
      this.#chunk = Buffer.allocUnsafe(CHUNK_FRAMES * (FRAME_HEAD_BYTES + pageBytes));
    }
    head.copy(this.#head);
    this.#sum = sum;
    this.#mark = { salt1: head.readUInt32BE(16), salt2: head.readUInt32BE(20), frames: 0 };
    this.#pages.clear();
    this.#databasePages = 0;
    return true;
  }

  #readFrames(descriptor: number): void {
    const frameBytes = FRAME_HEAD_BYTES + this.#pageBytes;
    let { frames } = this.#mark;
    let sum = this.#sum;
    const uncommitted = new Map<number, number>();
    for (;;) {
      const offset = HEAD_BYTES + frames * frameBytes;
      const length = readSync(descriptor, this.#chunk, 0, this.#chunk.length, offset);
      for (let at = 0; at + frameBytes <= length; at += frameBytes) {
        const next = this.#frameSum(at, sum);
        if (!next) return;
        sum = next;
        frames += 1;
        const page = this.#chunk.subarray(at + FRAME_HEAD_BYTES, at + frameBytes);
        const number = this.#chunk.readUInt32BE(at);
        uncommitted.set(number, pageSum(number, page));
        const databasePages = this.#chunk.readUInt32BE(at + 4);
        if (databasePages === 0) continue;
        for (const [one, pageSumOfIt] of uncommitted) this.#pages.set(one, pageSumOfIt);
        uncommitted.clear();
        this.#databasePages = databasePages;
        this.#sum = sum;
        this.#mark = { ...this.#mark, frames };
      }
      if (length < this.#chunk.length) return;
    }
  }

  /**
   * Returns the running checksum after a frame; undefined when it is not a complete frame of this
   * log.
   */
  #frameSum(at: number, previousSum: [number, number]): [number, number] | undefined {
    const chunk = this.#chunk;
    const { salt1, salt2 } = this.#mark;
    if (chunk.readUInt32BE(at + 8) !== salt1 || chunk.readUInt32BE(at + 12) !== salt2) {
      return undefined;
    }
    const head = this.#summed(chunk, previousSum, { from: at, to: at + 8 });
    const from = at + FRAME_HEAD_BYTES;
    const sum = this.#summed(chunk, head, { from, to: from + this.#pageBytes });
    const isWhole =
      sum[0] === chunk.readUInt32BE(at + 16) && sum[1] === chunk.readUInt32BE(at + 20);
    return isWhole ? sum : undefined;
  }

  #summed(
    { buffer, byteOffset }: Buffer,
    [before0, before1]: [number, number],
    { from, to }: { from: number; to: number },
  ): [number, number] {
    const view = new DataView(buffer, byteOffset);
    const isLittle = this.#isLittle;
    let sum0 = before0;
    let sum1 = before1;
    for (let at = from; at < to; at += 8) {
      sum0 = (sum0 + view.getUint32(at, isLittle) + sum1) >>> 0;
      sum1 = (sum1 + view.getUint32(at + 4, isLittle) + sum0) >>> 0;
    }
    return [sum0, sum1];
  }
}
