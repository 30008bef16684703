/**
 * The load of a run: which devices are on, the current stage, incidents, extra events, and the
 * comparison of back-offs after an outage.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import { deviceOfCaller } from '../api-client/session.ts';
import type { SimulatedDevice } from '../device/device.ts';
import type { DeviceEnvironment } from '../device/environment.ts';
import type { EndedExchange, ExchangeSubject } from '../network/transport.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { shardShare } from '../plan/shard.ts';
import type { BackoffComparison } from '../result/backoff-comparison.ts';
import type { FixedRatePolls } from '../result/fixed-rate-polls.ts';
import { Arrivals } from './arrivals.ts';
import { BackoffWatch } from './backoff-watch.ts';
import type { DeviceControl } from './device-control.ts';
import { DeviceCountSchedule } from './device-count-schedule.ts';
import { Incidents } from './incidents.ts';
import { PollRate } from './poll-rate.ts';
import { firstContactAfterMs } from './poll-schedule.ts';
import { PowerSchedule } from './power-schedule.ts';
import type { Scheduler } from './scheduler.ts';

/** The plan, the devices and the services of a load. */
export interface LoadOptions {
  readonly plan: FleetPlan;
  readonly devices: readonly SimulatedDevice[];
  readonly clock: Clock;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
  readonly scheduler: Scheduler;
  /** Returns the milliseconds since the start of the run. */
  readonly elapsedMs: () => number;
  readonly control: DeviceControl;
}

/** The load of one run. Call `start` when the run starts, and `stop` at its end. */
export class FleetLoad {
  readonly #options: LoadOptions;
  readonly #byIndex: ReadonlyMap<number, SimulatedDevice>;
  readonly #deviceCounts: DeviceCountSchedule | undefined;
  readonly #powerSchedule: PowerSchedule;
  readonly #incidents: Incidents | undefined;
  readonly #backoff: BackoffWatch | undefined;
  readonly #spent = new Set<SimulatedDevice>();
  #timers: readonly Timer[] = [];
  #arrivals: Arrivals | undefined;
  #pollRate: PollRate | undefined;
  #mayDeploy: boolean;

  constructor(options: LoadOptions) {
    const { plan, devices } = options;
    this.#options = options;
    this.#byIndex = new Map(devices.map((device) => [device.index, device]));
    this.#deviceCounts = plan.stages && new DeviceCountSchedule(plan.stages);
    this.#powerSchedule = this.#installedSwitches();
    this.#incidents = this.#plannedIncidents();
    this.#mayDeploy = this.#incidents?.deploysLater !== true;
    const isCompared = plan.incidents?.some(({ name }) => name === 'backoff-comparison') === true;
    this.#backoff = isCompared ? new BackoffWatch(devices) : undefined;
  }

  /** True once the run may create its deployment. */
  get mayDeploy(): boolean {
    return this.#mayDeploy;
  }

  /** The result of the back-off comparison; undefined when the plan has none. */
  get backoffComparison(): BackoffComparison | undefined {
    return this.#backoff?.comparison();
  }

  /**
   * Returns the milliseconds from the start of the run to the device's first contact; Infinity when
   * the device is never switched on.
   */
  startsAfterMs(device: SimulatedDevice): number {
    const rampMs = firstContactAfterMs(this.#options.plan, device.index);
    return this.#powerSchedule.firstOnAfterMs(device, rampMs);
  }

  /**
   * Returns the wait function of one device. A wait also ends when the device is to be switched off
   * or its power is cut.
   */
  sleepOf(device: SimulatedDevice): Pick<DeviceEnvironment, 'sleep'> {
    return {
      sleep: (waitMs, wakeable) => {
        const isBetweenPolls = wakeable !== undefined;
        const pollRate = isBetweenPolls && this.#takesTurns(device, waitMs) && this.#pollRate;
        const pause = (pauseMs: number): Promise<void> =>
          this.#powerSchedule.sleep(device, pauseMs, isBetweenPolls);
        if (!pollRate) return pause(waitMs);
        return pollRate.waitForTurn(device, () => pause(Number.POSITIVE_INFINITY));
      },
    };
  }

  /** Polls at the fixed rate so far; undefined when the plan has no such rate. */
  get fixedRatePolls(): FixedRatePolls | undefined {
    return this.#pollRate?.counts;
  }

  /**
   * Returns true for a device that would now wait for its next poll: one that has to authenticate,
   * continues at once, or is off, does not take turns.
   */
  #takesTurns(device: SimulatedDevice, waitMs: number): boolean {
    const hasToken = device.session?.token !== undefined;
    return (
      hasToken && waitMs > 0 && this.offForMs(device) === 0 && !this.#powerSchedule.isSpent(device)
    );
  }

  /** Returns how long the device is off, from now; 0 when it is on, Infinity when it stays off. */
  offForMs(device: SimulatedDevice): number {
    return this.#powerSchedule.offForMs(device);
  }

  /** Returns true while the device's network is down. */
  isCutOff(device: SimulatedDevice): boolean {
    return this.#powerSchedule.isCutOff(device);
  }

  /** Returns the error that prevents a request from being sent; undefined when there is none. */
  obstacleTo(request: ExchangeSubject): Error | undefined {
    const device = this.#deviceOf(request.caller);
    return device && this.#powerSchedule.obstacleTo(device, request);
  }

  /** Called for every exchange when it ends. */
  recordExchange(ended: EndedExchange): void {
    if (this.#backoff === undefined) return;
    const device = this.#deviceOf(ended.caller);
    if (device) this.#backoff.record(device, ended, this.#options.clock.monotonicMs());
  }

  /** Called once the deployment has been created. */
  wakeForDeployment(): void {
    this.#incidents?.wakeForDeployment();
  }

  /** Starts the stages, the incidents and the extra events. */
  start({ client, metrics }: Pick<DeviceEnvironment, 'client' | 'metrics'>): void {
    const { plan, devices, clock, random } = this.#options;
    this.#timers = this.#stageTimers();
    this.#incidents?.start();
    // The rates of the plan are those of the whole fleet.
    const share = shardShare(plan);
    const arrivals = plan.arrivals?.map(({ event, perSecond }) => {
      return { event, perSecond: perSecond * share };
    });
    this.#arrivals =
      arrivals && new Arrivals({ arrivals, devices, client, clock, random, metrics });
    this.#arrivals?.start();
    this.#pollRate = this.#plannedPollRate(share);
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#incidents?.stop();
    this.#arrivals?.stop();
    this.#pollRate?.stop();
  }

  /**
   * Creates the timers of the stages. Each is also a stage of the metrics, and the run ends with
   * the last stage.
   */
  #stageTimers(): readonly Timer[] {
    if (this.#deviceCounts === undefined) return [];
    const { clock, control } = this.#options;
    const { starts, endMs } = this.#deviceCounts;
    return [
      ...starts.map(({ atMs, name }) => clock.after(atMs, () => control.enterStage(name))),
      clock.after(endMs, () => control.end('stages')),
    ];
  }

  #plannedPollRate(share: number): PollRate | undefined {
    const { plan, clock, control } = this.#options;
    if (plan.pollsPerSecond === undefined) return undefined;
    return new PollRate({
      perSecond: plan.pollsPerSecond * share,
      startsMs: clock.monotonicMs() + (plan.stages === undefined ? plan.rampMs : 0),
      clock,
      wake: (device) => control.wake(device),
    });
  }

  #installedSwitches(): PowerSchedule {
    const { plan, scheduler, elapsedMs, control, devices } = this.#options;
    return new PowerSchedule({
      deviceCounts: this.#deviceCounts,
      scheduler,
      elapsedMs,
      iterations: plan.iterations,
      onSpent: (device) => {
        this.#spent.add(device);
        if (this.#spent.size === devices.length) control.end('iterations');
      },
    });
  }

  #plannedIncidents(): Incidents | undefined {
    const { plan, devices, clock, random, control } = this.#options;
    if (plan.incidents === undefined) return undefined;
    return new Incidents({
      incidents: plan.incidents,
      devices,
      clock,
      random,
      onReturn: () => this.#backoff?.recordReturn(clock.monotonicMs()),
      control: {
        ...control,
        cutPower: (device, lastingMs) => this.#powerSchedule.cut(device, lastingMs),
        cutNetwork: (cutOff) => this.#powerSchedule.cutOff(cutOff),
        allowDeployment: () => {
          this.#mayDeploy = true;
        },
      },
    });
  }

  #deviceOf(caller: string): SimulatedDevice | undefined {
    const index = deviceOfCaller(caller);
    return index === undefined ? undefined : this.#byIndex.get(index);
  }
}
