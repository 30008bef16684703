/**
 * Scenes: what happens to a whole fleet, or to a cohort, at a moment of the run. Each one decides by
 * the seed when it reaches each device, so that the same plan plays the same scene.
 */
import type { Clock, Timer } from '../../fixtures/clock.ts';
import type { Random } from '../../fixtures/random.ts';
import type { Device } from '../device/device.ts';
import type { Scene } from '../plan/load-fields.ts';

/** What a scene can do to devices. */
interface Stagehands {
  /** No device is asked or heard until then; it then boots. */
  readonly cutPower: (device: Device, lastingMs: number) => void;
  /** Takes the network of these devices away; of none: gives all of it back. */
  readonly cutNetwork: (devices: readonly Device[]) => void;
  /** Breaks off the exchanges of those whose power or network is away. */
  readonly breakOffBlocked: () => void;
  /** Breaks the device's socket; it comes back after so long, or by its back-off. */
  readonly cutSocket: (device: Device, returnsAfterMs: number | undefined) => void;
  /** Makes the device begin its next round now. */
  readonly wake: (device: Device) => void;
  readonly enterPhase: (name: string) => void;
  /** Lets the run make its deployment. */
  readonly allowDeployment: () => void;
}

/** What scenes are played with. */
export interface ScenesOptions {
  readonly scenes: readonly Scene[];
  readonly devices: readonly Device[];
  readonly clock: Clock;
  /** The fleet's chance, made from its seed. */
  readonly random: Random;
  readonly hands: Stagehands;
  /** The network is back after the outage of a herd comparison. */
  readonly onReturn: () => void;
}

/** Timers are not exact: what is less than this away has come. */
const SLACK_MS = 1;
/** How long power or network are away where a scene does not say. */
const LASTING_MS = 10_000;

/** Something that is due, counted from the moment at which it was planned. */
interface Cue {
  readonly afterMs: number;
  readonly act: () => void;
}

/** The scenes of one run; `stop` ends those that are underway. */
export class Scenes {
  readonly #options: ScenesOptions;
  readonly #timers = new Set<Timer>();

  constructor(options: ScenesOptions) {
    this.#options = options;
  }

  /** Whether the deployment has to wait for its night. */
  get deploysLater(): boolean {
    return this.#options.scenes.some(({ name }) => name === 'update-night');
  }

  /** Begins to count the moments of all scenes. */
  start(): void {
    for (const scene of this.#options.scenes) {
      this.#after(scene.atMs, () => {
        this.#options.hands.enterPhase(scene.name);
        players[scene.name](scene, this.#stage(scene));
      });
    }
  }

  /** The deployment stands: from now on devices come for it. */
  deployed(): void {
    const { scenes, hands } = this.#options;
    for (const scene of scenes) {
      if (scene.name !== 'update-night' || scene.withinMs === undefined) continue;
      this.#spread(scene, (device) => hands.wake(device));
    }
  }

  stop(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  #stage(scene: Scene): Stage {
    const { hands, onReturn } = this.#options;
    return {
      hands,
      onReturn,
      devices: this.#concerned(scene),
      delayMs: (device) => this.#delayMs(scene, device),
      spread: (act) => this.#spread(scene, act),
      after: (waitMs, act) => this.#after(waitMs, act),
    };
  }

  #concerned({ cohort }: Scene): readonly Device[] {
    const { devices } = this.#options;
    return cohort === undefined ? devices : devices.filter((each) => each.cohort.name === cohort);
  }

  /** By chance within the time of the scene; without jitter all of it. */
  #delayMs({ name, atMs, withinMs = 0, jitter = true }: Scene, { index }: Device): number {
    if (!jitter) return withinMs;
    const chance = this.#options.random.stream(`device/${index}/${name}/${atMs}`);
    return Math.round(withinMs * chance.fraction());
  }

  /** Does something to each device when the scene reaches it. */
  #spread(scene: Scene, act: (device: Device) => void): void {
    const cues = this.#concerned(scene).map((device) => ({
      afterMs: this.#delayMs(scene, device),
      act: () => act(device),
    }));
    this.#inTurn(cues.sort((one, other) => one.afterMs - other.afterMs));
  }

  /** One timer for all of them. */
  #inTurn(cues: readonly Cue[]): void {
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

/** What a scene finds when its moment has come. */
interface Stage {
  readonly hands: Stagehands;
  readonly onReturn: () => void;
  readonly devices: readonly Device[];
  readonly delayMs: (device: Device) => number;
  readonly spread: (act: (device: Device) => void) => void;
  readonly after: (waitMs: number, act: () => void) => void;
}

const players: Readonly<Record<Scene['name'], (scene: Scene, stage: Stage) => void>> = {
  'power-cut': ({ lastingMs = LASTING_MS }, { devices, hands, delayMs }) => {
    for (const device of devices) hands.cutPower(device, lastingMs + delayMs(device));
    hands.breakOffBlocked();
  },
  'reconnect-storm': ({ withinMs }, { devices, hands, delayMs }) => {
    for (const device of devices) {
      hands.cutSocket(device, withinMs === undefined ? undefined : delayMs(device));
    }
  },
  'update-night': (_, { hands }) => hands.allowDeployment(),
  'token-expiry-week': (_, { spread }) => spread(expireToken),
  'backoff-comparison': ({ lastingMs = LASTING_MS }, { devices, hands, after, onReturn }) => {
    hands.cutNetwork(devices);
    hands.breakOffBlocked();
    after(lastingMs, () => {
      hands.enterPhase('backoff-comparison: return');
      hands.cutNetwork([]);
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
