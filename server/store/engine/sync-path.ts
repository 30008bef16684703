/** Flushes a path to the disk. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Waits until a file's content, or a folder's list of names, is on the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
