/** Pages of a database: valid page sizes, and the checksum of a page. */
import { crc32 } from 'node:zlib';

/** Byte ranges of the first page that change with how the file was opened, and are not content. */
const volatileRanges = [
  [18, 20], // versions of the format: with or without a log
  [24, 28], // counter of changes
  [92, 100], // that counter again, and the engine's version
] as const;

const PAGE_MIN_BYTES = 512;
const PAGE_MAX_BYTES = 65_536;

/** Returns true for a page size of SQLite: a power of two from 512 to 65,536. */
export function isPageSize(bytes: number): boolean {
  return bytes >= PAGE_MIN_BYTES && bytes <= PAGE_MAX_BYTES && Number.isInteger(Math.log2(bytes));
}

/** Returns the checksum of a page's content, independent of how the file was opened. */
export function pageSum(number: number, page: Buffer): number {
  if (number !== 1) return crc32(page);
  const content = Buffer.from(page);
  for (const [from, to] of volatileRanges) content.fill(0, from, to);
  return crc32(content);
}
