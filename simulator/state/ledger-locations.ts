/**
 * Finds the ledgers at the paths that a user names: ledger files, ledgers of shards in the same
 * folder, and ledgers in state folders.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Lock } from '../../fixtures/base/process-lock.ts';
import { type LedgerContent, readLedger } from './cleanup-ledger.ts';
import { FleetStateError, fileError } from './state-error.ts';
import { shardFolders } from './state-head.ts';
import { takeStateLock } from './state-lock.ts';
import { ledgerFile } from './storage.ts';

/** A ledger that is locked against use by other processes. */
export interface LocatedLedger {
  readonly path: string;
  readonly content: LedgerContent;
  readonly lock: Lock;
}

/**
 * Returns the ledgers at these paths, locked. The caller must release the locks.
 * @throws FleetStateError when there is no ledger, or one is in use or invalid
 */
export function ledgersAt(locations: readonly string[]): readonly LocatedLedger[] {
  const lockedLedgers: LocatedLedger[] = [];
  try {
    for (const { path, lockFile } of locations.flatMap(pathsAt)) {
      const lock = takeStateLock(lockFile, `the ledger ${path}`);
      const content = readOrRelease(path, lock);
      if (content === undefined) lock.release();
      else lockedLedgers.push({ path, content, lock });
    }
    if (lockedLedgers.length > 0) return lockedLedgers;
    throw new FleetStateError(
      `there is no ledger at ${locations.join(' or ')}; give a ledger or a folder of --state.`,
    );
  } catch (error) {
    for (const { lock } of lockedLedgers) lock.release();
    throw error;
  }
}

function readOrRelease(path: string, lock: Lock): LedgerContent | undefined {
  try {
    return readLedger(path);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function pathsAt(
  location: string,
): readonly { readonly path: string; readonly lockFile: string }[] {
  try {
    if (existsSync(location) && statSync(location).isDirectory()) {
      return [location, ...shardFolders(location)]
        .filter((folder) => existsSync(join(folder, ledgerFile)))
        .map((folder) => ({ path: join(folder, ledgerFile), lockFile: join(folder, 'lock') }));
    }
    const beside = existsSync(dirname(location)) ? readdirSync(dirname(location)) : [];
    const shards = beside.filter((name) => {
      const own = basename(location);
      return name.startsWith(`${own}.`) && /^\d+-of-\d+$/.test(name.slice(own.length + 1));
    });
    return [basename(location), ...shards.sort()]
      .map((name) => join(dirname(location), name))
      .filter((path) => existsSync(path))
      .map((path) => ({ path, lockFile: `${path}.lock` }));
  } catch (error) {
    throw fileError(`cannot read ${location}`, error);
  }
}
