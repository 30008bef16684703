/** The pages of a database: their valid sizes, and the checksum of a page. */
import { crc32 } from 'node:zlib';

/** In the first page, what changes with the way in which the file is open: no content. */
const ofOpening = [
  [18, 20], // versions of the format: with or without a log
  [24, 28], // counter of changes
  [92, 100], // that counter again, and the engine's version
] as const;

const PAGE_MIN_BYTES = 512;
const PAGE_MAX_BYTES = 65_536;

/** Whether the engine has pages of this size: a power of two within its limits. */
export function isPageSize(bytes: number): boolean {
  return bytes >= PAGE_MIN_BYTES && bytes <= PAGE_MAX_BYTES && Number.isInteger(Math.log2(bytes));
}

/** The same for the same content, however the file was opened meanwhile. */
export function pageSum(number: number, page: Buffer): number {
  if (number !== 1) return crc32(page);
  const content = Buffer.from(page);
  for (const [from, to] of ofOpening) content.fill(0, from, to);
  return crc32(content);
}
