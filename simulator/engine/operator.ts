/**
 * The operator of a fleet: accepts the fleet's own devices, deploys to them, and aborts one on
 * request. It never touches a device that is not its own.
 */
import type { Clock } from '../../fixtures/clock.ts';
import type { Device as ListedDevice } from '../../fixtures/contract/management/devices.ts';
import type { Random } from '../../fixtures/random.ts';
import type { ManagementClient, Target } from '../client/management.ts';
import type { Device } from '../device/device.ts';
import { identityKey } from '../identity/identity.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { ClientError, FleetStopped, StatusError } from '../network/errors.ts';
import { type BackOff, backOffMs } from '../network/retry-after.ts';
import { Semaphore } from '../network/semaphore.ts';
import type { DeploymentSource } from './deployment.ts';

export interface FleetOperatorOptions {
  readonly management: ManagementClient;
  readonly devices: readonly Device[];
  readonly metrics: RunMetrics;
  readonly random: Random;
  readonly clock: Clock;
  /** @param wakeable key with which `wake` ends the wait early */
  readonly rest: (waitMs: number, wakeable?: object) => Promise<void>;
  readonly wake?: (wakeable: object) => void;
  /** Milliseconds between two rounds of the operator, where not the default. */
  readonly roundMs?: number | undefined;
  /** Called when the ID of one of the fleet's devices becomes known. */
  readonly onKnown?: (device: Device) => void;
  /** Returns true once the deployment is due; when absent, it is due immediately. */
  readonly mayDeploy?: () => boolean;
  /** Called with the deployment once the server has acknowledged it. */
  readonly onDeployed?: (target: Target) => void;
  /** Where the deployment comes from once every device is accepted. */
  readonly deployment?: DeploymentSource | undefined;
}

const ROUND_MS = 250;
const backOff: BackOff = { minMs: ROUND_MS, maxMs: 10_000 };
const ACCEPTED_AT_ONCE = 8;
/** Consecutive errors after which the operator is considered unable to work. */
const ERRORS_MAX = 20;

/** Works alongside the fleet until the run ends. */
export class FleetOperator {
  readonly #options: FleetOperatorOptions;
  readonly #own: ReadonlyMap<string, Device>;
  /** The requested deployment; a coordinator responds only when all shards have asked. */
  #asked: Promise<Target> | undefined;
  target: Target | undefined;
  /** True once the server was asked to abort the deployment of the run. */
  isTargetAborted = false;
  /** The key generation with which it has accepted each device. */
  readonly #accepted = new WeakMap<Device, number>();
  #willLook = false;

  constructor(options: FleetOperatorOptions) {
    this.#options = options;
    this.#own = new Map(options.devices.map((device) => [identityKey(device.idData), device]));
  }

  /**
   * Accepts and deploys, round after round.
   * @throws ClientError when a deployment is refused, or the server fails repeatedly; FleetStopped
   */
  async work(): Promise<never> {
    const { rest, roundMs = ROUND_MS } = this.#options;
    for (let failures = 0; ; ) {
      try {
        await this.#round();
        failures = 0;
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        this.#options.metrics.countError(error);
        if (isFinalRefusal(error) || ++failures === ERRORS_MAX) throw error;
        await rest(this.#waitAfterMs(error, failures));
        continue;
      }
      await rest(roundMs, this);
    }
  }

  /** Called when a device waits to be accepted: the next round begins soon, whatever their pace. */
  noticePending(): void {
    const { clock, roundMs = ROUND_MS, wake } = this.#options;
    if (this.#willLook || roundMs <= ROUND_MS) return;
    this.#willLook = true;
    // Devices that begin to wait in the meantime are accepted in the same round.
    clock.after(ROUND_MS, () => {
      this.#willLook = false;
      wake?.(this);
    });
  }

  /**
   * Aborts what is in progress on the device; false when the server refuses or does not know it.
   */
  async abort(device: Device): Promise<boolean> {
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

  /** Aborts the deployment of the run, if there is one; a refusal counts as an error of the run. */
  async abortTarget(): Promise<void> {
    const { management, metrics } = this.#options;
    if (this.target === undefined) return;
    // A request without an answer may have been carried out.
    this.isTargetAborted = true;
    try {
      await management.abortDeployment(this.target.deploymentId);
    } catch (error) {
      if (error instanceof ClientError) metrics.countError(error);
      else if (!(error instanceof FleetStopped)) throw error;
    }
  }

  #waitAfterMs(error: ClientError, failures: number): number {
    if (error instanceof StatusError && error.retryAfterMs !== undefined) return error.retryAfterMs;
    return backOffMs(failures, backOff, this.#options.random.stream(`operator/${failures}`));
  }

  async #round(): Promise<void> {
    const pending = this.#options.devices.filter(({ life }) => life === 'pending');
    // Those that it has accepted do not know it yet.
    const unknown = pending.filter((each) => this.#accepted.get(each) !== each.keyGeneration);
    const accepted = pending.length === 0 ? 0 : await this.#acceptFrom('pending');
    // A device that was accepted earlier and has a new key is listed as accepted.
    if (accepted < unknown.length) await this.#acceptFrom('accepted');
    await this.#deployOnce();
  }

  async #acceptFrom(status: 'pending' | 'accepted'): Promise<number> {
    let accepted = 0;
    for await (const page of this.#options.management.devices(status)) {
      const semaphore = new Semaphore(ACCEPTED_AT_ONCE);
      const answers = page.map((listed) => semaphore.run(() => this.#acceptOwn(listed)));
      for (const answer of await Promise.allSettled(answers)) {
        if (answer.status === 'rejected') throw answer.reason;
        accepted += answer.value;
      }
    }
    return accepted;
  }

  /** A device is ours when both identity and key match; an identity alone can be borrowed. */
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

  /** Waits at most a round for the deployment: devices may have to be accepted again. */
  #mayDeploy(): boolean {
    return this.#options.mayDeploy?.() ?? true;
  }

  async #deployOnce(): Promise<void> {
    const { deployment, devices, rest, clock } = this.#options;
    if (deployment === undefined || this.target !== undefined || !this.#mayDeploy()) return;
    // Searched from the end: the last devices to arrive are the last to become known.
    if (devices.findLast(({ id }) => id === undefined)) return;
    const ids = devices.flatMap(({ id }) => (id === undefined ? [] : [id]));
    const asked = this.#asked ?? deployment(ids);
    this.#asked = asked;
    // A run that ends meanwhile still needs the outcome of the request in progress.
    const round = rest(ROUND_MS).then(
      () => undefined,
      () => asked,
    );
    try {
      const target = await Promise.race([asked, round]);
      this.target = target && { createdMs: clock.now(), ...target };
    } catch (error) {
      this.#asked = undefined;
      throw error;
    }
    if (this.target !== undefined) this.#options.onDeployed?.(this.target);
  }
}

/** A refused deployment stays refused; one without a response may exist nevertheless. */
function isFinalRefusal(error: ClientError): boolean {
  if (error.operation === 'create-deployment')
    return !(error instanceof StatusError) || !error.passing;
  return error instanceof StatusError && error.status === 401;
}

function sameKey(one: string, other: string): boolean {
  return one.replace(/\s/g, '') === other.replace(/\s/g, '');
}
