/**
 * Artifact files on disk, named by the digest of their content. Caller input is never part of a
 * path.
 */
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
import { plainFile } from '../../fixtures/base/plain-file.ts';
import { contentName } from './data-layout.ts';
import { StateError, stateError } from './engine/state-error.ts';
import { FilesRemoved } from './engine/storage-error.ts';
import { syncPath } from './engine/sync-path.ts';

/** Beginning of the name of a file that is not yet complete. */
const DRAFT_PREFIX = 'incoming-';

/** The digest and size of a file's content. */
export interface FileContent {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A received file with a temporary name. */
export interface ReceivedFile extends FileContent {
  readonly path: string;
}

/** Options of a file store. */
interface FileOptions {
  /**
   * Folder whose files outlive the process and are flushed to the disk; a temporary folder when
   * absent.
   */
  readonly folder?: string;
  /** Runs a callback after the current transaction is committed. */
  readonly afterCommit?: (callback: () => void) => void;
  /** Runs a callback if the current transaction is rolled back. */
  readonly afterRollback?: (callback: () => void) => void;
}

/**
 * Returns the path if the file has this size. A file of another size, such as a sparse one, could
 * take unlimited time to read.
 * @throws StateError when the size differs
 * @throws NotAFile when it is not a regular file
 */
export function fileOfSize(path: string, sizeBytes: number): string {
  const problem = sizeProblem(plainFile(path), sizeBytes);
  if (problem === undefined) return path;
  throw new StateError('damaged', `${path} ${problem}`);
}

/** Returns how a file's size differs from the expected one; undefined when it does not. */
export function sizeProblem(path: string, sizeBytes: number): string | undefined {
  const actual = statSync(path, { throwIfNoEntry: false })?.size;
  if (actual === sizeBytes) return undefined;
  return actual === undefined ? 'is missing' : `has ${actual} of ${sizeBytes} bytes`;
}

/** Reads and writes files in one folder. A temporary folder is removed on close. */
export class FileStore {
  readonly folder: string;
  readonly #isPersistent: boolean;
  readonly #afterCommit: (callback: () => void) => void;
  readonly #afterRollback: (callback: () => void) => void;
  /** Number of snapshots that refer to a content, by digest. */
  readonly #held = new Map<string, number>();
  /** Contents whose digest was verified since the process started, or is being verified. */
  readonly #checked = new Map<string, true | Promise<void>>();
  /** Contents to be removed when the last snapshot releases them. */
  readonly #unwanted = new Set<string>();
  #received = 0;

  constructor(options: FileOptions = {}) {
    const {
      folder,
      afterCommit = (callback) => callback(),
      afterRollback = () => undefined,
    } = options;
    this.#isPersistent = folder !== undefined;
    this.#afterCommit = afterCommit;
    this.#afterRollback = afterRollback;
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'fleetbed-'));
    if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Writes a stream to a temporary file; removes the file when the stream fails. */
  async receive(source: Readable): Promise<ReceivedFile> {
    this.#received += 1;
    const path = join(this.folder, DRAFT_PREFIX + this.#received);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const counter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        done(null, chunk);
      },
    });
    const file = createWriteStream(path, { mode: 0o600, flush: this.#isPersistent });
    try {
      await pipeline(source, counter, file);
    } catch (error) {
      // A file that is still being opened would appear after its removal.
      if (!file.closed) await new Promise<void>((resolve) => file.once('close', () => resolve()));
      rmSync(path, { force: true });
      throw existsSync(this.folder) ? error : new FilesRemoved(this.folder);
    }
    return { path, sha256: hash.digest('hex'), sizeBytes };
  }

  /** Renames a received file to its digest; a rollback of the current transaction removes it. */
  keep(file: ReceivedFile): void {
    const path = this.#pathOf(file.sha256);
    if (!existsSync(path)) this.#afterRollback(() => rmSync(path, { force: true }));
    renameSync(file.path, path);
    this.#checked.set(file.sha256, true);
    this.#unwanted.delete(file.sha256);
    this.#syncFolder();
  }

  /**
   * Verifies a file's digest on first use; returns undefined once it is verified. Rejects with a
   * StateError, now and later, when the content has changed.
   * @throws FilesRemoved when the folder was removed
   */
  check(file: FileContent): Promise<void> | undefined {
    if (!existsSync(this.folder)) throw new FilesRemoved(this.folder);
    const checkResult = this.#checked.get(file.sha256);
    if (checkResult) return checkResult === true ? undefined : checkResult;
    const check = this.#verify(file).then(() => void this.#checked.set(file.sha256, true));
    this.#checked.set(file.sha256, check);
    return check;
  }

  async #verify({ sha256, sizeBytes }: FileContent): Promise<void> {
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

  /**
   * Copies a file from another store's folder under the same name. Rejects with a StateError when
   * its size differs.
   */
  async adopt(folder: string, { sha256, sizeBytes }: FileContent): Promise<void> {
    const [from, path] = [join(folder, sha256), this.#pathOf(sha256)];
    this.#unwanted.delete(sha256);
    if (existsSync(path)) return;
    this.#checked.delete(sha256);
    this.#received += 1;
    const draft = join(this.folder, DRAFT_PREFIX + this.#received);
    try {
      await copyFile(fileOfSize(from, sizeBytes), draft, constants.COPYFILE_FICLONE);
      if (this.#isPersistent) syncPath(draft);
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    this.#syncFolder();
  }

  /** Removes a received file that is not kept. */
  discard(file: ReceivedFile): void {
    rmSync(file.path, { force: true });
  }

  /** Removes a file once the current transaction is committed and no snapshot refers to it. */
  remove(sha256: string): void {
    this.#afterCommit(() => {
      if (this.#held.has(sha256)) this.#unwanted.add(sha256);
      else rmSync(this.#pathOf(sha256), { force: true });
    });
  }

  /** Removes all files except these, and those that a snapshot refers to. */
  keepOnly(wanted: ReadonlySet<string>): void {
    for (const name of readdirSync(this.folder)) {
      if (wanted.has(name)) this.#unwanted.delete(name);
      else if (contentName.test(name)) this.remove(name);
    }
  }

  /** Removes temporary files that an earlier process left. */
  removeUnfinished(): void {
    for (const name of readdirSync(this.folder)) {
      if (name.startsWith(DRAFT_PREFIX)) rmSync(join(this.folder, name), { force: true });
    }
  }

  /** Returns the size of a file in bytes; undefined when it does not exist. */
  sizeOf(sha256: string): number | undefined {
    return statSync(this.#pathOf(sha256), { throwIfNoEntry: false })?.size;
  }

  /** Prevents the removal of contents until `release` was called as often as `hold`. */
  hold(digests: readonly string[]): void {
    for (const digest of digests) this.#held.set(digest, (this.#held.get(digest) ?? 0) + 1);
  }

  release(digests: readonly string[]): void {
    for (const digest of digests) {
      const count = (this.#held.get(digest) ?? 1) - 1;
      if (count > 0) this.#held.set(digest, count);
      else {
        this.#held.delete(digest);
        if (this.#unwanted.delete(digest)) this.remove(digest);
      }
    }
  }

  /** Removes a temporary folder with its content. */
  close(): void {
    if (!this.#isPersistent) rmSync(this.folder, { recursive: true, force: true });
  }

  #pathOf(sha256: string): string {
    return join(this.folder, sha256);
  }

  /** A new name is durable only after the folder is flushed. */
  #syncFolder(): void {
    if (this.#isPersistent) syncPath(this.folder);
  }
}
