/** Removes what runs have left on a target, by the ledger that they wrote. */
import { closeSync, writeSync } from 'node:fs';
import type { Clock } from '../../fixtures/clock.ts';
import { adminOn } from '../adapters/admin-source.ts';
import { type ControlAddress, HttpControl } from '../adapters/http-control.ts';
import { checkControl } from '../adapters/steering.ts';
import { LedgerError, openToAppend } from '../context/cleanup-ledger.ts';
import { nameOf, removeResource } from '../context/resource.ts';
import { Mask } from '../target/mask.ts';
import { type Credentials, checkedBaseUrl, logIn, reachTarget } from '../target/setup.ts';
import { AdminUnusableError } from '../target/setup-error.ts';
import { Target } from '../target/target.ts';
import { type Remainder, readLedger } from './ledger-reading.ts';

/** One clean-up as it is asked for. */
export interface CleanupOptions {
  readonly ledgerFile: string;
  /** Where the server answers; without it, where the newest run of the ledger has played. */
  readonly baseUrl?: string | undefined;
  /** With `none` only tenants are removed. */
  readonly credentials: Credentials;
  /** The control listener, which alone removes tenants. */
  readonly control?: ControlAddress | undefined;
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
  readonly caPem?: string | undefined;
  /** Ends the clean-up after the resource at hand; another one goes on from there. */
  readonly signal?: AbortSignal;
  /** Called with a line for each resource that is gone. */
  readonly onRemoved?: (name: string) => void;
}

/** What became of what the ledger tells of. */
export interface CleanupResult {
  readonly baseUrl: string;
  /** Things that the ledger announces in all. */
  readonly announced: number;
  /** Those that were left and are gone now, the newest first. */
  readonly removed: readonly string[];
  /** A line for each resource that stayed. */
  readonly stayed: readonly string[];
}

/**
 * Removes the newest resource first, and notes each in the ledger, so that a clean-up that was ended
 * midway can be repeated. Throws a SetupError when it could not begin.
 */
export async function cleanUp(options: CleanupOptions): Promise<CleanupResult> {
  const { ledgerFile, clock, requestTimeLimitMs, caPem } = options;
  const ledger = readLedger(ledgerFile);
  const baseUrl = checkedBaseUrl(options.baseUrl ?? ledger.baseUrl);
  const target = new Target({ baseUrl, clock, requestTimeLimitMs, caPem });
  try {
    const remove = await remover(target, baseUrl, options);
    const { removed, stayed } = await removeAll(ledger.remainders, options, remove);
    return { baseUrl, announced: ledger.announced, removed, stayed };
  } finally {
    await target.close();
  }
}

type Remove = (remainder: Remainder) => Promise<void>;

async function remover(target: Target, baseUrl: string, options: CleanupOptions): Promise<Remove> {
  const session = target.session();
  await reachTarget(session, baseUrl);
  const source = await logIn(session, options.credentials, new Mask());
  if (source.kind === 'unusable') throw new AdminUnusableError(source.because);
  const admin = adminOn(source, session);
  const control = options.control && new HttpControl(options.control, session);
  if (options.control) await checkControl(session, options.control);
  return ({ resource, id }) =>
    control && resource.kind === 'tenant'
      ? control.removeTenant(resource.name, id)
      : removeResource(resource, id, admin);
}

async function removeAll(
  remainders: readonly Remainder[],
  { ledgerFile, signal, onRemoved }: CleanupOptions,
  remove: Remove,
) {
  const removed: string[] = [];
  const stayed: string[] = [];
  const note = noteIn(ledgerFile);
  try {
    for (const remainder of remainders) {
      const name = nameOf(remainder.resource);
      const fault = signal?.aborted
        ? 'the cleanup was interrupted'
        : await faultOf(remove, remainder);
      if (fault !== undefined) {
        stayed.push(`${name}: ${fault}`);
        continue;
      }
      note.removed(remainder);
      removed.push(name);
      onRemoved?.(name);
    }
  } finally {
    note.close();
  }
  return { removed, stayed };
}

async function faultOf(remove: Remove, remainder: Remainder): Promise<string | undefined> {
  try {
    await remove(remainder);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function noteIn(ledgerFile: string) {
  try {
    const file = openToAppend(ledgerFile);
    return {
      removed: ({ run, entry }: Remainder) =>
        writeSync(file, `${JSON.stringify({ run, entry, removed: true })}\n`),
      close: () => closeSync(file),
    };
  } catch (error) {
    throw new LedgerError(ledgerFile, error);
  }
}
