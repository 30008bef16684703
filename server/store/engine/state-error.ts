/** Why a data folder is refused, in one sentence that says what to do. */
import { NotAFile } from '../../../fixtures/plain-file.ts';
import { noSpace, storageProblem } from './storage-error.ts';

/** What is the matter with it. */
export type StateErrorKind =
  | 'in use'
  | 'damaged'
  | 'version'
  | 'foreign'
  | 'unreadable'
  | 'not a file'
  | 'no room'
  | 'not exported'
  | 'other export';

const waysOut: Readonly<Record<StateErrorKind, (folder: string) => string>> = {
  'in use': () => 'stop that process, or name another folder',
  damaged: (folder) =>
    `save the readable data with "fleetbed state export --data ${folder} --out FILE", and create a new folder from it with "fleetbed state import FILE --data NEW"`,
  version: (folder) =>
    `export it with the fleetbed version that wrote it ("fleetbed state export --data ${folder} --out FILE"), or name another folder`,
  foreign: () => 'name an empty folder, or one that does not exist yet',
  'not exported': () => 'name a file that "fleetbed state export" has written',
  'other export': () => 'import it with the fleetbed version that wrote it',
  'no room': () => 'free some space there, or name another folder',
  'not a file': () => 'replace it with the file itself, or name another folder',
  unreadable: () => 'allow this user to read and write it, or name another folder',
};

/** State that cannot be opened. */
export class StateError extends Error {
  override readonly name = 'StateError';
  readonly kind: StateErrorKind;
  /** The file and what is wrong with it, without what to do. */
  readonly what: string;

  /** @param folder the whole data folder, for the sentence that says what to do */
  constructor(
    kind: StateErrorKind,
    what: string,
    { folder = 'FOLDER', cause = undefined as unknown } = {},
  ) {
    super(`${what}; ${waysOut[kind](folder)}`, { cause });
    this.kind = kind;
    this.what = what;
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

/** An error of the engine or the system, as a fault that names the file. */
export function stateError(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof StateError) return cause;
  if (cause instanceof NotAFile) {
    return new StateError('not a file', `${cause.path} is ${cause.kind} where a file must be`, {
      cause,
    });
  }
  const code = 'code' in cause ? String(cause.code) : '';
  // SQLITE_CORRUPT_VTAB and the like are of one family with their first two words.
  const family = code.split('_').slice(0, 2).join('_');
  const disk = storageProblem(cause);
  if (disk !== undefined && !(code in kinds)) return diskError(disk, path, cause);
  const [kind, what] = kinds[code] ?? kinds[family] ?? ['unreadable', 'cannot be opened'];
  const detail = kind === 'in use' ? '' : ` (${cause.message})`;
  return new StateError(kind, `${path} ${what}${detail}`, { cause });
}

function diskError(disk: string, path: string, cause: Error): StateError {
  const kind = disk === noSpace ? 'no room' : 'unreadable';
  return new StateError(kind, `${disk} ${path} (${cause.message})`, { cause });
}
