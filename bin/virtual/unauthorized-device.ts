/**
 * A device outside the fleet on the same virtual server. It never gets a deployment, and its user
 * rejects and removes it repeatedly. Detects deployments that are served to an unauthorized device,
 * and tokens that remain valid after their device was removed.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import { DeviceClient } from '../../simulator/api-client/device-client.ts';
import { ManagementClient } from '../../simulator/api-client/management.ts';
import { type ClientSession, newSession } from '../../simulator/api-client/session.ts';
import { deviceKey } from '../../simulator/identity/device-key.ts';
import { RunMetrics } from '../../simulator/metrics/run-metrics.ts';
import { StatusError } from '../../simulator/network/errors.ts';
import type { InProcessTransport } from '../../simulator/network/in-process-transport.ts';
import { planTransport } from '../../simulator/network/plan-transport.ts';
import type { FleetPlan } from '../../simulator/plan/plan.ts';
import type { InvariantViolation } from './invariants.ts';
import type { ReachedServer } from './memory-transport.ts';
import { virtualUser } from './virtual-server.ts';

const MAC = 'fe:ed:fe:ed:00:01';
/** Limit on reported violations, because one defect shows at every visit. */
const VIOLATIONS_MAX = 10;

/** The options of an unauthorized device. */
interface UnauthorizedDeviceOptions {
  readonly plan: FleetPlan;
  readonly clock: Clock;
  /**
   * Carries the device's requests without faults, so that every wrong response is the
   * server's own.
   */
  readonly inProcess: InProcessTransport;
  readonly random: Random;
  readonly pollIntervalMs: number;
  readonly server: Pick<ReachedServer, 'isUp' | 'stopCount'>;
}

/** A token that the server must no longer accept. */
interface RevokedToken {
  readonly token: string;
  readonly cause: string;
}

/** Visits the server about as often as a device of the fleet, until stopped. */
export class UnauthorizedDevice {
  readonly #options: UnauthorizedDeviceOptions;
  readonly #client: DeviceClient;
  readonly #management: ManagementClient;
  readonly #session: ClientSession;
  readonly #over = new AbortController();
  /** IDs of its device and of its authentication set. */
  #accepted: { readonly id?: string; readonly authSetId?: string } = {};
  #ended: RevokedToken | undefined;
  /** Number of server restarts that its visits have seen. */
  #stopCountSeen = 0;
  readonly violations: InvariantViolation[] = [];
  /** True during a visit; virtual time must not pass. */
  isBusy = false;

  constructor(options: UnauthorizedDeviceOptions) {
    const { plan, clock, inProcess, random } = options;
    const observer = new RunMetrics(clock);
    const transport = planTransport(plan, { clock, observer, connectionsMax: 1, inProcess });
    this.#options = options;
    this.#client = new DeviceClient({ transport, clock, headerPrefix: plan.headerPrefix });
    this.#management = new ManagementClient({ transport, clock, credentials: virtualUser });
    const key = deviceKey(random, 0, 'ed25519');
    this.#session = newSession('unauthorized device', JSON.stringify({ mac: MAC }), key);
  }

  stop(): void {
    this.#over.abort();
  }

  /** Visits the server until stopped. Rejects on errors that no server of this API causes. */
  async run(): Promise<void> {
    const { clock, random, pollIntervalMs, server } = this.#options;
    const { signal } = this.#over;
    for (;;) {
      await clock.sleep(Math.round(2 * random.fraction() * pollIntervalMs), signal);
      if (signal.aborted) return;
      // While the server is down, there is nothing to check.
      if (!server.isUp) continue;
      this.isBusy = true;
      try {
        await this.#visit();
      } finally {
        this.isBusy = false;
      }
    }
  }

  async #visit(): Promise<void> {
    const { random } = this.#options;
    await this.#tryEndedToken();
    if (!(await this.#authenticates())) {
      await this.#accept();
      await this.#authenticates();
    }
    await this.#poll();
    if (random.fraction() < 1 / 2) return;
    const { id, authSetId } = this.#accepted;
    if (id === undefined || authSetId === undefined) return;
    const isRejected = random.fraction() < 1 / 2;
    if (isRejected) await this.#management.reject(id, authSetId);
    else await this.#management.decommission(id);
    await this.#expectRefused(isRejected ? 'was rejected' : 'was decommissioned');
    // A rejected device would stay rejected; a removed one returns as a new device.
    if (isRejected) await this.#management.decommission(id);
  }

  async #authenticates(): Promise<boolean> {
    try {
      await this.#client.authenticate(this.#session);
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.status === 401) return false;
      throw error;
    }
  }

  async #accept(): Promise<void> {
    for await (const page of this.#management.devices('pending')) {
      const listedDevice = page.find(({ identity_data }) => identity_data.mac === MAC);
      const authSetId = listedDevice?.auth_sets[0]?.id;
      if (listedDevice === undefined || authSetId === undefined) continue;
      await this.#management.accept(listedDevice.id, authSetId);
      this.#accepted = { id: listedDevice.id, authSetId };
      return;
    }
  }

  /** Polls for a deployment. @returns false when the token is refused */
  async #poll(): Promise<boolean> {
    const { plan } = this.#options;
    const provides = {
      device_type: plan.deviceType,
      artifact_name: 'of-an-unauthorized-device',
    };
    try {
      const deployment = await this.#client.nextDeployment(this.#session, provides);
      if (deployment)
        this.#recordViolation(
          'unauthorized-served',
          `deployment ${deployment.id} was served to an unauthorized device`,
        );
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.status === 401) return false;
      throw error;
    }
  }

  async #expectRefused(cause: string): Promise<void> {
    const { token } = this.#session;
    if (token === undefined) return;
    this.#ended = { token, cause };
    await this.#expectRefusedToken(this.#ended);
    this.#session.token = undefined;
  }

  /**
   * Uses ended tokens again. A server that lost the end of a token at a restart would accept it.
   */
  async #tryEndedToken(): Promise<void> {
    const { stopCount } = this.#options.server;
    if (stopCount === this.#stopCountSeen) return;
    this.#stopCountSeen = stopCount;
    if (this.#ended === undefined) return;
    const current = this.#session.token;
    await this.#expectRefusedToken({
      token: this.#ended.token,
      cause: `${this.#ended.cause} before the server restarted`,
    });
    this.#session.token = current;
  }

  async #expectRefusedToken({ token, cause }: RevokedToken): Promise<void> {
    this.#session.token = token;
    this.#session.renewsToken = false;
    if (await this.#poll()) {
      this.#recordViolation(
        'token-outlives-device',
        `the token of a device that ${cause} was accepted`,
      );
    }
    this.#session.renewsToken = true;
  }

  #recordViolation(invariant: InvariantViolation['invariant'], message: string): void {
    if (this.violations.length < VIOLATIONS_MAX) this.violations.push({ invariant, message });
  }
}
