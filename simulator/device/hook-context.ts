/** The hook context that the contexts of all behaviour hooks extend. */
import type { Random } from '../../fixtures/base/random.ts';
import type { ActiveHookContext, BehaviourParameters } from '../behaviours/behaviour.ts';
import type { SimulatedDevice } from './device.ts';
import type { DeviceEnvironment } from './environment.ts';

/** Context of any hook. Hooks may destructure it, because none of its methods uses `this`. */
export class DeviceHookContext implements ActiveHookContext {
  readonly #device: SimulatedDevice;
  readonly #environment: DeviceEnvironment;
  readonly parameters: BehaviourParameters;
  readonly index: number;
  readonly memory: Record<string, number>;
  readonly pollIntervalMs: number;

  constructor(device: SimulatedDevice, environment: DeviceEnvironment) {
    this.#device = device;
    this.#environment = environment;
    this.parameters = device.behaviour.parameters;
    this.index = device.index;
    device.memory ??= {};
    this.memory = device.memory;
    this.pollIntervalMs = device.cohort.policy.pollIntervalMs;
  }

  get nowMs(): number {
    return this.#environment.clock.now();
  }

  readonly chance = (name: string): Random =>
    this.#environment.random.stream(`device/${this.#device.index}/behaviour/${name}`);

  readonly sleep = (waitMs: number): Promise<void> => this.#environment.sleep(waitMs);
}
