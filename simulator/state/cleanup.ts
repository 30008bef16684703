/**
 * Removes from a server what a fleet has created there, according to its ledger: aborts its
 * deployments and decommissions its devices. Each removal is noted, so that an interrupted clean-up
 * can simply be repeated. Touches nothing that is not in the ledger.
 */
import { rmSync } from 'node:fs';
import type { Clock } from '../../fixtures/clock.ts';
import { type AuthSetStatus, authSetStatuses } from '../../fixtures/contract/vocabulary.ts';
import { type Credentials, ManagementClient } from '../client/management.ts';
import { identityKey } from '../identity/identity.ts';
import { ClientError, FleetStopped } from '../network/errors.ts';
import { Semaphore } from '../network/semaphore.ts';
import { Transport } from '../network/transport.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { ledgersAt, type PlacedLedger } from './ledger-places.ts';
import {
  CleanupLedger,
  isEmptyLedger,
  keyFingerprint,
  type MadeDevice,
  readLedger,
} from './made-ledger.ts';
import { StateError } from './state-error.ts';

export interface FleetCleanupOptions {
  /** Ledgers, or state folders that contain them. */
  readonly places: readonly string[];
  /** Base URL of the server; defaults to the one in the ledger. */
  readonly baseUrl?: string | undefined;
  /** Another URL than the ledger's is used, and what is absent there is struck from the ledger. */
  readonly isForced?: boolean | undefined;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly requestTimeLimitMs: number;
  /** Certificates to trust, and the user. */
  readonly tls?: FleetPlan['tls'];
  /** Ends the clean-up; another one continues from there. */
  readonly signal: AbortSignal;
  /** Called with the number of devices handled, and the total. */
  readonly onProgress?: (done: number, of: number) => void;
}

export interface FleetCleanupResult {
  readonly baseUrl: string;
  /** Devices that the ledgers still listed. */
  readonly devices: number;
  readonly decommissioned: number;
  /** Devices that the server did not know, or no longer knew. */
  readonly notThere: number;
  readonly deploymentsClosed: number;
  /** One line per resource that was not removed, with the reason. */
  readonly stayed: readonly string[];
  /**
   * True when the server knows nothing of the ledgers, as another server would: nothing was struck
   * from them then.
   */
  readonly isDoubtful: boolean;
  /** Ledgers that were deleted, since nothing is left of them. */
  readonly deletedLedgers: readonly string[];
}

const CONNECTIONS_MAX = 16;
const AT_ONCE = 8;

/**
 * Cleans up by all ledgers, one after the other.
 * @throws StateError when a ledger cannot be used, or is in use; ClientError when the server cannot
 * be reached or refuses the login
 */
export async function cleanUpFleet(options: FleetCleanupOptions): Promise<FleetCleanupResult> {
  const ledgers = ledgersAt(options.places);
  try {
    const baseUrl = urlOf(ledgers, options);
    const cleanup = new Cleanup(baseUrl, options, ledgers);
    return await cleanup.run();
  } finally {
    for (const { lock } of ledgers) lock.release();
  }
}

function urlOf(ledgers: readonly PlacedLedger[], { baseUrl, isForced }: FleetCleanupOptions) {
  if (baseUrl !== undefined && isForced) return baseUrl;
  const urls = new Set(ledgers.map(({ content }) => content.baseUrl));
  const [url = '', other] = urls;
  if (other !== undefined) {
    throw new StateError(
      `the ledgers belong to ${url} and ${other}; clean up one server at a time.`,
    );
  }
  if (baseUrl === undefined || baseUrl === url) return url;
  throw new StateError(
    `the ledger ${ledgers[0]?.path} belongs to ${url}, not to ${baseUrl}; leave --url out, or add --force if both are addresses of the same server.`,
  );
}

class Cleanup {
  readonly #baseUrl: string;
  readonly #options: FleetCleanupOptions;
  readonly #ledgers: readonly PlacedLedger[];
  readonly #transport: Transport;
  readonly #management: ManagementClient;
  readonly #stayed: string[] = [];
  readonly #opened: CleanupLedger[] = [];
  /** Notes what the server did not know, once it can be believed. */
  readonly #absences: (() => void)[] = [];
  /** Whether the server had given an ID to something that it does not know. */
  #isMadeAbsent = false;
  #decommissioned = 0;
  #notThere = 0;
  #deploymentsClosed = 0;
  #devices = 0;

  constructor(baseUrl: string, options: FleetCleanupOptions, ledgers: readonly PlacedLedger[]) {
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
    const stop = (): void => this.#transport.breakOff();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await this.#management.login();
      for (const placed of this.#ledgers) await this.#cleanUp(placed);
      return this.#result();
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#transport.close();
      for (const ledger of this.#opened) ledger.close();
    }
  }

  #result(): FleetCleanupResult {
    const isNothingThere = this.#decommissioned + this.#deploymentsClosed === 0;
    // Only a server that knows some of them can be believed about those that were made.
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

  async #cleanUp({ path, content }: PlacedLedger): Promise<void> {
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
    await this.#noting(`deployment ${id}`, async () => {
      const became = await this.#management.abortDeployment(id);
      if (this.#isRemoved(became, id, ledger)) this.#deploymentsClosed++;
    });
  }

  async #decommission(id: string, index: number, ledger: CleanupLedger): Promise<void> {
    await this.#noting(`device ${index} (${id})`, async () => {
      const became = await this.#management.decommission(id);
      if (this.#isRemoved(became, id, ledger)) this.#decommissioned++;
      else this.#notThere++;
    });
    const { onProgress } = this.#options;
    onProgress?.(this.#decommissioned + this.#notThere, this.#devices);
  }

  #isRemoved(became: 'removed' | 'gone', id: string, ledger: CleanupLedger): boolean {
    const note = (): void => ledger.append({ removed: id });
    if (became === 'removed') note();
    else {
      this.#absences.push(note);
      this.#isMadeAbsent = true;
    }
    return became === 'removed';
  }

  /**
   * Devices that contacted the server and never learned their ID, because they were never accepted.
   */
  async #findIds(sought: readonly MadeDevice[], ledger: CleanupLedger): Promise<void> {
    if (sought.length === 0) return;
    const byIdentity = new Map(sought.map((device) => [identityKey(device.identity), device]));
    await this.#noting(`${sought.length} devices without an id`, async () => {
      for (const status of authSetStatuses) await this.#findAmong(status, byIdentity, ledger);
      for (const { index } of sought.filter(({ isSought }) => isSought)) {
        this.#notThere++;
        this.#absences.push(() => ledger.append({ device: index, absent: true }));
      }
    });
  }

  async #findAmong(
    status: AuthSetStatus,
    byIdentity: ReadonlyMap<string, MadeDevice>,
    ledger: CleanupLedger,
  ): Promise<void> {
    for await (const page of this.#management.devices(status)) {
      for (const { id, identity_data: identity, auth_sets: sets } of page) {
        const device = byIdentity.get(identityKey(identity));
        // An identity can be borrowed; only with its key is it the fleet's own.
        const isOwn = sets.some(({ pubkey }) => keyFingerprint(pubkey) === device?.key);
        if (device === undefined || !isOwn || device.ids.has(id)) continue;
        ledger.append({ device: device.index, id });
        device.ids.add(id);
        device.isSought = false;
      }
    }
  }

  /** A failed removal is noted with its reason; the rest continues. */
  async #noting(what: string, act: () => Promise<void>): Promise<void> {
    try {
      if (this.#options.signal.aborted) throw new FleetStopped();
      await act();
    } catch (error) {
      if (error instanceof FleetStopped) this.#stayed.push(`${what}: the clean-up was interrupted`);
      else if (error instanceof ClientError) this.#stayed.push(`${what}: ${error.message}`);
      else throw error;
    }
  }
}

/** A clean-up records no metrics. */
const nobody = {
  sent: () => undefined,
  answered: () => undefined,
  unanswered: () => undefined,
  signatureRefused: () => undefined,
};
