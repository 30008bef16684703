/** A running fleet: it starts all devices of a plan and stops them together. */
import type { Clock } from '../../fixtures/base/clock.ts';
import { type Random, seededRandom } from '../../fixtures/base/random.ts';
import { DeviceClient } from '../api-client/device-client.ts';
import { ManagementClient, type RunDeployment } from '../api-client/management.ts';
import { deviceOfCaller } from '../api-client/session.ts';
import type { SimulatedDevice } from '../device/device.ts';
import type { DeviceEnvironment } from '../device/environment.ts';
import { discardedEvents, type EventFact, type EventSink } from '../device/events.ts';
import { runDevice } from '../device/life.ts';
import type { Identities } from '../identity/identities.ts';
import { CheckMetrics, type SampledExchangeJudge } from '../metrics/check-metrics.ts';
import type { OpenCounts } from '../metrics/generator-watch.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import { ScopeMetrics } from '../metrics/scope-metrics.ts';
import type { InProcessTransport } from '../network/in-process-transport.ts';
import { connectionOptions, expectApi, planTransport } from '../network/plan-transport.ts';
import type { EndedExchange, Transport } from '../network/transport.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { deviceRange } from '../plan/shard.ts';
import type { BackoffComparison } from '../result/backoff-comparison.ts';
import type { FixedRatePolls } from '../result/fixed-rate-polls.ts';
import type { EndReason } from '../result/result.ts';
import type { Reconciliation } from '../result/result-devices.ts';
import { scopesIn } from '../result/scopes.ts';
import { noStorage, type RunStorage } from '../state/storage.ts';
import { buildDevices } from './build-devices.ts';
import type { CoordinatorConnection } from './coordinator-connection.ts';
import { deploymentSource } from './deployment.ts';
import type { DeviceControl } from './device-control.ts';
import { firstFailure, throwOwnError, waitAtMost } from './device-loops.ts';
import { FinishedDevices } from './finished-devices.ts';
import { FleetUser } from './fleet-user.ts';
import { FleetLoad } from './load.ts';
import { untilNextPollMs } from './poll-schedule.ts';
import { reconcile } from './reconciliation.ts';
import { RunEnd } from './run-end.ts';
import { exchangeTaps } from './sample.ts';
import { Scheduler } from './scheduler.ts';
import { FleetSockets } from './sockets.ts';

/**
 * Maximum connections to one origin: enough to keep a server busy, and far below the limits of a
 * process.
 */
const CONNECTIONS_MAX = 256;
/** Time limit in milliseconds for exchanges in progress, after the end of the run and its drain. */
const EXCHANGES_MAX_MS = 1500;
/** Time limit in milliseconds for reading the server's records after an interruption. */
const FORCE_STOP_MAX_MS = 2000;

/**
 * The objects around a fleet: identities, event sink, coordinator, judge of the sample and
 * in-process transport.
 */
export interface FleetParts {
  readonly identities: Identities;
  readonly events?: EventSink;
  readonly coordinator?: CoordinatorConnection | undefined;
  readonly judge?: SampledExchangeJudge | undefined;
  readonly inProcess?: InProcessTransport | undefined;
  /** Milliseconds between two checks of the user for pending devices; the default when undefined. */
  readonly userIntervalMs?: number | undefined;
}

interface FleetRunOptions {
  /** When aborted, the end of the run does not wait for deployments in progress. */
  readonly forceStop?: AbortSignal | undefined;
  /**
   * Keeps the devices alive after the end of the run, polling at this interval, until `until`
   * resolves.
   */
  readonly keepAlive?:
    | { readonly pollIntervalMs: number; readonly until: (ended: EndReason) => Promise<void> }
    | undefined;
}

/** A fleet and its shared resources. The owner must close it. */
export class Fleet {
  readonly #plan: FleetPlan;
  readonly #isVirtualNetwork: boolean;
  readonly #coordinator: CoordinatorConnection | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #events: EventSink;
  readonly #identities: Identities;
  readonly #transport: Transport;
  readonly #user: FleetUser | undefined;
  readonly #finished: FinishedDevices;
  readonly #control: DeviceControl;
  #startedMs: number;
  #endedMs: number | undefined;
  #stayPollMs: number | undefined;
  #sockets: FleetSockets | undefined;
  #loopCount = 0;
  readonly #load: FleetLoad;
  #end: RunEnd | undefined;
  /** Storage of the run; set before the run starts. */
  storage: RunStorage = noStorage;
  readonly metrics: RunMetrics;
  /** Verdicts on the exchanges of watched devices; undefined when no device is watched. */
  readonly checks: CheckMetrics | undefined;
  readonly devices: readonly SimulatedDevice[];
  readonly management: ManagementClient | undefined;

  constructor(plan: FleetPlan, clock: Clock, parts: FleetParts) {
    this.#identities = parts.identities;
    this.#events = parts.events ?? discardedEvents;
    this.#coordinator = parts.coordinator;
    this.#plan = plan;
    this.#isVirtualNetwork = parts.inProcess !== undefined;
    this.#clock = clock;
    this.#random = seededRandom(plan.seed);
    this.#scheduler = new Scheduler(clock);
    this.metrics = new RunMetrics(
      clock,
      new ScopeMetrics(scopesIn(plan.thresholds ?? []), (caller) => this.#cohortOf(caller)),
    );
    this.checks =
      parts.judge &&
      new CheckMetrics(parts.judge, (violation) =>
        this.#events.emit({ kind: 'violation', ...violation }),
      );
    this.#startedMs = clock.monotonicMs();
    this.#transport = planTransport(plan, {
      clock,
      observer: this.metrics,
      onExchange: (ended) => this.#record(ended),
      obstacle: plan.incidents && ((request) => this.#load.obstacleTo(request)),
      connectionsMax: CONNECTIONS_MAX,
      inProcess: parts.inProcess,
    });
    this.devices = buildDevices(plan, this.#identities);
    this.#finished = new FinishedDevices({
      plan,
      clock,
      devices: this.devices,
      metrics: this.metrics,
      runDeployment: () => this.runDeployment,
      onAll: () => this.end('settled'),
    });
    this.#control = this.#deviceControl();
    this.#load = this.#plannedLoad();
    const { acceptWith: credentials } = plan;
    const transport = this.#transport;
    this.management = credentials && new ManagementClient({ transport, clock, credentials });
    this.#user = this.management && this.#newUser(this.management, parts.userIntervalMs);
  }

  #cohortOf(caller: string): string | undefined {
    const index = deviceOfCaller(caller);
    if (index === undefined) return undefined;
    return this.devices[index - deviceRange(this.#plan).first]?.cohort.name;
  }

  /** The deployment of the run, once it has been created. */
  get runDeployment(): RunDeployment | undefined {
    return this.#user?.runDeployment;
  }

  get socketsOpen(): number {
    return this.#sockets?.openCount() ?? 0;
  }

  /** Returns true when nothing is in progress and everything waits for time to pass. */
  isIdle(): boolean {
    const opening = this.#sockets?.openingCount() ?? 0;
    const { awaitedCount, inFlightCount } = this.#transport;
    const allIdle = this.#scheduler.count + inFlightCount >= this.#loopCount;
    return allIdle && awaitedCount === inFlightCount && opening === 0;
  }

  /** True when other processes run other devices of the same fleet. */
  get #isShard(): boolean {
    return (this.#plan.shard?.of ?? 1) > 1;
  }

  /** The result of the back-off comparison; undefined when the plan has none. */
  get backoffComparison(): BackoffComparison | undefined {
    return this.#load.backoffComparison;
  }

  /** Polls at the fixed rate so far; undefined when the plan has no such rate. */
  get fixedRatePolls(): FixedRatePolls | undefined {
    return this.#load.fixedRatePolls;
  }

  elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startedMs;
  }

  /**
   * Checks that the server is reachable and accepts the user's login, if there is a user.
   * @throws ClientError when it is not; FleetStopped when the signal aborts first
   */
  async reach(signal: AbortSignal): Promise<void> {
    const giveUp = (): void => this.#transport.abortAll();
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      // An in-process transport leads to Fleetbed's own server, which needs no check.
      if (!this.#isVirtualNetwork)
        await expectApi(this.#transport, { clock: this.#clock, baseUrl: this.#plan.baseUrl });
      if (this.management) await this.management.login();
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /**
   * Compares the records of devices and server. After an interruption, the wait for the server is
   * short, because the server may be gone.
   */
  async reconcile(ended: EndReason): Promise<Reconciliation> {
    const { devices, runDeployment, management } = this;
    const forceStop = (): void => this.#transport.abortAll();
    const timer =
      ended === 'interrupted' ? this.#clock.after(FORCE_STOP_MAX_MS, forceStop) : undefined;
    try {
      const isAborted = this.#user?.isTargetAborted;
      return await reconcile({
        devices,
        runDeployment,
        management,
        isShard: this.#isShard,
        isAborted,
      });
    } finally {
      timer?.cancel();
    }
  }

  /**
   * Runs all devices until the run ends: by the signal, by the plan's duration, stages or
   * iterations, by a threshold, or once all devices have finished.
   * @throws ClientError when the user cannot work
   */
  async run(
    signal: AbortSignal,
    { forceStop, keepAlive }: FleetRunOptions = {},
  ): Promise<EndReason> {
    const lateMs = (await this.#coordinator?.awaitStart(signal)) ?? 0;
    this.#startedMs = this.#clock.monotonicMs();
    const { durationMs } = this.#plan;
    const coordinator = this.#coordinator;
    const runEnd = new RunEnd({ clock: this.#clock, signal, coordinator, durationMs, lateMs });
    this.#end = runEnd;
    const loops = this.#begin();
    this.#loopCount = loops.length;
    for (const each of loops) each.catch(() => this.#loopCount--);
    try {
      const failure = firstFailure(loops);
      const reason = await Promise.race([runEnd.reason, failure]);
      if (keepAlive) {
        this.#stayPollMs = keepAlive.pollIntervalMs;
        await Promise.race([keepAlive.until(reason), failure]);
      }
      return reason;
    } finally {
      runEnd.forget();
      this.#load.stop();
      await this.#stop(loops, forceStop);
    }
  }

  /** Ends the run now, for this reason. */
  end(reason: EndReason): void {
    this.#end?.endNow(reason);
  }

  /** Returns the number of requests that were due before the end of the run but were not sent. */
  overdueCount(): number {
    const nowMs = this.#endedMs ?? this.#clock.monotonicMs();
    const overdue = this.devices.filter(({ session }) => (session?.dueMs ?? nowMs) < nowMs);
    const unsent = this.fixedRatePolls?.dropped ?? 0;
    return overdue.length + unsent;
  }

  /**
   * Returns the numbers of open sockets, of open connections, and of requests that wait for a
   * connection.
   */
  openNow(): OpenCounts {
    return { sockets: this.socketsOpen, ...this.#transport.load };
  }

  /** Closes every connection of the fleet to the server. */
  close(): Promise<void> {
    return this.#transport.close();
  }

  #begin(): readonly Promise<never>[] {
    const environment = this.#environment();
    const connectedDevices = this.devices.filter(({ cohort }) => cohort.policy.connect);
    if (connectedDevices.length > 0) this.#sockets = this.#openSockets(connectedDevices);
    const loops = this.devices.map((device) =>
      runDevice(
        device,
        { ...environment, ...this.#load.sleepOf(device) },
        this.#load.startsAfterMs(device),
      ),
    );
    this.#load.start(environment);
    return this.#user ? [...loops, this.#user.work()] : loops;
  }

  /**
   * Ends all devices. Deployments in progress may continue for the plan's drain time, and exchanges
   * in progress for `EXCHANGES_MAX_MS`.
   */
  async #stop(loops: readonly Promise<never>[], forceStop?: AbortSignal): Promise<void> {
    this.#endedMs = this.#clock.monotonicMs();
    this.#coordinator?.reportEnd();
    const loopEnds = Promise.allSettled(loops);
    const { drainMs } = this.#plan;
    if (drainMs > 0) {
      this.#scheduler.drain();
      await waitAtMost(this.#clock, drainMs, loopEnds, forceStop);
    }
    this.#scheduler.stop();
    this.#identities.close();
    const exchangesMs = forceStop?.aborted ? 0 : EXCHANGES_MAX_MS;
    const limit = this.#clock.after(exchangesMs, () => this.#transport.abortAll());
    const ends = await loopEnds;
    limit.cancel();
    this.#sockets?.close();
    throwOwnError(ends);
  }

  #environment(): DeviceEnvironment {
    const { headerPrefix, tenantToken } = this.#plan;
    const transport = this.#transport;
    const clock = this.#clock;
    return {
      client: new DeviceClient({ transport, clock, headerPrefix, tenantToken }),
      transport,
      clock,
      random: this.#random,
      metrics: this.metrics,
      events: { emit: (fact) => this.#emit(fact) },
      keyFor: (device, generation) => this.#identities.keyring.keyFor(device, generation),
      recordChange: (device, deployment) => this.storage.recordChange(device, deployment),
      downloads: this.storage.downloads,
      sleep: (waitMs, wakeable) => this.#scheduler.sleep(waitMs, wakeable),
      untilNextPollMs: ({ index, cohort: { policy: planned } }) => {
        const { pollIntervalMs } = planned;
        const policy = { ...planned, pollIntervalMs: this.#stayPollMs ?? pollIntervalMs };
        return untilNextPollMs({ index, policy, random: this.#random }, this.elapsedMs());
      },
      offForMs: (device) => this.#load.offForMs(device),
      exchangeTap: exchangeTaps(this.#plan, clock, (seen) =>
        this.checks?.record(seen, this.metrics.stage),
      ),
      dropSocket: (device) => this.#sockets?.drop(device),
      runDeployment: () => this.runDeployment,
      recordSettled: (device, deployment) => this.#finished.recordSettled(device, deployment),
      abortDevice: async (device) => (await this.#user?.abort(device)) ?? false,
    };
  }

  #plannedLoad(): FleetLoad {
    return new FleetLoad({
      plan: this.#plan,
      devices: this.devices,
      clock: this.#clock,
      random: this.#random,
      scheduler: this.#scheduler,
      elapsedMs: () => this.elapsedMs(),
      control: this.#control,
    });
  }

  #deviceControl(): DeviceControl {
    return {
      wake: (device) => this.#scheduler.wake(device),
      sendInventory: (device) => {
        device.inventoryDueMs = Number.NEGATIVE_INFINITY;
        this.#scheduler.wake(device);
      },
      abortBlockedExchanges: () => this.#transport.abortBlockedExchanges(),
      cutSocket: (device, returnsAfterMs) => this.#sockets?.cut(device, returnsAfterMs),
      enterStage: (stage) => {
        this.metrics.enterStage(stage);
        this.#events.emit({ kind: 'stage', stage });
      },
      abortDeployment: () => void this.#user?.abortTarget(),
      end: (reason) => this.end(reason),
    };
  }

  #emit(fact: EventFact): void {
    if (fact.kind === 'life' && fact.state === 'pending') this.#user?.noticePending();
    this.#events.emit(fact);
  }

  #record(ended: EndedExchange): void {
    this.#load.recordExchange(ended);
    const { caller, ...exchange } = ended;
    const device = deviceOfCaller(caller);
    this.#events.emit({
      kind: 'exchange',
      ...(device !== undefined && { device }),
      ...exchange,
    });
  }

  #newUser(management: ManagementClient, roundMs: number | undefined): FleetUser {
    const { devices } = this;
    return new FleetUser({
      management,
      devices,
      metrics: this.metrics,
      random: this.#random,
      clock: this.#clock,
      roundMs,
      sleep: (waitMs, wakeable) => this.#scheduler.sleep(waitMs, wakeable),
      wake: (wakeable) => this.#scheduler.wake(wakeable),
      onKnown: (device) => this.storage.recordChange(device),
      mayDeploy: () => this.#load.mayDeploy,
      onDeployed: (runDeployment) => {
        this.#events.emit({ kind: 'deployment', ...runDeployment });
        this.storage.recordDeployment(runDeployment);
        this.#finished.recordFinishedEarlier();
        this.#load.wakeForDeployment();
      },
      deployment: deploymentSource({
        plan: this.#plan,
        management,
        devices,
        clock: this.#clock,
        coordinator: this.#coordinator,
        onAdopted: (device) => this.storage.recordChange(device),
        earlierDeployment: () => this.storage.runDeployment,
      }),
    });
  }

  #openSockets(devices: readonly SimulatedDevice[]): FleetSockets {
    const { baseUrl, requestTimeLimitMs } = this.#plan;
    return new FleetSockets(devices, {
      baseUrl,
      clock: this.#clock,
      random: this.#random,
      metrics: this.metrics,
      events: this.#events,
      requestTimeLimitMs,
      connection: connectionOptions(this.#plan),
      isCutOff: (device) => this.#load.isCutOff(device),
      control: this.#control,
    });
  }
}
