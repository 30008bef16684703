/**
 * Run files: each `fleetbed serve` or `demo` writes its addresses and secrets to a private folder,
 * where other commands of the same user find them. A file that other users can read or write is
 * never used.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { systemClock } from '../../fixtures/base/clock.ts';
import { isAlive, type LockHolder, ownHolder } from '../../fixtures/base/process-lock.ts';
import { describeError } from '../output/command-error.ts';
import { writeWhole } from '../output/files.ts';
import type { Output } from '../output/output.ts';
import type { ServerReady } from './ready.ts';

/** A running server with its addresses and secrets. */
export interface RunFile
  extends LockHolder,
    Pick<
      ServerReady,
      'baseUrl' | 'controlUrl' | 'controlToken' | 'adminEmail' | 'adminPassword' | 'adminToken'
    > {
  /**
   * The test CA's certificate, PEM; absent without TLS, or when the server uses a given
   * certificate.
   */
  readonly caPem?: string;
  /** Start of the server: ISO 8601 in UTC. */
  readonly startedAt: string;
}

const FILE_MAX_BYTES = 65_536;
const FOLDER_MODE = 0o700;
const RIGHTS_OF_OTHERS = 0o077;

/**
 * Writes the run file of this process. A failure does not stop the server.
 * @returns a function that removes the file; the exit of the process removes it too
 */
export async function writeRunFile(ready: ServerReady, output: Output): Promise<() => void> {
  const folder = folders().find(makeFolder);
  if (folder === undefined) {
    const triedFolders = folders().map(({ path }) => path);
    output.warn(
      `no run file: no private folder at ${triedFolders.join(' or ')}; other commands need --control-url`,
    );
    return () => undefined;
  }
  const { baseUrl, controlUrl, controlToken, adminEmail, adminPassword, adminToken, tls } = ready;
  const content: RunFile = {
    ...ownHolder(),
    startedAt: new Date(systemClock.now()).toISOString(),
    baseUrl,
    controlUrl,
    controlToken,
    adminEmail,
    adminPassword,
    adminToken,
    ...(tls?.caPem !== undefined && { caPem: tls.caPem }),
  };
  const path = join(folder.path, `${process.pid}.json`);
  try {
    await writeWhole(path, `${JSON.stringify(content)}\n`);
  } catch (error) {
    output.warn(`no run file: ${describeError(error).sentence}`);
    return () => undefined;
  }
  const remove = (): void => {
    process.off('exit', remove);
    rmSync(path, { force: true });
  };
  process.on('exit', remove);
  return remove;
}

/**
 * Returns the running servers of this user on this machine, oldest first, and removes the run files
 * of ended ones.
 */
export function runningServers(): readonly RunFile[] {
  const runFiles = folders()
    .filter(({ path }) => isPrivateFolder(path))
    .flatMap(({ path }) => readdirSync(path).map((name) => join(path, name)))
    .filter((path) => path.endsWith('.json'))
    .flatMap((path) => {
      const run = readRunFile(path);
      if (!run || isAlive(run)) return run ?? [];
      rmSync(path, { force: true });
      return [];
    });
  return runFiles.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
}

interface RunFileFolder {
  readonly path: string;
  /** True when missing parent folders may be created. */
  readonly isOurs: boolean;
}

/**
 * Returns the folders for run files, the preferred one first. Reading uses all of them, because a
 * command may lack an environment variable that the server had.
 */
function folders(): readonly RunFileFolder[] {
  const { XDG_RUNTIME_DIR: runtime = '', XDG_STATE_HOME: state } = process.env;
  const home = join(state || join(homedir(), '.local', 'state'), 'fleetbed', 'run');
  return [
    ...(isAbsolute(runtime) ? [{ path: join(runtime, 'fleetbed'), isOurs: false }] : []),
    { path: home, isOurs: true },
  ];
}

/** Creates the folder if needed. Returns true if it exists and is private. */
function makeFolder({ path, isOurs }: RunFileFolder): boolean {
  try {
    mkdirSync(path, { recursive: isOurs, mode: FOLDER_MODE });
  } catch {
    // The folder exists already, or cannot be created; the check below decides.
  }
  try {
    const stats = lstatSync(path);
    if (!stats.isDirectory() || !isOwn(stats)) return false;
    if ((stats.mode & RIGHTS_OF_OTHERS) !== 0) chmodSync(path, FOLDER_MODE);
    return true;
  } catch {
    return false;
  }
}

function isPrivateFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && isPrivate(stats);
}

/**
 * Returns true when other users cannot access the folder. Windows has neither user IDs nor modes,
 * but its home folders are private.
 */
function isPrivate(found: Stats): boolean {
  return isOwn(found) && (process.getuid === undefined || (found.mode & RIGHTS_OF_OTHERS) === 0);
}

function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/** Returns a run file; undefined when the file is something else, or accessible to other users. */
function readRunFile(path: string): RunFile | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile() || !isPrivate(stats) || stats.size > FILE_MAX_BYTES) return undefined;
      const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
      return isRunFile(content) ? content : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    // The file was deleted meanwhile, or is a link, incomplete, or of another version.
    return undefined;
  }
}

const texts = [
  'baseUrl',
  'controlUrl',
  'controlToken',
  'host',
  'startedAt',
  'adminEmail',
  'adminPassword',
  'adminToken',
] as const;

function isRunFile(value: unknown): value is RunFile {
  if (typeof value !== 'object' || value === null) return false;
  const all = new Map<string, unknown>(Object.entries(value));
  const { caPem = '', started = '', pid } = Object.fromEntries(all);
  return (
    texts.every((name) => typeof all.get(name) === 'string') &&
    typeof caPem === 'string' &&
    typeof started === 'string' &&
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    URL.canParse(String(all.get('baseUrl'))) &&
    URL.canParse(String(all.get('controlUrl')))
  );
}
