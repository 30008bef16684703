/**
 * Removes the resources that a fleet created on a server, according to the fleet's ledger: aborts
 * its deployments and decommissions its devices. Each removal is recorded, so that an interrupted
 * cleanup can be repeated. Resources that are not in the ledger stay untouched.
 */
import { rmSync } from 'node:fs';
import type { Clock } from '../../fixtures/base/clock.ts';
import { type AuthSetStatus, authSetStatuses } from '../../fixtures/contract/vocabulary.ts';
import { type Credentials, ManagementClient } from '../api-client/management.ts';
import { identityKey } from '../identity/identity.ts';
import { ClientError, FleetStopped } from '../network/errors.ts';
import { Semaphore } from '../network/semaphore.ts';
import { Transport } from '../network/transport.ts';
import type { FleetPlan } from '../plan/plan.ts';
import {
  CleanupLedger,
  isEmptyLedger,
  keyFingerprint,
  type LedgerDevice,
  readLedger,
} from './cleanup-ledger.ts';
import { type LocatedLedger, ledgersAt } from './ledger-locations.ts';
import { FleetStateError } from './state-error.ts';

export interface FleetCleanupOptions {
  /** Paths of ledgers, or of state folders that contain ledgers. */
  readonly locations: readonly string[];
  /** Base URL of the server; the ledger's URL when omitted. */
  readonly baseUrl?: string | undefined;
  /**
   * True allows a URL other than the ledger's, and removes resources from the ledger that the
   * server does not know.
   */
  readonly isForced?: boolean | undefined;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
  /** Trusted certificates, and the client certificate. */
  readonly tls?: FleetPlan['tls'];
  /** Interrupts the cleanup; a later cleanup continues it. */
  readonly signal: AbortSignal;
  /** Called with the number of devices handled so far and the total. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface FleetCleanupResult {
  readonly baseUrl: string;
  /** Number of devices that were still listed in the ledgers. */
  readonly devices: number;
  readonly decommissioned: number;
  /** Number of devices that the server did not know. */
  readonly notThere: number;
  readonly deploymentsClosed: number;
  /** One line for each resource that was not removed, with the reason. */
  readonly stayed: readonly string[];
  /**
   * True when the server knows none of the resources, which suggests that it is the wrong server.
   * Then the ledgers stay unchanged.
   */
  readonly isDoubtful: boolean;
  /** Paths of ledgers that were deleted because all their resources have been removed. */
  readonly deletedLedgers: readonly string[];
}

const CONNECTIONS_MAX = 16;
const AT_ONCE = 8;

/**
 * Cleans up the resources of all ledgers, one ledger after the other.
 * @throws FleetStateError when a ledger cannot be used, or is in use; ClientError when the server
 * cannot
 *   be reached or refuses the login
 */
export async function cleanUpFleet(options: FleetCleanupOptions): Promise<FleetCleanupResult> {
  const ledgers = ledgersAt(options.locations);
  try {
    const baseUrl = urlOf(ledgers, options);
    const cleanup = new Cleanup(baseUrl, options, ledgers);
    return await cleanup.run();
  } finally {
    for (const { lock } of ledgers) lock.release();
  }
}

function urlOf(ledgers: readonly LocatedLedger[], { baseUrl, isForced }: FleetCleanupOptions) {
  if (baseUrl !== undefined && isForced) return baseUrl;
  const urls = new Set(ledgers.map(({ content }) => content.baseUrl));
  const [url = '', otherUrl] = urls;
  if (otherUrl !== undefined) {
    throw new FleetStateError(
      `the ledgers belong to ${url} and ${otherUrl}; clean up one server at a time.`,
    );
  }
  if (baseUrl === undefined || baseUrl === url) return url;
  throw new FleetStateError(
    `the ledger ${ledgers[0]?.path} belongs to ${url}, not to ${baseUrl}; leave --url out, or add --force if both are addresses of the same server.`,
  );
}

class Cleanup {
  readonly #baseUrl: string;
  readonly #options: FleetCleanupOptions;
  readonly #ledgers: readonly LocatedLedger[];
  readonly #transport: Transport;
  readonly #management: ManagementClient;
  readonly #stayed: string[] = [];
  readonly #opened: CleanupLedger[] = [];
  /**
   * Functions that remove unknown resources from the ledger, run once the server is known to be the
   * right one.
   */
  readonly #absences: (() => void)[] = [];
  /** True when the server does not know a resource to which the fleet's server had given an ID. */
  #isMadeAbsent = false;
  #decommissioned = 0;
  #notThere = 0;
  #deploymentsClosed = 0;
  #devices = 0;

  constructor(baseUrl: string, options: FleetCleanupOptions, ledgers: readonly LocatedLedger[]) {
    const { clock, requestTimeLimitMs, tls, credentials } = options;
    this.#baseUrl = baseUrl;
    this.#options = options;
    this.#ledgers = ledgers;
    this.#transport = new Transport({
      baseUrl,
      requestTimeLimitMs,
      clock,
      ...tls,
      observer: nobody,
      connectionsMax: CONNECTIONS_MAX,
    });
    this.#management = new ManagementClient({ transport: this.#transport, clock, credentials });
  }

  async run(): Promise<FleetCleanupResult> {
    const { signal } = this.#options;
    const stop = (): void => this.#transport.abortAll();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await this.#management.login();
      for (const ledger of this.#ledgers) await this.#cleanUp(ledger);
      return this.#result();
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#transport.close();
      for (const ledger of this.#opened) ledger.close();
    }
  }

  #result(): FleetCleanupResult {
    const isNothingThere = this.#decommissioned + this.#deploymentsClosed === 0;
    // A server that knows none of the resources may be the wrong one, so its responses are not
    // trusted.
    const isDoubtful = this.#isMadeAbsent && isNothingThere && !this.#options.isForced;
    if (!isDoubtful) for (const note of this.#absences) note();
    return {
      baseUrl: this.#baseUrl,
      devices: this.#devices,
      decommissioned: this.#decommissioned,
      notThere: this.#notThere,
      deploymentsClosed: this.#deploymentsClosed,
      stayed: this.#stayed,
      isDoubtful,
      deletedLedgers: this.#deleteSpent(),
    };
  }

  #deleteSpent(): readonly string[] {
    const paths = this.#ledgers.map(({ path }) => path);
    return paths.filter((path) => {
      const content = readLedger(path);
      const isDeleted = content !== undefined && isEmptyLedger(content);
      if (isDeleted) rmSync(path);
      return isDeleted;
    });
  }

  async #cleanUp({ path, content }: LocatedLedger): Promise<void> {
    const ledger = CleanupLedger.open(path, content.baseUrl);
    this.#opened.push(ledger);
    for (const id of content.deployments) await this.#closeDeployment(id, ledger);
    const devices = [...content.devices.values()];
    this.#devices += devices.filter(({ ids, isSought }) => ids.size > 0 || isSought).length;
    await this.#findIds(
      devices.filter(({ isSought }) => isSought),
      ledger,
    );
    const semaphore = new Semaphore(AT_ONCE);
    await Promise.all(
      devices.flatMap(({ index, ids }) =>
        [...ids].map((id) => semaphore.run(() => this.#decommission(id, index, ledger))),
      ),
    );
  }

  async #closeDeployment(id: string, ledger: CleanupLedger): Promise<void> {
    await this.#attempt(`deployment ${id}`, async () => {
      const became = await this.#management.abortDeployment(id);
      if (this.#isRemoved(became, id, ledger)) this.#deploymentsClosed++;
    });
  }

  async #decommission(id: string, index: number, ledger: CleanupLedger): Promise<void> {
    await this.#attempt(`device ${index} (${id})`, async () => {
      const became = await this.#management.decommission(id);
      if (this.#isRemoved(became, id, ledger)) this.#decommissioned++;
      else this.#notThere++;
    });
    const { onProgress } = this.#options;
    onProgress?.(this.#decommissioned + this.#notThere, this.#devices);
  }

  #isRemoved(became: 'removed' | 'not-found', id: string, ledger: CleanupLedger): boolean {
    const note = (): void => ledger.append({ removed: id });
    if (became === 'removed') note();
    else {
      this.#absences.push(note);
      this.#isMadeAbsent = true;
    }
    return became === 'removed';
  }

  /**
   * Looks for the server's IDs of devices that contacted the server but never learned their ID,
   * because they were never accepted.
   */
  async #findIds(sought: readonly LedgerDevice[], ledger: CleanupLedger): Promise<void> {
    if (sought.length === 0) return;
    const byIdentity = new Map(sought.map((device) => [identityKey(device.identity), device]));
    await this.#attempt(`${sought.length} devices without an ID`, async () => {
      for (const status of authSetStatuses) await this.#findAmong(status, byIdentity, ledger);
      for (const { index } of sought.filter(({ isSought }) => isSought)) {
        this.#notThere++;
        this.#absences.push(() => ledger.append({ device: index, absent: true }));
      }
    });
  }

  async #findAmong(
    status: AuthSetStatus,
    byIdentity: ReadonlyMap<string, LedgerDevice>,
    ledger: CleanupLedger,
  ): Promise<void> {
    for await (const page of this.#management.devices(status)) {
      for (const { id, identity_data: identity, auth_sets: sets } of page) {
        const device = byIdentity.get(identityKey(identity));
        // Another device may have the same identity data; only the key shows that it is the
        // fleet's.
        const isOwn = sets.some(({ pubkey }) => keyFingerprint(pubkey) === device?.key);
        if (device === undefined || !isOwn || device.ids.has(id)) continue;
        ledger.append({ device: device.index, id });
        device.ids.add(id);
        device.isSought = false;
      }
    }
  }

  /** Runs a removal. If it fails, records the reason so that the cleanup can continue. */
  async #attempt(action: string, callback: () => Promise<void>): Promise<void> {
    try {
      if (this.#options.signal.aborted) throw new FleetStopped();
      await callback();
    } catch (error) {
      if (error instanceof FleetStopped)
        this.#stayed.push(`${action}: the cleanup was interrupted`);
      else if (error instanceof ClientError) this.#stayed.push(`${action}: ${error.message}`);
      else throw error;
    }
  }
}

/** An observer that ignores all exchanges, because a cleanup records no metrics. */
const nobody = {
  recordLateness: () => undefined,
  recordResponse: () => undefined,
  recordNoResponse: () => undefined,
  recordRefusedSignature: () => undefined,
  recordSentBytes: () => undefined,
  recordReceivedBytes: () => undefined,
};
