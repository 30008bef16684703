/**
 * Merges the conformance checks of several processes, and adds the request rates of the whole
 * fleet.
 */
import type { Checks, FirstViolation, RequirementChecks } from './result-checks.ts';
import type { Series, StageFigures } from './result-figures.ts';
import { countsOf } from './thresholds-measures.ts';

export const SECOND_MS = 1000;
/**
 * Maximum number of intervals with violations per requirement, equal to the rows of a time series.
 */
export const INTERVALS_MAX = 900;

/** The stages and the time series from which request rates are computed. */
interface RatedRun {
  readonly stages: readonly StageFigures[];
  readonly series: Series;
}

/**
 * Merges the checks of all parts and adds the request rates of the whole run. Returns undefined
 * when no part has checks.
 */
export function mergedChecks(
  parts: readonly (Checks | undefined)[],
  run: RatedRun,
): Checks | undefined {
  const [first, ...otherParts] = parts.flatMap((part) => part ?? []);
  return first && ratedChecks(otherParts.reduce(addChecks, first), run);
}

/** Returns the checks with the fleet's request rates, and with stages in chronological order. */
export function ratedChecks(checks: Checks, { stages, series }: RatedRun): Checks {
  const names = stages.map(({ name }) => name);
  const rates = new Map(stages.map((stage) => [stage.name, stageRate(stage)]));
  const requirements = checks.requirements.map((row): RequirementChecks => {
    const { firstViolation } = row;
    return {
      ...row,
      stages: row.stages
        .map((each) => ({ ...each, requestsPerSecond: rates.get(each.stage) ?? 0 }))
        .sort((one, other) => names.indexOf(one.stage) - names.indexOf(other.stage)),
      ...(firstViolation && { firstViolation: ratedViolation(firstViolation, series) }),
      ...violatedAt(row.violations, series),
    };
  });
  return { ...checks, requirements };
}

function stageRate({ operations, startMs, endMs }: StageFigures): number {
  const lengthMs = endMs - startMs;
  return lengthMs <= 0 ? 0 : (countsOf(operations, []).exchanges * 1000) / lengthMs;
}

function ratedViolation(violation: FirstViolation, series: Series): FirstViolation {
  return { ...violation, requestsPerSecond: rateAt(violation.atMs, series) };
}

function violatedAt(
  violations: ViolationIntervals,
  series: Series,
): Pick<RequirementChecks, 'violatedAt'> {
  if (violations.length === 0) return {};
  const rates = violations.map(([startMs]) => rateAt(startMs, series));
  return { violatedAt: { minPerSecond: Math.min(...rates), maxPerSecond: Math.max(...rates) } };
}

function rateAt(atMs: number, { rows, widthMs }: Series): number {
  const row = rows.findLast(({ startMs }) => startMs <= atMs);
  return row === undefined ? 0 : (row.requests * 1000) / widthMs;
}

/**
 * Start of each interval with violations and the number of violations in it, in chronological
 * order.
 */
type ViolationIntervals = RequirementChecks['violations'];

/**
 * Merges violations into intervals of one second, or of two, four, eight and so on when there would
 * be more than `INTERVALS_MAX` intervals.
 */
export function violationsByInterval(violations: ViolationIntervals): ViolationIntervals {
  for (let widthMs = SECOND_MS; ; widthMs *= 2) {
    const counts = new Map<number, number>();
    for (const [atMs, count] of violations) {
      const startMs = Math.floor(atMs / widthMs) * widthMs;
      counts.set(startMs, (counts.get(startMs) ?? 0) + count);
    }
    if (counts.size <= INTERVALS_MAX) return [...counts].sort(([one], [other]) => one - other);
  }
}

function addChecks(one: Checks, other: Checks): Checks {
  const rowsOfOther = new Map(other.requirements.map((row) => [row.requirement, row]));
  const requirementsOfOne = new Set(one.requirements.map(({ requirement }) => requirement));
  return {
    devices: one.devices + other.devices,
    exchanges: one.exchanges + other.exchanges,
    requirements: [
      ...one.requirements.map((row) => together(row, rowsOfOther.get(row.requirement))),
      ...other.requirements.filter(({ requirement }) => !requirementsOfOne.has(requirement)),
    ],
  };
}

function together(one: RequirementChecks, other: RequirementChecks | undefined): RequirementChecks {
  if (other === undefined) return one;
  const firstViolation = earliest(one.firstViolation, other.firstViolation);
  const stages = new Map(one.stages.map((row) => [row.stage, row]));
  for (const row of other.stages) {
    const { judged = 0, violated = 0 } = stages.get(row.stage) ?? {};
    stages.set(row.stage, {
      ...row,
      judged: judged + row.judged,
      violated: violated + row.violated,
    });
  }
  return {
    ...one,
    judged: one.judged + other.judged,
    violated: one.violated + other.violated,
    stages: [...stages.values()],
    violations: violationsByInterval([...one.violations, ...other.violations]),
    ...(firstViolation && { firstViolation }),
  };
}

function earliest(
  one: FirstViolation | undefined,
  other: FirstViolation | undefined,
): FirstViolation | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const isSooner = (other.atMs - one.atMs || other.device - one.device) < 0;
  return isSooner ? other : one;
}
