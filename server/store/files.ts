/** Artifact files on disk, named by their digest; no caller input ever becomes part of a path. */

import { createHash } from 'node:crypto';
import {
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { plainFile } from '../../fixtures/plain-file.ts';
import { contentName } from './data-layout.ts';
import { StateError, stateError } from './engine/state-error.ts';
import { FilesGone } from './engine/storage-error.ts';
import { syncPath } from './engine/sync-path.ts';

/** What a file has in it. */
export interface FileContent {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A file that is written but not yet kept. */
export interface ReceivedFile extends FileContent {
  readonly path: string;
}

/** Where the files are, and how long. */
interface FileOptions {
  /** Kept beyond the process, and written through to the disk; a temporary folder when absent. */
  readonly folder?: string;
  /** Runs what must wait for the work under way to be committed. */
  readonly afterCommit?: (act: () => void) => void;
  /** Runs what takes back a part of the work under way, if that is undone. */
  readonly afterUndo?: (act: () => void) => void;
}

/**
 * The same path, once it is known that the file may be read: one of another size may have more, by
 * holes for instance, than can be read in any time.
 * @throws StateError, NotAFile
 */
export function fileOfSize(path: string, sizeBytes: number): string {
  const problem = sizeProblem(plainFile(path), sizeBytes);
  if (problem === undefined) return path;
  throw new StateError('damaged', `${path} ${problem}`);
}

/** Describes a file whose size differs from the expected number of bytes. */
export function sizeProblem(path: string, sizeBytes: number): string | undefined {
  const actual = statSync(path, { throwIfNoEntry: false })?.size;
  if (actual === sizeBytes) return undefined;
  return actual === undefined ? 'is missing' : `has ${actual} of ${sizeBytes} bytes`;
}

/** Reads and writes files, all in one folder, which is removed with the server unless it was given. */
export class FileStore {
  readonly folder: string;
  readonly #isLasting: boolean;
  readonly #afterCommit: (act: () => void) => void;
  readonly #afterUndo: (act: () => void) => void;
  /** How many snapshots name a content. */
  readonly #held = new Map<string, number>();
  /** Contents that were read since the process began, or are read now. */
  readonly #checked = new Map<string, true | Promise<void>>();
  /** Removed while a snapshot names them. */
  readonly #unwanted = new Set<string>();
  #received = 0;

  constructor(options: FileOptions = {}) {
    const { folder, afterCommit = (act) => act(), afterUndo = () => undefined } = options;
    this.#isLasting = folder !== undefined;
    this.#afterCommit = afterCommit;
    this.#afterUndo = afterUndo;
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'fleetbed-'));
    if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Writes a stream to a temporary file. On any fault nothing is left behind. */
  async receive(source: Readable): Promise<ReceivedFile> {
    this.#received += 1;
    const path = join(this.folder, `incoming-${this.#received}`);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        done(null, chunk);
      },
    });
    const file = createWriteStream(path, { mode: 0o600, flush: this.#isLasting });
    try {
      await pipeline(source, counted, file);
    } catch (error) {
      // A file that is still being opened would appear after it was removed.
      if (!file.closed) await new Promise<void>((resolve) => file.once('close', () => resolve()));
      rmSync(path, { force: true });
      throw existsSync(this.folder) ? error : new FilesGone(this.folder);
    }
    return { path, sha256: hash.digest('hex'), sizeBytes };
  }

  /** Keeps a received file under its content's name, unless the work under way is undone. */
  keep(file: ReceivedFile): void {
    const path = this.#pathOf(file.sha256);
    if (!existsSync(path)) this.#afterUndo(() => rmSync(path, { force: true }));
    renameSync(file.path, path);
    this.#checked.set(file.sha256, true);
    this.#unwanted.delete(file.sha256);
    this.#syncFolder();
  }

  /**
   * Reads a kept file the first time that it is asked for; nothing to wait for once that is done.
   * Rejects with a StateError when it is not what was kept, this time and from then on.
   * @throws FilesGone
   */
  check(file: FileContent): Promise<void> | undefined {
    if (!existsSync(this.folder)) throw new FilesGone(this.folder);
    const known = this.#checked.get(file.sha256);
    if (known) return known === true ? undefined : known;
    const check = this.#read(file).then(() => void this.#checked.set(file.sha256, true));
    this.#checked.set(file.sha256, check);
    return check;
  }

  async #read({ sha256, sizeBytes }: FileContent): Promise<void> {
    const path = this.#pathOf(sha256);
    const hash = createHash('sha256');
    try {
      await pipeline(createReadStream(fileOfSize(path, sizeBytes)), hash);
    } catch (error) {
      throw stateError(path, error);
    }
    if (hash.digest('hex') === sha256) return;
    throw new StateError('damaged', `${path} is damaged: its content has changed`);
  }

  /** Keeps a file of another store's folder under the same name. Rejects with StateError for another size. */
  async adopt(folder: string, { sha256, sizeBytes }: FileContent): Promise<void> {
    const [from, path] = [join(folder, sha256), this.#pathOf(sha256)];
    this.#unwanted.delete(sha256);
    if (existsSync(path)) return;
    this.#checked.delete(sha256);
    this.#received += 1;
    const draft = join(this.folder, `incoming-${this.#received}`);
    try {
      await copyFile(fileOfSize(from, sizeBytes), draft, constants.COPYFILE_FICLONE);
      if (this.#isLasting) syncPath(draft);
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    this.#syncFolder();
  }

  /** Removes a received file that is not wanted. */
  discard(file: ReceivedFile): void {
    rmSync(file.path, { force: true });
  }

  /** Removes a kept file once the work under way is committed and no snapshot names it. */
  remove(sha256: string): void {
    this.#afterCommit(() => {
      if (this.#held.has(sha256)) this.#unwanted.add(sha256);
      else rmSync(this.#pathOf(sha256), { force: true });
    });
  }

  /** Removes all kept files but these and those that a snapshot names. */
  keepOnly(wanted: ReadonlySet<string>): void {
    for (const name of readdirSync(this.folder)) {
      if (wanted.has(name)) this.#unwanted.delete(name);
      else if (contentName.test(name)) this.remove(name);
    }
  }

  /** Removes what an ended process was receiving. */
  removeUnfinished(): void {
    for (const name of readdirSync(this.folder)) {
      if (name.startsWith('incoming-')) rmSync(join(this.folder, name), { force: true });
    }
  }

  /** Bytes of a kept file; nothing when it is not there. */
  sizeOf(sha256: string): number | undefined {
    return statSync(this.#pathOf(sha256), { throwIfNoEntry: false })?.size;
  }

  /** Keeps contents from being removed until they are released as often as they were held. */
  hold(names: readonly string[]): void {
    for (const name of names) this.#held.set(name, (this.#held.get(name) ?? 0) + 1);
  }

  release(names: readonly string[]): void {
    for (const name of names) {
      const left = (this.#held.get(name) ?? 1) - 1;
      if (left > 0) this.#held.set(name, left);
      else {
        this.#held.delete(name);
        if (this.#unwanted.delete(name)) this.remove(name);
      }
    }
  }

  /** Removes the folder with everything in it, unless it is to last. */
  close(): void {
    if (!this.#isLasting) rmSync(this.folder, { recursive: true, force: true });
  }

  #pathOf(sha256: string): string {
    return join(this.folder, sha256);
  }

  /** A name is on the disk only when its folder is. */
  #syncFolder(): void {
    if (this.#isLasting) syncPath(this.folder);
  }
}
