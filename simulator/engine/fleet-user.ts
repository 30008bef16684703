/**
 * The user of a fleet: it accepts the devices of the fleet, creates the deployment, and aborts
 * the deployment of a device on request. It never changes devices that do not belong to the fleet.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { Device as ListedDevice } from '../../fixtures/contract/management/devices.ts';
import type { ManagementClient, RunDeployment } from '../api-client/management.ts';
import type { SimulatedDevice } from '../device/device.ts';
import { identityKey } from '../identity/identity.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { ClientError, FleetStopped, StatusError } from '../network/errors.ts';
import { type BackOff, backOffMs } from '../network/retry-after.ts';
import { Semaphore } from '../network/semaphore.ts';
import type { DeploymentSource } from './deployment.ts';

export interface FleetUserOptions {
  readonly management: ManagementClient;
  readonly devices: readonly SimulatedDevice[];
  readonly metrics: RunMetrics;
  readonly random: Random;
  readonly clock: Clock;
  /**
   * Waits for a time.
   * @param wakeable key with which `wake` ends the wait early
   */
  readonly sleep: (waitMs: number, wakeable?: object) => Promise<void>;
  readonly wake?: (wakeable: object) => void;
  /** Milliseconds between two rounds of the user; `ROUND_MS` when undefined. */
  readonly roundMs?: number | undefined;
  /** Called when the server's ID of a device of the fleet becomes known. */
  readonly onKnown?: (device: SimulatedDevice) => void;
  /**
   * Returns true once the deployment may be created; without this function, it may be created at
   * once.
   */
  readonly mayDeploy?: () => boolean;
  /** Called once the server has acknowledged the deployment. */
  readonly onDeployed?: (runDeployment: RunDeployment) => void;
  /**
   * Source of the deployment, used once every device is accepted; undefined without a deployment.
   */
  readonly deployment?: DeploymentSource | undefined;
}

const ROUND_MS = 250;
const backOff: BackOff = { minMs: ROUND_MS, maxMs: 10_000 };
const ACCEPTED_AT_ONCE = 8;
/** Number of consecutive errors after which the user gives up. */
const ERRORS_MAX = 20;

/** The user, which works until the run ends. */
export class FleetUser {
  readonly #options: FleetUserOptions;
  readonly #own: ReadonlyMap<string, SimulatedDevice>;
  /** The requested deployment. A coordinator answers only after all shards have requested it. */
  #requested: Promise<RunDeployment> | undefined;
  runDeployment: RunDeployment | undefined;
  /** True once the user has asked the server to abort the deployment of the run. */
  isTargetAborted = false;
  /** The key generation with which each device was last accepted. */
  readonly #accepted = new WeakMap<SimulatedDevice, number>();
  #willLook = false;

  constructor(options: FleetUserOptions) {
    this.#options = options;
    this.#own = new Map(options.devices.map((device) => [identityKey(device.idData), device]));
  }

  /**
   * Accepts devices and creates the deployment, in rounds.
   * @throws ClientError when the deployment is refused or errors continue; FleetStopped
   */
  async work(): Promise<never> {
    const { sleep, roundMs = ROUND_MS } = this.#options;
    for (let failures = 0; ; ) {
      try {
        await this.#round();
        failures = 0;
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        this.#options.metrics.countError(error);
        if (isFinalRefusal(error) || ++failures === ERRORS_MAX) throw error;
        await sleep(this.#waitAfterMs(error, failures));
        continue;
      }
      await sleep(roundMs, this);
    }
  }

  /** Called when a device waits to be accepted. Starts a round soon if the next one is far away. */
  noticePending(): void {
    const { clock, roundMs = ROUND_MS, wake } = this.#options;
    if (this.#willLook || roundMs <= ROUND_MS) return;
    this.#willLook = true;
    // The delay lets one round accept several devices that start to wait at about the same time.
    clock.after(ROUND_MS, () => {
      this.#willLook = false;
      wake?.(this);
    });
  }

  /**
   * Aborts the deployments in progress on the device. Returns false when the server refuses or the
   * device's ID is unknown.
   */
  async abort(device: SimulatedDevice): Promise<boolean> {
    if (device.id === undefined) return false;
    try {
      await this.#options.management.abortDeviceDeployments(device.id);
      return true;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.#options.metrics.countError(error);
      return false;
    }
  }

  /** Aborts the deployment of the run, if there is one. A refusal counts as an error of the run. */
  async abortTarget(): Promise<void> {
    const { management, metrics } = this.#options;
    if (this.runDeployment === undefined) return;
    // Set before the request, because the server may abort the deployment without its response
    // arriving.
    this.isTargetAborted = true;
    try {
      await management.abortDeployment(this.runDeployment.deploymentId);
    } catch (error) {
      if (error instanceof ClientError) metrics.countError(error);
      else if (!(error instanceof FleetStopped)) throw error;
    }
  }

  #waitAfterMs(error: ClientError, failures: number): number {
    if (error instanceof StatusError && error.retryAfterMs !== undefined) return error.retryAfterMs;
    return backOffMs(failures, backOff, this.#options.random.stream(`user/${failures}`));
  }

  async #round(): Promise<void> {
    const pending = this.#options.devices.filter(({ life }) => life === 'pending');
    // A device that was accepted stays pending until it authenticates again, so it is not counted
    // here.
    const unknown = pending.filter((each) => this.#accepted.get(each) !== each.keyGeneration);
    const acceptedCount = pending.length === 0 ? 0 : await this.#acceptFrom('pending');
    // The server lists a device that was accepted before and has a new key as accepted, not as
    // pending.
    if (acceptedCount < unknown.length) await this.#acceptFrom('accepted');
    await this.#deployOnce();
  }

  async #acceptFrom(status: 'pending' | 'accepted'): Promise<number> {
    let acceptedCount = 0;
    for await (const page of this.#options.management.devices(status)) {
      const semaphore = new Semaphore(ACCEPTED_AT_ONCE);
      const responses = page.map((listed) => semaphore.run(() => this.#acceptOwn(listed)));
      for (const response of await Promise.allSettled(responses)) {
        if (response.status === 'rejected') throw response.reason;
        acceptedCount += response.value;
      }
    }
    return acceptedCount;
  }

  /**
   * Accepts a listed device if it belongs to the fleet, and returns 1 in that case. Identity data
   * and key must both match, because another device may have the same identity data.
   */
  async #acceptOwn(listed: ListedDevice): Promise<number> {
    const device = this.#own.get(identityKey(listed.identity_data));
    const key = device?.session?.key.publicKeyPem;
    if (device === undefined || key === undefined) return 0;
    const authSet = listed.auth_sets.find(({ pubkey }) => sameKey(pubkey, key));
    if (authSet === undefined || authSet.status === 'rejected') return 0;
    if (authSet.status === 'pending') await this.#options.management.accept(listed.id, authSet.id);
    device.id = listed.id;
    this.#accepted.set(device, device.keyGeneration);
    this.#options.onKnown?.(device);
    return 1;
  }

  /** Returns true once the deployment may be created. */
  #mayDeploy(): boolean {
    return this.#options.mayDeploy?.() ?? true;
  }

  async #deployOnce(): Promise<void> {
    const { deployment, devices, sleep, clock } = this.#options;
    if (deployment === undefined || this.runDeployment !== undefined || !this.#mayDeploy()) return;
    // Searched from the end, because the last devices to contact the server are the last to get an
    // ID.
    if (devices.findLast(({ id }) => id === undefined)) return;
    const ids = devices.flatMap(({ id }) => (id === undefined ? [] : [id]));
    const requested = this.#requested ?? deployment(ids);
    this.#requested = requested;
    // Wait for at most one round, because devices may have to be accepted meanwhile. If the run
    // ends during the wait, the outcome of the request in progress is still needed.
    const round = sleep(ROUND_MS).then(
      () => undefined,
      () => requested,
    );
    try {
      const runDeployment = await Promise.race([requested, round]);
      this.runDeployment = runDeployment && { createdMs: clock.now(), ...runDeployment };
    } catch (error) {
      this.#requested = undefined;
      throw error;
    }
    if (this.runDeployment !== undefined) this.#options.onDeployed?.(this.runDeployment);
  }
}

/**
 * Returns true when the user must give up instead of retrying: after a 401, after a refusal of
 * the deployment, and after a request for the deployment without a response, because the server may
 * have created it.
 */
function isFinalRefusal(error: ClientError): boolean {
  if (error.operation === 'create-deployment')
    return !(error instanceof StatusError) || !error.isTransient;
  return error instanceof StatusError && error.status === 401;
}

function sameKey(one: string, other: string): boolean {
  return one.replace(/\s/g, '') === other.replace(/\s/g, '');
}
