/**
 * Renders the conformance checks as lines for a terminal: which requirements broke, how often, and
 * at which request rate.
 */

import { counted } from '../../fixtures/base/counted.ts';
import type { FleetProgress, FleetResult } from '../result/result.ts';
import type { Checks, RequirementChecks } from '../result/result-checks.ts';
import { columns } from './columns.ts';

/** Maximum number of broken requirements shown; the JSON report contains all of them. */
const BROKEN_MAX = 10;
/** Maximum number of broken requirements named in the progress line. */
const BROKEN_NAMED_MAX = 3;

/** Returns the section about checks; an empty list when no device was watched. */
export function checkSections({ checks, series }: FleetResult): string[][] {
  if (checks === undefined) return [];
  const judged = checks.requirements.filter((row) => row.judged > 0);
  const broken = brokenRequirements(checks);
  const sample = `${counted(checks.devices, 'device')} watched, ${counted(checks.exchanges, 'request')}`;
  if (broken.length === 0) {
    const peak = Math.max(0, ...series.rows.map((row) => row.requests)) / (series.widthMs / 1000);
    const unseen = checks.requirements.length - judged.length;
    const kept = `${counted(judged.length, 'requirement')} met, ${unseen} not tested`;
    return [[`Checks: ${sample}: ${kept}, at up to ${rate(peak)}`]];
  }
  const head = `Checks: ${sample}: ${broken.length} of ${counted(judged.length, 'requirement')} BROKEN`;
  const shown = broken.slice(0, BROKEN_MAX);
  const more = broken.length - shown.length;
  return [
    [
      head,
      ...columns(phaseTable(shown)),
      ...(more > 0 ? [`  and ${more} more`] : []),
      ...shown.flatMap(breachLines),
    ],
  ];
}

/**
 * Returns the text about requirements broken so far for the progress line; an empty list when there
 * are none.
 */
export function violationText({ broken = [] }: Pick<FleetProgress, 'broken'>): string[] {
  if (broken.length === 0) return [];
  const more = broken.length - BROKEN_NAMED_MAX;
  const named = broken.slice(0, BROKEN_NAMED_MAX).join(' ');
  return [`BROKEN ${named}${more > 0 ? ` and ${more} more` : ''}`];
}

/**
 * Returns the requirements that the server broke, those with the highest share of breaches first.
 */
export function brokenRequirements({ requirements }: Checks): RequirementChecks[] {
  const broken = requirements.filter((row) => row.broken > 0);
  return broken.sort((one, other) => other.broken / other.judged - one.broken / one.judged);
}

/** Returns a table of requirements by phase, with the fleet's request rate in each phase. */
export function phaseTable(rows: readonly RequirementChecks[]): string[][] {
  const rates = new Map(
    rows.flatMap(({ phases }) => phases.map((each) => [each.phase, each.requestsPerSecond])),
  );
  const phases = [...rates];
  return [
    ['broken of tested', ...phases.map(([phase, perSecond]) => `${phase} at ${rate(perSecond)}`)],
    ...rows.map((row) => [
      row.requirement,
      ...phases.map(([phase]) => {
        const cell = row.phases.find((each) => each.phase === phase);
        return cell === undefined ? '-' : `${cell.broken} of ${cell.judged}`;
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

/** Returns a clause about the request rates at which the requirement broke. */
export function brokenRates({ brokenAt }: RequirementChecks): string {
  if (brokenAt === undefined) return 'it held';
  const { minPerSecond, maxPerSecond } = brokenAt;
  if (minPerSecond === maxPerSecond) return `broke at ${rate(minPerSecond)}`;
  return `broke at ${tenths(minPerSecond)} to ${rate(maxPerSecond)}`;
}

function breachLines(row: RequirementChecks): string[] {
  const { requirement, sentence, firstBreach } = row;
  if (firstBreach === undefined) return [];
  const { device, atMs, operation, requestsPerSecond, expected, actual } = firstBreach;
  const when = `${new Date(atMs).toISOString()}, ${operation}, at ${rate(requestsPerSecond)}`;
  return [
    `  ${requirement}: ${sentence}`,
    `    ${brokenRates(row)}`,
    `    first: device ${device}, ${when}`,
    `    expected ${expected}`,
    `    received ${actual}`,
  ];
}
