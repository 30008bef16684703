/**
 * Removes from a server what a fleet has created there, according to its ledger: aborts its
 * deployments and decommissions its devices. Each removal is noted, so that an interrupted clean-up
 * can simply be repeated. Touches nothing that is not in the ledger.
 */
import type { Clock } from '../../fixtures/clock.ts';
import { type AuthSetStatus, authSetStatuses } from '../../fixtures/contract/vocabulary.ts';
import { type Credentials, ManagementClient } from '../client/management.ts';
import { identityKey } from '../identity/identity.ts';
import { ClientError, FleetStopped } from '../network/errors.ts';
import { Semaphore } from '../network/semaphore.ts';
import { Transport } from '../network/transport.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { ledgersAt, type PlacedLedger } from './ledger-places.ts';
import { CleanupLedger, keyFingerprint, type MadeDevice } from './made-ledger.ts';
import { StateError } from './state-error.ts';

/** Options of a clean-up. */
export interface FleetCleanupOptions {
  /** Ledgers, or state folders that contain them. */
  readonly places: readonly string[];
  /** Base URL of the server; defaults to the one in the ledger. */
  readonly baseUrl?: string | undefined;
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

/** Outcome of a clean-up. */
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
    const baseUrl = options.baseUrl ?? commonUrl(ledgers);
    const cleanup = new Cleanup(baseUrl, options, ledgers);
    return await cleanup.run();
  } finally {
    for (const { lock } of ledgers) lock.release();
  }
}

function commonUrl(ledgers: readonly PlacedLedger[]): string {
  const urls = new Set(ledgers.map(({ content }) => content.baseUrl));
  const [url = '', other] = urls;
  if (other === undefined) return url;
  throw new StateError(`the ledgers are of ${url} and of ${other}; clean up one server at a time.`);
}

class Cleanup {
  readonly #baseUrl: string;
  readonly #options: FleetCleanupOptions;
  readonly #ledgers: readonly PlacedLedger[];
  readonly #transport: Transport;
  readonly #management: ManagementClient;
  readonly #stayed: string[] = [];
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
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#transport.close();
    }
    return {
      baseUrl: this.#baseUrl,
      devices: this.#devices,
      decommissioned: this.#decommissioned,
      notThere: this.#notThere,
      deploymentsClosed: this.#deploymentsClosed,
      stayed: this.#stayed,
    };
  }

  async #cleanUp({ path, content }: PlacedLedger): Promise<void> {
    const ledger = CleanupLedger.open(path, content.baseUrl);
    try {
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
    } finally {
      ledger.close();
    }
  }

  async #closeDeployment(id: string, ledger: CleanupLedger): Promise<void> {
    await this.#noting(`deployment ${id}`, async () => {
      const became = await this.#management.abortDeployment(id);
      ledger.append({ removed: id });
      if (became === 'removed') this.#deploymentsClosed++;
    });
  }

  async #decommission(id: string, index: number, ledger: CleanupLedger): Promise<void> {
    await this.#noting(`device ${index} (${id})`, async () => {
      const became = await this.#management.decommission(id);
      ledger.append({ removed: id });
      if (became === 'removed') this.#decommissioned++;
      else this.#notThere++;
    });
    const { onProgress } = this.#options;
    onProgress?.(this.#decommissioned + this.#notThere, this.#devices);
  }

  /**
   * Devices that contacted the server and never learned their ID, because they were never accepted.
   */
  async #findIds(sought: readonly MadeDevice[], ledger: CleanupLedger): Promise<void> {
    if (sought.length === 0) return;
    const byIdentity = new Map(sought.map((device) => [identityKey(device.identity), device]));
    let found = 0;
    await this.#noting(`${sought.length} devices without an id`, async () => {
      for (const status of authSetStatuses)
        found += await this.#findAmong(status, byIdentity, ledger);
      this.#notThere += sought.length - found;
    });
  }

  async #findAmong(
    status: AuthSetStatus,
    byIdentity: ReadonlyMap<string, MadeDevice>,
    ledger: CleanupLedger,
  ): Promise<number> {
    let found = 0;
    for await (const page of this.#management.devices(status)) {
      for (const { id, identity_data: identity, auth_sets: sets } of page) {
        const device = byIdentity.get(identityKey(identity));
        // An identity can be borrowed; only with its key is it the fleet's own.
        const isOwn = sets.some(({ pubkey }) => keyFingerprint(pubkey) === device?.key);
        if (device === undefined || !isOwn || device.ids.has(id)) continue;
        ledger.append({ device: device.index, id });
        device.ids.add(id);
        found++;
      }
    }
    return found;
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
