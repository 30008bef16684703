/** Flushes files and folders to the disk. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Flushes a file's content, or a folder's entries, and waits until they are on the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
