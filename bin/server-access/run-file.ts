/**
 * Run files: each `fleetbed serve` or `demo` records its addresses and secrets in a private folder, so
 * that other commands of the same user find it. A file that other users could have written or read is
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
import { systemClock } from '../../fixtures/clock.ts';
import { type Holder, isAlive, ownHolder } from '../../fixtures/process-lock.ts';
import { describeError } from '../output/command-error.ts';
import { writeWhole } from '../output/files.ts';
import type { Output } from '../output/output.ts';
import type { ServerReady } from './ready.ts';

/** A running server, and how it is reached. */
export interface RunFile
  extends Holder,
    Pick<
      ServerReady,
      'baseUrl' | 'controlUrl' | 'controlToken' | 'adminEmail' | 'adminPassword' | 'adminToken'
    > {
  /** The test CA's certificate; absent without TLS, or with a given certificate. */
  readonly caPem?: string;
  /** ISO 8601 in UTC. */
  readonly startedAt: string;
}

const FILE_MAX_BYTES = 65_536;
const FOLDER_MODE = 0o700;
const RIGHTS_OF_OTHERS = 0o077;

/**
 * Writes the run file of this process. If that fails, the server still runs.
 * @returns a function that removes the file; the end of the process removes it too
 */
export async function writeRunFile(ready: ServerReady, output: Output): Promise<() => void> {
  const folder = folders().find(makeFolder);
  if (folder === undefined) {
    const tried = folders().map(({ path }) => path);
    output.progress(
      `no run file: no private folder at ${tried.join(' or ')}; other commands need --control-url`,
    );
    return () => undefined;
  }
  const { baseUrl, controlUrl, controlToken, adminEmail, adminPassword, adminToken, tls } = ready;
  const content: RunFile = {
    ...ownHolder(),
    startedAt: new Date(systemClock.now()).toISOString(),
    ...{ baseUrl, controlUrl, controlToken, adminEmail, adminPassword, adminToken },
    ...(tls?.caPem !== undefined && { caPem: tls.caPem }),
  };
  const path = join(folder.path, `${process.pid}.json`);
  try {
    await writeWhole(path, `${JSON.stringify(content)}\n`);
  } catch (error) {
    output.progress(`no run file: ${describeError(error).sentence}`);
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
 * The running servers of this user on this machine, the oldest first. Removes the files of ended
 * ones.
 */
export function runningServers(): readonly RunFile[] {
  const found = folders()
    .filter(({ path }) => isPrivateFolder(path))
    .flatMap(({ path }) => readdirSync(path).map((name) => join(path, name)))
    .filter((path) => path.endsWith('.json'))
    .flatMap((path) => {
      const run = readRunFile(path);
      if (!run || isAlive(run)) return run ?? [];
      rmSync(path, { force: true });
      return [];
    });
  return found.toSorted((one, other) => (one.startedAt < other.startedAt ? -1 : 1));
}

interface Folder {
  readonly path: string;
  /** Whether missing parent folders may be created. */
  readonly isOurs: boolean;
}

/**
 * The folders of run files, the preferred one first: a command may lack a variable that the server
 * had.
 */
function folders(): readonly Folder[] {
  const { XDG_RUNTIME_DIR: runtime = '', XDG_STATE_HOME: state } = process.env;
  const home = join(state || join(homedir(), '.local', 'state'), 'fleetbed', 'run');
  return [
    ...(isAbsolute(runtime) ? [{ path: join(runtime, 'fleetbed'), isOurs: false }] : []),
    { path: home, isOurs: true },
  ];
}

/** True once the folder is there and is private. */
function makeFolder({ path, isOurs }: Folder): boolean {
  try {
    mkdirSync(path, { recursive: isOurs, mode: FOLDER_MODE });
  } catch {
    // It exists already, or cannot be created: the check below decides.
  }
  try {
    const found = lstatSync(path);
    if (!found.isDirectory() || !isOwn(found)) return false;
    if ((found.mode & RIGHTS_OF_OTHERS) !== 0) chmodSync(path, FOLDER_MODE);
    return true;
  } catch {
    return false;
  }
}

function isPrivateFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && isPrivate(found);
}

/** Windows has neither user ids nor modes; its home folders are private. */
function isPrivate(found: Stats): boolean {
  return isOwn(found) && (process.getuid === undefined || (found.mode & RIGHTS_OF_OTHERS) === 0);
}

function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/** Undefined when the file is not a run file, or accessible to other users. */
function readRunFile(path: string): RunFile | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!found.isFile() || !isPrivate(found) || found.size > FILE_MAX_BYTES) return undefined;
      const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
      return isRunFile(read) ? read : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    // Deleted meanwhile, a link, incomplete, or of another version: not usable.
    return undefined;
  }
}

const texts = [
  ...['baseUrl', 'controlUrl', 'controlToken', 'host', 'startedAt'],
  ...['adminEmail', 'adminPassword', 'adminToken'],
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
