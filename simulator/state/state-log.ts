/**
 * A file of JSON lines that survives a kill of the process at any time. Each line starts with its
 * checksum and has been passed to the operating system when the call returns. The whole file is
 * replaced only by a rename. A truncated last line is ignored. Only the owner can read the file.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import { FleetStateError, fileError } from './state-error.ts';

const OWNER_ONLY = 0o600;
const CHUNK_BYTES = 2 ** 20;
/** Maximum length of a line; a longer line was not written by this program. */
const LINE_MAX_BYTES = 16 * 2 ** 20;
const LINE_END = 0x0a;

/** A state log that is open for appending. The owner must close it. */
export class StateLog {
  readonly #path: string;
  #file: number;
  #sizeBytes = 0;

  private constructor(path: string, file: number) {
    this.#path = path;
    this.#file = file;
  }

  /**
   * Creates or replaces the file with these lines and opens it for appending.
   * @throws FleetStateError
   */
  static begin(path: string, lines: Iterable<unknown>): StateLog {
    const log = new StateLog(path, -1);
    log.replace(lines);
    return log;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Appends a line.
   * @throws FleetStateError
   */
  append(line: unknown): void {
    try {
      this.#sizeBytes += writeLine(this.#file, line);
    } catch (error) {
      throw fileError(`cannot write ${this.#path}`, error);
    }
  }

  /**
   * Replaces all lines atomically.
   * @throws FleetStateError
   */
  replace(lines: Iterable<unknown>): void {
    const draft = `${this.#path}.draft`;
    try {
      rmSync(draft, { force: true });
      const file = openSync(draft, 'wx', OWNER_ONLY);
      let sizeBytes = 0;
      for (const line of lines) sizeBytes += writeLine(file, line);
      fsyncSync(file);
      renameSync(draft, this.#path);
      this.close();
      // The descriptor still refers to the renamed file, so later lines are appended to it.
      this.#file = file;
      this.#sizeBytes = sizeBytes;
    } catch (error) {
      rmSync(draft, { force: true });
      throw fileError(`cannot write ${this.#path}`, error);
    }
  }

  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    this.#file = -1;
  }
}

/**
 * Yields the lines of a state log; yields nothing when the file does not exist.
 * @throws FleetStateError when a line is damaged; a truncated last line is not an error
 */
export function* readStateLog(path: string): Generator<unknown> {
  if (!existsSync(path)) return;
  let number = 0;
  for (const { bytes, isWhole } of linesOf(path)) {
    number++;
    const line = checkedLine(bytes);
    if (line !== undefined) yield line.content;
    else if (isWhole) {
      throw new FleetStateError(
        `line ${number} of ${path} is damaged or was not written by Fleetbed; use another path, or remove the file to start over.`,
      );
    }
  }
}

function writeLine(file: number, content: unknown): number {
  const text = JSON.stringify(content);
  const line = Buffer.from(`${checksumOf(text)} ${text}\n`);
  let writtenBytes = 0;
  while (writtenBytes < line.byteLength) writtenBytes += writeSync(file, line, writtenBytes);
  return writtenBytes;
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

function checkedLine(bytes: Buffer): { readonly content: unknown } | undefined {
  const line = bytes.toString('utf8');
  const text = line.slice(9);
  if (line.slice(0, 9) !== `${checksumOf(text)} `) return undefined;
  return { content: JSON.parse(text) };
}

/**
 * Yields the lines of a file. Reads it in chunks, because a state log can exceed the maximum length
 * of a string.
 */
function* linesOf(path: string): Generator<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const file = openLog(path);
  try {
    let incompleteLine = Buffer.alloc(0);
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let count = 1; count > 0; ) {
      count = readSync(file, chunk, 0, CHUNK_BYTES, null);
      incompleteLine = Buffer.concat([incompleteLine, chunk.subarray(0, count)]);
      for (
        let end = incompleteLine.indexOf(LINE_END);
        end >= 0;
        end = incompleteLine.indexOf(LINE_END)
      ) {
        yield { bytes: incompleteLine.subarray(0, end), isWhole: true };
        incompleteLine = incompleteLine.subarray(end + 1);
      }
      if (incompleteLine.byteLength > LINE_MAX_BYTES) {
        yield { bytes: incompleteLine.subarray(0, 9), isWhole: true };
        return;
      }
    }
    if (incompleteLine.byteLength > 0) yield { bytes: incompleteLine, isWhole: false };
  } finally {
    closeSync(file);
  }
}

function openLog(path: string): number {
  try {
    return openSync(plainFile(path), 'r');
  } catch (error) {
    throw fileError(`cannot read ${path}`, error);
  }
}
