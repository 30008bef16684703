/** Removes the resources that interrupted runs left on a target, according to their ledger. */
import { closeSync, rmSync, writeSync } from 'node:fs';
import type { Clock } from '../../fixtures/base/clock.ts';
import { adminOn } from '../adapters/admin-source.ts';
import { type ControlAddress, HttpControl } from '../adapters/http-control.ts';
import { checkControl } from '../adapters/target-control.ts';
import { LedgerError, lockLedger, openToAppend } from '../context/cleanup-ledger.ts';
import { nameOf, removeResource } from '../context/resource.ts';
import { Mask } from '../target/mask.ts';
import { checkedBaseUrl, logIn, reachTarget, type SuiteCredentials } from '../target/setup.ts';
import { AdminUnusableError, SetupError } from '../target/setup-error.ts';
import { Target } from '../target/target.ts';
import { type LeftResource, type ReadLedger, readLedger } from './ledger-reading.ts';

/** The options of one cleanup. */
export interface CleanupOptions {
  readonly ledgerFile: string;
  /** The base URL of the server; by default the one that the ledger contains. */
  readonly baseUrl?: string | undefined;
  /**
   * True to accept a URL that differs from the ledger's, and to strike resources that are absent
   * there from the ledger.
   */
  readonly isForced?: boolean | undefined;
  /** The user who removes the resources; with `none` only tenants can be removed. */
  readonly credentials: SuiteCredentials;
  /** The control listener, which is needed to remove tenants. */
  readonly control?: ControlAddress | undefined;
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
  readonly caPem?: string | undefined;
  /** Ends the cleanup after the current resource; a later cleanup can continue. */
  readonly signal?: AbortSignal;
  /** Called with the name of each removed resource. */
  readonly onRemoved?: (name: string) => void;
}

/** The outcome of a cleanup. */
export interface CleanupResult {
  readonly baseUrl: string;
  /** Total number of resources that the ledger announces. */
  readonly announced: number;
  /** The names of the resources that this cleanup removed, the newest first. */
  readonly removed: readonly string[];
  /** The names of the resources that the server does not know. */
  readonly absent: readonly string[];
  /** A line for each resource that remains. */
  readonly stayed: readonly string[];
  /**
   * True if the server knows none of the resources although some had an ID, which suggests that it
   * is another server. In that case the ledger is unchanged.
   */
  readonly isDoubtful: boolean;
  /** True if no resource remains, so that the ledger was deleted. */
  readonly isLedgerDeleted: boolean;
}

/** The URL is not in the ledger, or the ledger has several URLs and none was chosen. */
export class LedgerUrlError extends SetupError {
  readonly code = 'ledger-of-another-server';
  override readonly name = 'LedgerUrlError';
}

/**
 * Removes the resources in a ledger, the newest first, and records each removal in the ledger, so
 * that an interrupted cleanup can be continued. Throws a SetupError when it cannot start.
 */
export async function cleanUp(options: CleanupOptions): Promise<CleanupResult> {
  const { ledgerFile, clock, requestTimeLimitMs, caPem } = options;
  const lock = lockLedger(ledgerFile);
  try {
    const ledger = readLedger(ledgerFile);
    const baseUrl = urlOf(ledger, options);
    const target = new Target({ baseUrl, clock, requestTimeLimitMs, caPem });
    try {
      const remove = await remover(target, baseUrl, options);
      const remainders = ledger.remainders.filter(
        (each) => options.isForced || checkedBaseUrl(each.baseUrl) === baseUrl,
      );
      const outcome = await removeAll(remainders, options, remove);
      const isLedgerDeleted = readLedger(ledgerFile).remainders.length === 0;
      if (isLedgerDeleted) rmSync(ledgerFile);
      return { baseUrl, announced: ledger.announced, ...outcome, isLedgerDeleted };
    } finally {
      await target.close();
    }
  } finally {
    lock.release();
  }
}

/** Returns the base URL of the server to clean up. @throws LedgerUrlError */
function urlOf({ remainders, baseUrls }: ReadLedger, options: CleanupOptions): string {
  const { ledgerFile, isForced = false } = options;
  const remainingUrls = remainders.map(({ baseUrl }) => baseUrl);
  const ledgerUrls = [
    ...new Set((remainingUrls.length > 0 ? remainingUrls : baseUrls).map(checkedBaseUrl)),
  ];
  const [firstUrl = '', secondUrl] = ledgerUrls;
  if (options.baseUrl === undefined) {
    if (secondUrl === undefined) return firstUrl;
    throw new LedgerUrlError(
      `the ledger ${ledgerFile} has resources on ${ledgerUrls.join(' and on ')}; name one of them with --url`,
    );
  }
  const givenUrl = checkedBaseUrl(options.baseUrl);
  if (ledgerUrls.includes(givenUrl) || isForced) return givenUrl;
  throw new LedgerUrlError(
    `the ledger ${ledgerFile} belongs to ${ledgerUrls.join(' and to ')}, not to ${givenUrl}; leave --url out, or add --force if both are addresses of the same server`,
  );
}

/** Removes a resource; resolves to true if the server knew the resource. */
type RemoveResource = (remainder: LeftResource) => Promise<boolean>;

async function remover(
  target: Target,
  baseUrl: string,
  options: CleanupOptions,
): Promise<RemoveResource> {
  const client = target.newClient();
  await reachTarget(client, baseUrl);
  const source = await logIn(client, options.credentials, new Mask());
  if (source.kind === 'unusable') throw new AdminUnusableError(source.reason);
  const admin = adminOn(source, client);
  const control = options.control && new HttpControl(options.control, client);
  if (options.control) await checkControl(client, options.control);
  return async ({ resource, id }) => {
    if (control && resource.kind === 'tenant') return control.removeTenant(resource.name, id);
    const isListed =
      resource.kind !== 'deployment' || (await admin?.findDeployment(resource.name)) !== undefined;
    return (await removeResource(resource, id, admin)) && isListed;
  };
}

async function removeAll(
  remainders: readonly LeftResource[],
  { ledgerFile, signal, onRemoved, isForced = false }: CleanupOptions,
  remove: RemoveResource,
) {
  const removedNames: string[] = [];
  const absent: LeftResource[] = [];
  const stayed: string[] = [];
  const log = openRemovalLog(ledgerFile);
  try {
    for (const remainder of remainders) {
      const name = nameOf(remainder.resource);
      const outcome = signal?.aborted ? interrupted : await outcomeOf(remove, remainder);
      if (outcome.kind === 'absent') absent.push(remainder);
      else if (outcome.kind === 'remains') stayed.push(`${name}: ${outcome.reason}`);
      else {
        log.addRemoved(remainder);
        removedNames.push(name);
        onRemoved?.(name);
      }
    }
    // If the server knows no resource at all, it may be another server than the ledger's.
    const isMadeAbsent = absent.some(({ id }) => id !== undefined);
    const isDoubtful = isMadeAbsent && removedNames.length === 0 && !isForced;
    if (!isDoubtful) for (const remainder of absent) log.addRemoved(remainder);
    return {
      removed: removedNames,
      absent: absent.map(({ resource }) => nameOf(resource)),
      stayed,
      isDoubtful,
    };
  } finally {
    log.close();
  }
}

type RemovalOutcome =
  | { readonly kind: 'removed' | 'absent' }
  | { readonly kind: 'remains'; readonly reason: string };

const interrupted: RemovalOutcome = { kind: 'remains', reason: 'the cleanup was interrupted' };

async function outcomeOf(remove: RemoveResource, remainder: LeftResource): Promise<RemovalOutcome> {
  try {
    return { kind: (await remove(remainder)) ? 'removed' : 'absent' };
  } catch (error) {
    return { kind: 'remains', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Opens the ledger to record removals. @throws LedgerError */
function openRemovalLog(ledgerFile: string) {
  try {
    const file = openToAppend(ledgerFile);
    return {
      addRemoved: ({ run, entry }: LeftResource) =>
        writeSync(file, `${JSON.stringify({ run, entry, removed: true })}\n`),
      close: () => closeSync(file),
    };
  } catch (error) {
    throw new LedgerError(ledgerFile, error);
  }
}
