/**
 * The cleanup ledger of a run: a file that lists the resources which the run creates on the target,
 * so that they can be removed even if the run is killed. The file has JSON lines and is only
 * appended to. A line is on the disk before its resource is created. It contains no secrets.
 */
import {
  closeSync,
  fchmodSync,
  fdatasync,
  fstatSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import { type Lock, LockHeldError, takeLock } from '../../fixtures/base/process-lock.ts';
import { SetupError } from '../target/setup-error.ts';
import type { ResourceIdentity } from './resource.ts';

const flush = promisify(fdatasync);
const OWNER_ONLY = 0o600;

const name = v.string();

/** A resource as recorded in a ledger line. */
const resourceShape: v.GenericSchema<unknown, ResourceIdentity> = v.variant('kind', [
  v.object({ kind: v.literal('device'), identity: v.record(v.string(), v.unknown()) }),
  v.object({ kind: v.literal('artifact'), name, deviceType: v.string() }),
  v.object({ kind: v.literal('deployment'), name }),
  v.object({ kind: v.literal('tenant'), name }),
]);

const run = v.string();
const entry = v.pipe(v.number(), v.integer());

/** The kinds of lines: a run starts; a resource will be created, got its ID, or was removed. */
export const ledgerLine = v.union([
  v.object({
    run,
    ledger: v.literal('fleetbed-ledger/1'),
    baseUrl: v.string(),
    startedAt: v.string(),
  }),
  v.object({ run, entry, intent: resourceShape, for: v.string() }),
  v.object({ run, entry, made: v.string() }),
  v.object({ run, entry, removed: v.literal(true) }),
]);
type LedgerLine = v.InferOutput<typeof ledgerLine>;

/** The file of a ledger cannot be used. */
export class LedgerError extends SetupError {
  readonly code = 'ledger-unusable';

  constructor(path: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`the ledger ${path} cannot be used (${reason}); choose another file`, { cause });
    this.name = 'LedgerError';
  }
}

/** A run or a cleanup is using the ledger. */
class LedgerInUseError extends SetupError {
  readonly code = 'ledger-in-use';
  override readonly name = 'LedgerInUseError';
}

/** Locks a ledger for one run or cleanup. @throws LedgerInUseError, LedgerError */
export function lockLedger(path: string): Lock {
  try {
    return takeLock(`${path}.lock`, `the ledger ${path}`);
  } catch (error) {
    if (error instanceof LockHeldError) throw new LedgerInUseError(error.message, { cause: error });
    throw new LedgerError(path, error);
  }
}

/** One resource in a ledger. */
export interface LedgerEntry {
  /** Records the ID that the target gave the resource. */
  made(id: string): void;
  /** Records that the resource was removed or never created. */
  removeWithRetries(): void;
}

/** The interface by which a run records the resources that it creates. */
export interface CleanupLedger {
  /**
   * Announces a resource; resolves once the announcement is safely on the disk.
   * @param caseId the case that creates the resource, or `all` for one that the run shares
   */
  announce(resource: ResourceIdentity, caseId: string): Promise<LedgerEntry>;
}

/**
 * A ledger that records nothing, for resources that are removed together with another resource
 * that is recorded, such as the devices of a tenant.
 */
export const noLedger: CleanupLedger = {
  announce: async () => ({ made: () => undefined, removeWithRetries: () => undefined }),
};

/** A ledger that is open for writing. The owner must close it. */
export class CleanupLedgerFile implements CleanupLedger {
  readonly #file: number;
  readonly #run: string;
  readonly #lock: Lock;
  #entries = 0;
  /** The flush that has not begun: it will cover every line that is appended until then. */
  #nextFlush: Promise<void> | undefined;
  #lastFlush: Promise<void> = Promise.resolve();

  private constructor(file: number, runId: string, lock: Lock) {
    this.#file = file;
    this.#run = runId;
    this.#lock = lock;
  }

  /**
   * Opens or creates the file, readable by its owner only, and keeps others from using it.
   * @throws LedgerInUseError, LedgerError
   */
  static open(
    path: string,
    head: { readonly runId: string; readonly baseUrl: string; readonly startedAt: string },
  ): CleanupLedgerFile {
    const lock = lockLedger(path);
    try {
      const { runId, baseUrl, startedAt } = head;
      const ledger = new CleanupLedgerFile(openToAppend(path), runId, lock);
      ledger.#append({ run: runId, ledger: 'fleetbed-ledger/1', baseUrl, startedAt });
      return ledger;
    } catch (error) {
      lock.release();
      throw new LedgerError(path, error);
    }
  }

  async announce(resource: ResourceIdentity, caseId: string): Promise<LedgerEntry> {
    this.#entries += 1;
    const [runId, number] = [this.#run, this.#entries];
    this.#append({ run: runId, entry: number, intent: resource, for: caseId });
    await this.#awaitFlush();
    return {
      made: (id) => this.#append({ run: runId, entry: number, made: id }),
      removeWithRetries: () => this.#append({ run: runId, entry: number, removed: true }),
    };
  }

  close(): void {
    closeSync(this.#file);
    this.#lock.release();
  }

  /** Resolves once all lines so far are on the disk. Those that wait share one flush. */
  #awaitFlush(): Promise<void> {
    const begin = (): Promise<void> => {
      this.#nextFlush = undefined;
      this.#lastFlush = flush(this.#file);
      return this.#lastFlush;
    };
    // A flush that failed concerns those that waited for it, not the next ones.
    this.#nextFlush ??= this.#lastFlush.then(begin, begin);
    return this.#nextFlush;
  }

  #append(line: LedgerLine): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}

/** Opens a file to append lines; adds a line break first if the last line was truncated. */
export function openToAppend(path: string): number {
  const file = openSync(plainFile(path), 'a+', OWNER_ONLY);
  fchmodSync(file, OWNER_ONLY);
  const { size } = fstatSync(file);
  const lastByte = Buffer.alloc(1);
  if (size > 0 && readSync(file, lastByte, 0, 1, size - 1) === 1 && lastByte.toString() !== '\n') {
    writeSync(file, '\n');
  }
  return file;
}
