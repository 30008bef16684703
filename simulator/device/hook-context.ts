/** What every hook of a behaviour is told. */
import type { Random } from '../../fixtures/random.ts';
import type { ActiveMoment, BehaviourParameters } from '../behaviours/behaviour.ts';
import type { Device } from './device.ts';
import type { World } from './environment.ts';

/** Any moment. Its methods may be taken out of it: none of them needs `this`. */
export class DeviceMoment implements ActiveMoment {
  readonly #device: Device;
  readonly #world: World;
  readonly parameters: BehaviourParameters;
  readonly index: number;
  readonly memory: Record<string, number>;
  readonly pollIntervalMs: number;

  constructor(device: Device, world: World) {
    this.#device = device;
    this.#world = world;
    this.parameters = device.behaviour.parameters;
    this.index = device.index;
    device.memory ??= {};
    this.memory = device.memory;
    this.pollIntervalMs = device.cohort.policy.pollIntervalMs;
  }

  get nowMs(): number {
    return this.#world.clock.now();
  }

  readonly chance = (name: string): Random =>
    this.#world.random.stream(`device/${this.#device.index}/behaviour/${name}`);

  readonly rest = (waitMs: number): Promise<void> => this.#world.rest(waitMs);
}
