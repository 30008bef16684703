/** Adds up the checks of several processes, and puts the rates of the whole fleet beside them. */
import type { Breach, Checks, RequirementChecks } from './result-checks.ts';
import type { PhaseFigures, Series } from './result-figures.ts';
import { countsOf } from './thresholds-measures.ts';

/** The run by which rates are told. */
interface RatedRun {
  readonly phases: readonly PhaseFigures[];
  readonly series: Series;
}

/** The checks of all parts together, with the rates of the whole; undefined when none had any. */
export function mergedChecks(
  parts: readonly (Checks | undefined)[],
  run: RatedRun,
): Checks | undefined {
  const [first, ...others] = parts.flatMap((part) => part ?? []);
  return first && ratedChecks(others.reduce(added, first), run);
}

/** The same checks with the rates that the fleet had; phases in the order of time. */
export function ratedChecks(checks: Checks, { phases, series }: RatedRun): Checks {
  const names = phases.map(({ name }) => name);
  const rates = new Map(phases.map((phase) => [phase.name, phaseRate(phase)]));
  const requirements = checks.requirements.map((row): RequirementChecks => {
    const { firstBreach } = row;
    return {
      ...row,
      phases: row.phases
        .map((each) => ({ ...each, requestsPerSecond: rates.get(each.phase) ?? 0 }))
        .sort((one, other) => names.indexOf(one.phase) - names.indexOf(other.phase)),
      ...(firstBreach && { firstBreach: ratedBreach(firstBreach, series) }),
    };
  });
  return { ...checks, requirements };
}

function phaseRate({ operations, startMs, endMs }: PhaseFigures): number {
  const lengthMs = endMs - startMs;
  return lengthMs <= 0 ? 0 : (countsOf(operations, []).exchanges * 1000) / lengthMs;
}

function ratedBreach(breach: Breach, { rows, widthMs }: Series): Breach {
  const row = rows.findLast(({ startMs }) => startMs <= breach.atMs);
  const requestsPerSecond = row === undefined ? 0 : (row.requests * 1000) / widthMs;
  return { ...breach, requestsPerSecond };
}

function added(one: Checks, other: Checks): Checks {
  const others = new Map(other.requirements.map((row) => [row.requirement, row]));
  const known = new Set(one.requirements.map(({ requirement }) => requirement));
  return {
    devices: one.devices + other.devices,
    exchanges: one.exchanges + other.exchanges,
    requirements: [
      ...one.requirements.map((row) => together(row, others.get(row.requirement))),
      ...other.requirements.filter(({ requirement }) => !known.has(requirement)),
    ],
  };
}

function together(one: RequirementChecks, other: RequirementChecks | undefined): RequirementChecks {
  if (other === undefined) return one;
  const firstBreach = earliest(one.firstBreach, other.firstBreach);
  const phases = new Map(one.phases.map((row) => [row.phase, row]));
  for (const row of other.phases) {
    const { judged = 0, broken = 0 } = phases.get(row.phase) ?? {};
    phases.set(row.phase, { ...row, judged: judged + row.judged, broken: broken + row.broken });
  }
  return {
    ...one,
    judged: one.judged + other.judged,
    broken: one.broken + other.broken,
    phases: [...phases.values()],
    ...(firstBreach && { firstBreach }),
  };
}

function earliest(one: Breach | undefined, other: Breach | undefined): Breach | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const isSooner = (other.atMs - one.atMs || other.device - one.device) < 0;
  return isSooner ? other : one;
}
