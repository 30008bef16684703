/** All behaviours, one row each. The fleet picks them by weight; nothing asks for one by name. */
import type { KnownBehaviours } from '../plan/plan.ts';
import type { Behaviour } from './behaviour.ts';
import { changedParametersFault } from './parameters.ts';
import { badlyWritten } from './rows/badly-written.ts';
import { failing } from './rows/failing.ts';
import { healthy } from './rows/healthy.ts';
import { troubled } from './rows/troubled.ts';

const rows: readonly Behaviour[] = [...healthy, ...troubled, ...failing, ...badlyWritten];

const known = new Map(rows.map((behaviour) => [behaviour.name, behaviour]));

/** Every behaviour by its name, those of behaviour files included once they are read. */
export const behaviours: ReadonlyMap<string, Behaviour> = known;

/**
 * Adds behaviours, all or none; the same ones again change nothing.
 * @returns the names that stand for another behaviour already, where there are any
 */
export function addBehaviours(added: readonly Behaviour[]): string[] {
  const taken = added.filter((each) => (known.get(each.name) ?? each) !== each);
  if (taken.length === 0) for (const behaviour of added) known.set(behaviour.name, behaviour);
  return taken.map(({ name }) => name);
}

/** The same as a plan is checked by. */
export const knownBehaviours: KnownBehaviours = {
  names: () => [...known.keys()],
  parametersFault: (name, changed) => changedParametersFault(known.get(name), changed),
};
