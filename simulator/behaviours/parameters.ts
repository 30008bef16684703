/** Behaviour parameters: the unit of each, which the suffix of its name states, and its bounds. */
import type { Behaviour } from './behaviour.ts';

interface Unit {
  readonly symbol: string;
  readonly min: number;
  readonly max: number;
  readonly isWhole: boolean;
}

const YEAR_MS = 366 * 86_400_000;

/** Units by name suffix. When two suffixes match, the longer one applies. */
const parameterUnits: Readonly<Record<string, Unit>> = {
  Ms: { symbol: 'ms', min: 0, max: YEAR_MS, isWhole: true },
  SkewMs: { symbol: 'ms', min: -100 * YEAR_MS, max: 100 * YEAR_MS, isWhole: true },
  Hour: { symbol: "o'clock UTC", min: 0, max: 24, isWhole: false },
  Bytes: { symbol: 'bytes', min: 0, max: 2 ** 40, isWhole: true },
  BytesPerSecond: { symbol: 'bytes/s', min: 0, max: 2 ** 40, isWhole: true },
  Count: { symbol: '', min: 0, max: 1_000_000, isWhole: true },
  Share: { symbol: 'of 1', min: 0, max: 1, isWhole: false },
};

/** A behaviour parameter with its unit, for display. */
export interface ShownParameter {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** Returns the parameters of a behaviour with their units, in the row's order. */
export function shownParameters({ parameters }: Behaviour): ShownParameter[] {
  return Object.entries(parameters).map(([name, value]) => {
    return { name, value, unit: unitOf(name)?.symbol ?? '' };
  });
}

/**
 * Returns the problem with a parameter as a predicate that follows the parameter's name in a
 * message; undefined when the value is valid.
 */
export function parameterProblem(name: string, value: unknown): string | undefined {
  const unit = unitOf(name);
  if (unit === undefined) {
    return `must end in its unit: ${Object.keys(parameterUnits).join(', ')}`;
  }
  const fits = typeof value === 'number' && value >= unit.min && value <= unit.max;
  if (fits && (Number.isInteger(value) || !unit.isWhole)) return undefined;
  return `must be a ${unit.isWhole ? 'whole ' : ''}number from ${unit.min} to ${unit.max}`;
}

/**
 * Returns the problem with a plan's values for parameters of a behaviour; undefined when all are
 * valid.
 */
export function changedParametersProblem(
  behaviour: Behaviour | undefined,
  changed: Readonly<Record<string, number>>,
): string | undefined {
  if (behaviour === undefined) return 'is not a known behaviour';
  for (const [name, value] of Object.entries(changed)) {
    const parameterNames = Object.keys(behaviour.parameters);
    if (!parameterNames.includes(name))
      return `has no parameter ${name}; its parameters are ${parameterNames.join(', ')}`;
    const problem = parameterProblem(name, value);
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return undefined;
}

/** Returns the behaviour with some parameters replaced; names and values are not checked. */
export function withParameters(
  behaviour: Behaviour,
  changed: Readonly<Record<string, number>> | undefined,
): Behaviour {
  if (changed === undefined) return behaviour;
  return { ...behaviour, parameters: { ...behaviour.parameters, ...changed } };
}

function unitOf(name: string): Unit | undefined {
  const ends = Object.keys(parameterUnits).filter((end) => name.endsWith(end));
  const longest = ends.toSorted((one, other) => other.length - one.length)[0];
  return longest === undefined ? undefined : parameterUnits[longest];
}
