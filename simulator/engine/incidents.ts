/**
 * Incidents: events that affect a whole fleet, a cohort or a device at a given time of the run. The
 * seed determines when an incident reaches each device, so that the same plan repeats the same
 * incident.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { SimulatedDevice } from '../device/device.ts';
import type { Incident } from '../plan/load-fields.ts';
import type { DeviceControl } from './device-control.ts';

/** Actions of an incident on devices and on the run. */
interface IncidentControl extends DeviceControl {
  /** Cuts the device's power for this many milliseconds; then the device boots. */
  cutPower(device: SimulatedDevice, lastingMs: number): void;
  /** Cuts the network of these devices and restores it for all others. */
  cutNetwork(devices: readonly SimulatedDevice[]): void;
  /** Allows the run to create its deployment. */
  allowDeployment(): void;
}

export interface IncidentsOptions {
  readonly incidents: readonly Incident[];
  readonly devices: readonly SimulatedDevice[];
  readonly clock: Clock;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
  readonly control: IncidentControl;
  /** Called when the network returns after the outage of a back-off comparison. */
  readonly onReturn: () => void;
}

/** Tolerance of timers in milliseconds: an action that is due within this time counts as due. */
const SLACK_MS = 1;
/** Duration of a power or network outage when the incident does not set one. */
const LASTING_MS = 10_000;

/** An action and its time relative to the start of its incident. */
interface PlannedAction {
  readonly afterMs: number;
  readonly callback: () => void;
}

/** The incidents of one run. `stop` cancels their pending actions. */
export class Incidents {
  readonly #options: IncidentsOptions;
  readonly #timers = new Set<Timer>();

  constructor(options: IncidentsOptions) {
    this.#options = options;
  }

  /** True when an `update-night` incident has to start before the run may create its deployment. */
  get deploysLater(): boolean {
    return this.#options.incidents.some(({ name }) => name === 'update-night');
  }

  /** Starts the timers of all incidents. */
  start(): void {
    for (const incident of this.#options.incidents) {
      this.#after(incident.atMs, () => {
        this.#options.control.enterStage(incident.name);
        effects[incident.name](incident, this.#stage(incident));
      });
    }
  }

  /**
   * Called once the deployment has been created. Wakes the devices of an `update-night` incident
   * within its time window, so that they poll for the deployment.
   */
  wakeForDeployment(): void {
    const { incidents, control } = this.#options;
    for (const incident of incidents) {
      if (incident.name !== 'update-night' || incident.withinMs === undefined) continue;
      this.#spread(incident, (device) => control.wake(device));
    }
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #stage(incident: Incident): IncidentContext {
    const { control, onReturn } = this.#options;
    return {
      control,
      onReturn,
      devices: this.#devicesOf(incident),
      delayMs: (device) => this.#delayMs(incident, device),
      spread: (callback) => this.#spread(incident, callback),
      after: (waitMs, callback) => this.#after(waitMs, callback),
    };
  }

  #devicesOf({ cohort, device }: Incident): readonly SimulatedDevice[] {
    const { devices } = this.#options;
    if (cohort === undefined && device === undefined) return devices;
    return devices.filter(
      (each) =>
        (cohort === undefined || each.cohort.name === cohort) &&
        (device === undefined || each.index === device),
    );
  }

  /** Returns a random delay within the incident's time window; without jitter, the whole window. */
  #delayMs(
    { name, atMs, withinMs = 0, jitter = true }: Incident,
    { index }: SimulatedDevice,
  ): number {
    if (!jitter) return withinMs;
    const chance = this.#options.random.stream(`device/${index}/${name}/${atMs}`);
    return Math.round(withinMs * chance.fraction());
  }

  /** Runs the action on each affected device when the incident reaches the device. */
  #spread(incident: Incident, callback: (device: SimulatedDevice) => void): void {
    const cues = this.#devicesOf(incident).map((device) => ({
      afterMs: this.#delayMs(incident, device),
      callback: () => callback(device),
    }));
    this.#runInTurn(cues.sort((one, other) => one.afterMs - other.afterMs));
  }

  /** Runs actions at their times, in order, with a single timer. */
  #runInTurn(cues: readonly PlannedAction[]): void {
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    let next = 0;
    const start = (): void => {
      const sinceMs = clock.monotonicMs() - startedMs + SLACK_MS;
      for (let cue = cues[next]; cue; cue = cues[++next]) {
        if (cue.afterMs > sinceMs) {
          this.#after(cue.afterMs - sinceMs, start);
          return;
        }
        cue.callback();
      }
    };
    start();
  }

  #after(waitMs: number, callback: () => void): void {
    const timer = this.#options.clock.after(waitMs, () => {
      this.#timers.delete(timer);
      callback();
    });
    this.#timers.add(timer);
  }
}

/** The devices that an incident affects, and its means to act on them. */
interface IncidentContext {
  readonly control: IncidentControl;
  readonly onReturn: () => void;
  readonly devices: readonly SimulatedDevice[];
  readonly delayMs: (device: SimulatedDevice) => number;
  readonly spread: (callback: (device: SimulatedDevice) => void) => void;
  readonly after: (waitMs: number, callback: () => void) => void;
}

const effects: Readonly<
  Record<Incident['name'], (incident: Incident, stage: IncidentContext) => void>
> = {
  'power-cut': ({ lastingMs = LASTING_MS }, { devices, control, delayMs }) => {
    for (const device of devices) control.cutPower(device, lastingMs + delayMs(device));
    control.abortBlockedExchanges();
  },
  'reconnect-storm': ({ withinMs }, { devices, control, delayMs }) => {
    for (const device of devices) {
      control.cutSocket(device, withinMs === undefined ? undefined : delayMs(device));
    }
  },
  'update-night': (_, { control }) => control.allowDeployment(),
  'token-expiry-week': (_, { spread }) => spread(expireToken),
  'abort-deployment': (_, { control }) => control.abortDeployment(),
  'backoff-comparison': ({ lastingMs = LASTING_MS }, { devices, control, after, onReturn }) => {
    control.cutNetwork(devices);
    control.abortBlockedExchanges();
    after(lastingMs, () => {
      control.enterStage('backoff-comparison: return');
      control.cutNetwork([]);
      onReturn();
    });
  },
};

/**
 * Invalidates the device's token by changing its signature. The server refuses such a token with
 * 401, like an expired one.
 */
function expireToken({ session }: SimulatedDevice): void {
  if (session?.token === undefined) return;
  const [, start = '', first = '', rest = ''] = /^(.*\.)([\w-])([\w-]*)$/.exec(session.token) ?? [];
  if (first !== '') session.token = `${start}${first === 'A' ? 'B' : 'A'}${rest}`;
}
