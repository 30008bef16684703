/**
 * A device's files in memory: a tree of folders and plain files with limits on size and number.
 * Paths never refer to files of the machine that runs the simulator.
 */
import type { Clock } from '../../../fixtures/base/clock.ts';

/** Limits on one device's files. */
export const fileLimits = {
  fileMaxBytes: 8 * 2 ** 20,
  /** Total size of all files. */
  allMaxBytes: 16 * 2 ** 20,
  /** Number of files and folders together. */
  entriesMax: 1000,
  nameMaxBytes: 255,
  pathMaxBytes: 4096,
} as const;

/** Thrown when a file operation fails; the message is what a shell would print. */
export class FileError extends Error {
  override readonly name = 'FileError';
}

/** Attributes of a file or folder. */
export interface FileStat {
  readonly isFolder: boolean;
  /** Size of the content; 0 for a folder. */
  readonly sizeBytes: number;
  /** The nine permission bits, as set by chmod. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modifiedMs: number;
}

/** Owner and permissions of a file or folder. */
type FileOwnership = Partial<Pick<FileStat, 'mode' | 'uid' | 'gid'>>;

/** Stored bytes, or a function that generates the content at each read. */
type Content = Buffer | (() => string);

interface Folder {
  readonly entries: Map<string, FileOrFolder>;
  modifiedMs: number;
}

interface PlainFile {
  readonly content: Content;
  readonly modifiedMs: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

type FileOrFolder = Folder | PlainFile;

const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;

/** Returns the absolute path without `.`, `..` and repeated slashes. */
export function absolutePath(path: string, workingFolder = '/'): string {
  const fullPath = path.startsWith('/') ? path : `${workingFolder}/${path}`;
  const parts: string[] = [];
  for (const part of fullPath.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** All files of a device. Paths are absolute. Every method except `exists` throws FileError. */
export class DeviceFiles {
  readonly #clock: Clock;
  readonly #root: Folder;
  #entriesCount = 0;
  #bytes = 0;

  constructor(clock: Clock, contents: Readonly<Record<string, string | (() => string)>> = {}) {
    this.#clock = clock;
    this.#root = this.#newFolder();
    for (const [path, content] of Object.entries(contents)) this.#plant(path, content);
  }

  stat(path: string): FileStat {
    const entry = this.#entryAt(path);
    const { modifiedMs } = entry;
    if (isFolder(entry)) {
      return { isFolder: true, sizeBytes: 0, mode: FOLDER_MODE, uid: 0, gid: 0, modifiedMs };
    }
    const { mode, uid, gid } = entry;
    return { isFolder: false, sizeBytes: bytesOf(entry).length, mode, uid, gid, modifiedMs };
  }

  exists(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /** Returns the names in a folder, sorted. */
  list(path: string): string[] {
    const entry = this.#entryAt(path);
    if (!isFolder(entry)) throw new FileError('Not a directory');
    return [...entry.entries.keys()].sort();
  }

  read(path: string): Buffer {
    const entry = this.#entryAt(path);
    if (isFolder(entry)) throw new FileError('Is a directory');
    return bytesOf(entry);
  }

  /** Creates or replaces a file; its folder must exist. */
  write(path: string, content: Buffer, ownership: FileOwnership = {}): void {
    const [folder, name] = this.#locationOf(path);
    const earlierEntry = folder.entries.get(name);
    if (earlierEntry !== undefined && isFolder(earlierEntry)) throw new FileError('Is a directory');
    const freed = earlierEntry === undefined ? 0 : sizeOf(earlierEntry);
    this.#claim(content.length - freed, earlierEntry === undefined ? 1 : 0, content.length);
    const {
      mode = earlierEntry?.mode ?? FILE_MODE,
      uid = earlierEntry?.uid ?? 0,
      gid = earlierEntry?.gid ?? 0,
    } = ownership;
    const modifiedMs = this.#clock.now();
    folder.entries.set(name, { content: Buffer.from(content), modifiedMs, mode, uid, gid });
    folder.modifiedMs = modifiedMs;
  }

  makeFolder(path: string): void {
    const [folder, name] = this.#locationOf(path);
    if (folder.entries.has(name)) throw new FileError('File exists');
    this.#claim(0, 1);
    folder.entries.set(name, this.#newFolder());
    folder.modifiedMs = this.#clock.now();
  }

  /** Removes a file, or a folder with its contents. */
  remove(path: string): void {
    const [folder, name] = this.#locationOf(path);
    const entry = folder.entries.get(name);
    if (entry === undefined) throw new FileError('No such file or directory');
    folder.entries.delete(name);
    folder.modifiedMs = this.#clock.now();
    this.#bytes -= sizeOf(entry);
    this.#entriesCount -= countOf(entry);
  }

  /** Returns the parent folder and the name of a path. */
  #locationOf(path: string): readonly [Folder, string] {
    const fullPath = absolutePath(path);
    const cut = fullPath.lastIndexOf('/');
    const name = fullPath.slice(cut + 1);
    if (name === '') throw new FileError('Is a directory');
    const isLong =
      Buffer.byteLength(name) > fileLimits.nameMaxBytes ||
      Buffer.byteLength(fullPath) > fileLimits.pathMaxBytes;
    if (isLong) throw new FileError('File name too long');
    if (name.includes('\0')) throw new FileError('Invalid argument');
    const folder = this.#entryAt(fullPath.slice(0, cut) || '/');
    if (!isFolder(folder)) throw new FileError('Not a directory');
    return [folder, name];
  }

  #entryAt(path: string): FileOrFolder {
    const entry = this.#find(path);
    if (entry === undefined) throw new FileError('No such file or directory');
    return entry;
  }

  #find(path: string): FileOrFolder | undefined {
    let entry: FileOrFolder | undefined = this.#root;
    for (const part of absolutePath(path).split('/').filter(Boolean)) {
      entry = isFolder(entry) ? entry.entries.get(part) : undefined;
      if (entry === undefined) return undefined;
    }
    return entry;
  }

  #claim(bytes: number, entries: number, fileBytes = 0): void {
    if (fileBytes > fileLimits.fileMaxBytes) throw new FileError('File too large');
    const isFull =
      this.#bytes + bytes > fileLimits.allMaxBytes ||
      this.#entriesCount + entries > fileLimits.entriesMax;
    if (isFull) throw new FileError('No space left on device');
    this.#bytes += bytes;
    this.#entriesCount += entries;
  }

  /** Adds an initial file, or a folder when the path ends with a slash. */
  #plant(path: string, content: Content | string): void {
    const parts = absolutePath(path).split('/');
    for (let depth = 2; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      if (!this.exists(folder)) this.makeFolder(folder);
    }
    if (path.endsWith('/')) this.makeFolder(path);
    else this.write(path, Buffer.from(typeof content === 'function' ? '' : content));
    if (typeof content === 'function') this.#refreshOnRead(path, content);
  }

  #refreshOnRead(path: string, content: () => string): void {
    const [folder, name] = this.#locationOf(path);
    const modifiedMs = this.#clock.now();
    folder.entries.set(name, { content, modifiedMs, mode: FILE_MODE, uid: 0, gid: 0 });
  }

  #newFolder(): Folder {
    return { entries: new Map(), modifiedMs: this.#clock.now() };
  }
}

function isFolder(entry: FileOrFolder): entry is Folder {
  return 'entries' in entry;
}

function bytesOf({ content }: PlainFile): Buffer {
  return typeof content === 'function' ? Buffer.from(content()) : content;
}

/**
 * Returns the bytes that an entry counts against the device's limit; generated content counts as 0.
 */
function sizeOf(entry: FileOrFolder): number {
  if (!isFolder(entry)) return Buffer.isBuffer(entry.content) ? entry.content.length : 0;
  return [...entry.entries.values()].reduce((total, inner) => total + sizeOf(inner), 0);
}

function countOf(entry: FileOrFolder): number {
  if (!isFolder(entry)) return 1;
  return [...entry.entries.values()].reduce((total, inner) => total + countOf(inner), 1);
}
