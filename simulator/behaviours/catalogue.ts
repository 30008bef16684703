/** All behaviours, one row each. The fleet picks them by weight and never looks one up by name. */
import type { KnownBehaviours } from '../plan/plan.ts';
import type { Behaviour } from './behaviour.ts';
import { changedParametersProblem } from './parameters.ts';
import { badlyWritten } from './rows/badly-written.ts';
import { failing } from './rows/failing.ts';
import { healthy } from './rows/healthy.ts';
import { troubled } from './rows/troubled.ts';

const rows: readonly Behaviour[] = [...healthy, ...troubled, ...failing, ...badlyWritten];

const known = new Map(rows.map((behaviour) => [behaviour.name, behaviour]));

/** Every behaviour by name, including those of behaviour files once they are read. */
export const behaviours: ReadonlyMap<string, Behaviour> = known;

/**
 * Adds behaviours, all or none; adding the same ones again changes nothing.
 * @returns the names already used by a different behaviour
 */
export function addBehaviours(added: readonly Behaviour[]): string[] {
  const taken = added.filter((each) => (known.get(each.name) ?? each) !== each);
  if (taken.length === 0) for (const behaviour of added) known.set(behaviour.name, behaviour);
  return taken.map(({ name }) => name);
}

/** The catalogue in the form that plan checks use. */
export const knownBehaviours: KnownBehaviours = {
  names: () => [...known.keys()],
  parametersProblem: (name, changed) => changedParametersProblem(known.get(name), changed),
};
