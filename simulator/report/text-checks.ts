/**
 * Renders the conformance checks as lines for a terminal: which requirements were violated, how
 * often, and at which request rate.
 */
import { countText } from '../../fixtures/base/count-text.ts';
import type { FleetProgress, FleetResult } from '../result/result.ts';
import type { Checks, RequirementChecks } from '../result/result-checks.ts';
import { columns } from './columns.ts';

/** Maximum number of violated requirements shown; the JSON report contains all of them. */
const VIOLATED_MAX = 10;
/** Maximum number of violated requirements named in the progress line. */
const VIOLATED_NAMED_MAX = 3;

/** Returns the section about checks; an empty list when no device was watched. */
export function checkSections({ checks, series }: FleetResult): string[][] {
  if (checks === undefined) return [];
  const judgedRows = checks.requirements.filter((row) => row.judged > 0);
  const violatedRows = violatedRequirements(checks);
  const sample = `${countText(checks.devices, 'device')} watched, ${countText(checks.exchanges, 'request')}`;
  if (violatedRows.length === 0) {
    const peak = Math.max(0, ...series.rows.map((row) => row.requests)) / (series.widthMs / 1000);
    const unseen = checks.requirements.length - judgedRows.length;
    const metText = `${countText(judgedRows.length, 'requirement')} met, ${unseen} not tested`;
    return [[`Checks: ${sample}: ${metText}, at up to ${rate(peak)}`]];
  }
  const head = `Checks: ${sample}: ${violatedRows.length} of ${countText(judgedRows.length, 'requirement')} VIOLATED`;
  const shownRows = violatedRows.slice(0, VIOLATED_MAX);
  const more = violatedRows.length - shownRows.length;
  return [
    [
      head,
      ...columns(stageTable(shownRows)),
      ...(more > 0 ? [`  and ${more} more`] : []),
      ...shownRows.flatMap(violationLines),
    ],
  ];
}

/**
 * Returns the text about requirements violated so far for the progress line; an empty list when
 * there are none.
 */
export function violationText({ violated = [] }: Pick<FleetProgress, 'violated'>): string[] {
  if (violated.length === 0) return [];
  const more = violated.length - VIOLATED_NAMED_MAX;
  const names = violated.slice(0, VIOLATED_NAMED_MAX).join(' ');
  return [`VIOLATED ${names}${more > 0 ? ` and ${more} more` : ''}`];
}

/**
 * Returns the requirements that the server violated, those with the highest share of violations
 * first.
 */
export function violatedRequirements({ requirements }: Checks): RequirementChecks[] {
  const violatedRows = requirements.filter((row) => row.violated > 0);
  return violatedRows.sort(
    (one, other) => other.violated / other.judged - one.violated / one.judged,
  );
}

/** Returns a table of requirements by stage, with the fleet's request rate in each stage. */
export function stageTable(rows: readonly RequirementChecks[]): string[][] {
  const rates = new Map(
    rows.flatMap(({ stages }) => stages.map((each) => [each.stage, each.requestsPerSecond])),
  );
  const stages = [...rates];
  return [
    ['violated of tested', ...stages.map(([stage, perSecond]) => `${stage} at ${rate(perSecond)}`)],
    ...rows.map((row) => [
      row.requirement,
      ...stages.map(([stage]) => {
        const cell = row.stages.find((each) => each.stage === stage);
        return cell === undefined ? '-' : `${cell.violated} of ${cell.judged}`;
      }),
    ]),
  ];
}

/** Formats a rate in requests per second. */
export function rate(requestsPerSecond: number): string {
  return `${tenths(requestsPerSecond)} requests/s`;
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Returns a clause about the request rates at which the requirement was violated. */
export function violationRates({ violatedAt }: RequirementChecks): string {
  if (violatedAt === undefined) return 'never violated';
  const { minPerSecond, maxPerSecond } = violatedAt;
  if (minPerSecond === maxPerSecond) return `violated at ${rate(minPerSecond)}`;
  return `violated at ${tenths(minPerSecond)} to ${rate(maxPerSecond)}`;
}

function violationLines(row: RequirementChecks): string[] {
  const { requirement, sentence, firstViolation } = row;
  if (firstViolation === undefined) return [];
  const { device, atMs, operation, requestsPerSecond, expected, actual } = firstViolation;
  const when = `${new Date(atMs).toISOString()}, ${operation}, at ${rate(requestsPerSecond)}`;
  return [
    `  ${requirement}: ${sentence}`,
    `    ${violationRates(row)}`,
    `    first: device ${device}, ${when}`,
    `    expected ${expected}`,
    `    received ${actual}`,
  ];
}
