/**
 * The error for a data folder that is refused; its message is one sentence that ends with the
 * remedy.
 */
import { NotAFile } from '../../../fixtures/base/plain-file.ts';
import { noSpace, storageProblem } from './storage-error.ts';

/** The kind of problem, which determines the remedy. */
export type StateErrorKind =
  | 'in use'
  | 'damaged'
  | 'version'
  | 'foreign'
  | 'unreadable'
  | 'not a file'
  | 'disk full'
  | 'not exported'
  | 'other export';

const remedies: Readonly<Record<StateErrorKind, (folder: string) => string>> = {
  'in use': () => 'stop that process, or name another folder',
  damaged: (folder) =>
    `save the readable data with "npx fleetbed state export --data ${folder} --out FILE", and create a new folder from it with "npx fleetbed state import FILE --data NEW"`,
  version: (folder) =>
    `export it with the fleetbed version that wrote it ("npx fleetbed state export --data ${folder} --out FILE"), or name another folder`,
  foreign: () => 'name an empty folder, or one that does not exist yet',
  'not exported': () => 'name a file that "npx fleetbed state export" has written',
  'other export': () => 'import it with the fleetbed version that wrote it',
  'disk full': () => 'free some space there, or name another folder',
  'not a file': () => 'replace it with the file itself, or name another folder',
  unreadable: () => 'allow this user to read and write it, or name another folder',
};

/** The state cannot be opened. */
export class StateError extends Error {
  override readonly name = 'StateError';
  readonly kind: StateErrorKind;
  /** The file and its problem, without the remedy. */
  readonly problem: string;

  /** @param folder the data folder that the remedy names */
  constructor(
    kind: StateErrorKind,
    problem: string,
    { folder = 'FOLDER', cause = undefined as unknown } = {},
  ) {
    super(`${problem}; ${remedies[kind](folder)}`, { cause });
    this.kind = kind;
    this.problem = problem;
  }
}

const kinds: Readonly<Record<string, readonly [StateErrorKind, string]>> = {
  SQLITE_BUSY: ['in use', 'is in use by another process'],
  SQLITE_LOCKED: ['in use', 'is in use by another process'],
  SQLITE_NOTADB: ['damaged', 'is not a database'],
  SQLITE_CORRUPT: ['damaged', 'is damaged'],
  EACCES: ['unreadable', 'cannot be opened by this user'],
  EPERM: ['unreadable', 'cannot be opened by this user'],
  EROFS: ['unreadable', 'is on a read-only file system'],
  ENOENT: ['unreadable', 'does not exist'],
  ENOTDIR: ['unreadable', 'has a file where a folder must be'],
  EISDIR: ['unreadable', 'is a folder where a file must be'],
  EEXIST: ['unreadable', 'is a file where a folder must be'],
};

/**
 * Converts an error of SQLite or the system to a StateError that names the file; returns other
 * values unchanged.
 */
export function stateError(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof StateError) return cause;
  if (cause instanceof NotAFile) {
    return new StateError('not a file', `${cause.path} is ${cause.kind} where a file must be`, {
      cause,
    });
  }
  const code = 'code' in cause ? String(cause.code) : '';
  // Extended codes such as SQLITE_CORRUPT_VTAB begin with the two words of their primary code.
  const family = code.split('_').slice(0, 2).join('_');
  const disk = storageProblem(cause);
  if (disk !== undefined && !(code in kinds)) return diskError(disk, path, cause);
  const [kind, what] = kinds[code] ?? kinds[family] ?? ['unreadable', 'cannot be opened'];
  const detail = kind === 'in use' ? '' : ` (${cause.message})`;
  return new StateError(kind, `${path} ${what}${detail}`, { cause });
}

function diskError(disk: string, path: string, cause: Error): StateError {
  const kind = disk === noSpace ? 'disk full' : 'unreadable';
  return new StateError(kind, `${disk} ${path} (${cause.message})`, { cause });
}
