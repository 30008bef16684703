/** All built-in behaviours. A fleet picks among them by weight and never looks one up by name. */
import type { KnownBehaviours } from '../plan/plan.ts';
import type { Behaviour } from './behaviour.ts';
import { changedParametersProblem } from './parameters.ts';
import { adverseConditions } from './rows/adverse-conditions.ts';
import { defectiveClients } from './rows/defective-clients.ts';
import { failing } from './rows/failing.ts';
import { healthy } from './rows/healthy.ts';

const rows: readonly Behaviour[] = [
  ...healthy,
  ...adverseConditions,
  ...failing,
  ...defectiveClients,
];

const behavioursByName = new Map(rows.map((behaviour) => [behaviour.name, behaviour]));

/** Every behaviour by name: the built-in ones, and those of behaviour files that have been read. */
export const behaviours: ReadonlyMap<string, Behaviour> = behavioursByName;

/**
 * Adds either all of the behaviours or none. Adding a behaviour twice has no effect.
 * @returns the names that other behaviours already use; empty when all were added
 */
export function addBehaviours(added: readonly Behaviour[]): string[] {
  const conflicting = added.filter((each) => (behavioursByName.get(each.name) ?? each) !== each);
  if (conflicting.length === 0)
    for (const behaviour of added) behavioursByName.set(behaviour.name, behaviour);
  return conflicting.map(({ name }) => name);
}

/** Access to the catalogue for the checks of a plan. */
export const knownBehaviours: KnownBehaviours = {
  names: () => [...behavioursByName.keys()],
  parametersProblem: (name, changed) =>
    changedParametersProblem(behavioursByName.get(name), changed),
};
