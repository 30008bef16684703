/**
 * Incidents: what happens to a whole fleet, or to a cohort, at a moment of the run. Each one decides by
 * the seed when it reaches each device, so that the same plan plays the same incident.
 */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import type { Random } from '../../fixtures/random.ts';
import type { Device } from '../device/device.ts';
import type { Incident } from '../plan/load-fields.ts';
import type { DeviceControl } from './device-control.ts';

/** What an incident can do to devices. */
interface IncidentControl extends DeviceControl {
  /** No device is asked or heard until then; it then boots. */
  cutPower(device: Device, lastingMs: number): void;
  /** Takes the network of these devices away; of none: gives all of it back. */
  cutNetwork(devices: readonly Device[]): void;
  /** Lets the run make its deployment. */
  allowDeployment(): void;
}

/** What incidents are played with. */
export interface IncidentsOptions {
  readonly incidents: readonly Incident[];
  readonly devices: readonly Device[];
  readonly clock: Clock;
  /** The fleet's chance, made from its seed. */
  readonly random: Random;
  readonly control: IncidentControl;
  /** The network is back after the outage of a back-off comparison. */
  readonly onReturn: () => void;
}

/** Timers are not exact: what is less than this away has come. */
const SLACK_MS = 1;
/** How long power or network are away where an incident does not say. */
const LASTING_MS = 10_000;

/** Something that is due, counted from the moment at which it was planned. */
interface PlannedAction {
  readonly afterMs: number;
  readonly act: () => void;
}

/** The scenes of one run; `stop` ends those that are underway. */
export class Incidents {
  readonly #options: IncidentsOptions;
  readonly #timers = new Set<Timer>();

  constructor(options: IncidentsOptions) {
    this.#options = options;
  }

  /** Whether the deployment has to wait for its night. */
  get deploysLater(): boolean {
    return this.#options.incidents.some(({ name }) => name === 'update-night');
  }

  /** Begins to count the moments of all incidents. */
  start(): void {
    for (const incident of this.#options.incidents) {
      this.#after(incident.atMs, () => {
        this.#options.control.enterPhase(incident.name);
        effects[incident.name](incident, this.#stage(incident));
      });
    }
  }

  /** The deployment stands: from now on devices come for it. */
  deployed(): void {
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
      devices: this.#concerned(incident),
      delayMs: (device) => this.#delayMs(incident, device),
      spread: (act) => this.#spread(incident, act),
      after: (waitMs, act) => this.#after(waitMs, act),
    };
  }

  #concerned({ cohort }: Incident): readonly Device[] {
    const { devices } = this.#options;
    return cohort === undefined ? devices : devices.filter((each) => each.cohort.name === cohort);
  }

  /** By chance within the time of the incident; without jitter all of it. */
  #delayMs({ name, atMs, withinMs = 0, jitter = true }: Incident, { index }: Device): number {
    if (!jitter) return withinMs;
    const chance = this.#options.random.stream(`device/${index}/${name}/${atMs}`);
    return Math.round(withinMs * chance.fraction());
  }

  /** Does something to each device when the incident reaches it. */
  #spread(incident: Incident, act: (device: Device) => void): void {
    const cues = this.#concerned(incident).map((device) => ({
      afterMs: this.#delayMs(incident, device),
      act: () => act(device),
    }));
    this.#inTurn(cues.sort((one, other) => one.afterMs - other.afterMs));
  }

  /** One timer for all of them. */
  #inTurn(cues: readonly PlannedAction[]): void {
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    let next = 0;
    const play = (): void => {
      const sinceMs = clock.monotonicMs() - startedMs + SLACK_MS;
      for (let cue = cues[next]; cue; cue = cues[++next]) {
        if (cue.afterMs > sinceMs) {
          this.#after(cue.afterMs - sinceMs, play);
          return;
        }
        cue.act();
      }
    };
    play();
  }

  #after(waitMs: number, act: () => void): void {
    const timer = this.#options.clock.after(waitMs, () => {
      this.#timers.delete(timer);
      act();
    });
    this.#timers.add(timer);
  }
}

/** What an incident finds when its moment has come. */
interface IncidentContext {
  readonly control: IncidentControl;
  readonly onReturn: () => void;
  readonly devices: readonly Device[];
  readonly delayMs: (device: Device) => number;
  readonly spread: (act: (device: Device) => void) => void;
  readonly after: (waitMs: number, act: () => void) => void;
}

const effects: Readonly<
  Record<Incident['name'], (incident: Incident, stage: IncidentContext) => void>
> = {
  'power-cut': ({ lastingMs = LASTING_MS }, { devices, control, delayMs }) => {
    for (const device of devices) control.cutPower(device, lastingMs + delayMs(device));
    control.breakOffBlocked();
  },
  'reconnect-storm': ({ withinMs }, { devices, control, delayMs }) => {
    for (const device of devices) {
      control.cutSocket(device, withinMs === undefined ? undefined : delayMs(device));
    }
  },
  'update-night': (_, { control }) => control.allowDeployment(),
  'token-expiry-week': (_, { spread }) => spread(expireToken),
  'backoff-comparison': ({ lastingMs = LASTING_MS }, { devices, control, after, onReturn }) => {
    control.cutNetwork(devices);
    control.breakOffBlocked();
    after(lastingMs, () => {
      control.enterPhase('backoff-comparison: return');
      control.cutNetwork([]);
      onReturn();
    });
  },
};

/** A token whose signature no longer fits is refused as an expired one is: with 401. */
function expireToken({ session }: Device): void {
  if (session?.token === undefined) return;
  const [, start = '', first = '', rest = ''] = /^(.*\.)([\w-])([\w-]*)$/.exec(session.token) ?? [];
  if (first !== '') session.token = `${start}${first === 'A' ? 'B' : 'A'}${rest}`;
}
