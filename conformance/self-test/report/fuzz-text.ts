/** Formats a fuzzed self-test as text for a terminal. */
import { shellWord } from '../../../fixtures/formats/shell-word.ts';
import { type FuzzResult, type FuzzRow, falseFailures, mustViolations } from '../fuzz/fuzz.ts';

const CASES_SHOWN = 2;
const PERCENT = 100;

/** Returns the result of one alteration: a line, and one more for each case that broke down. */
export function fuzzRowText(row: FuzzRow): string {
  const { id, title, violatedLevel, outcome, by, suiteErrors } = row;
  const more = by.length > CASES_SHOWN ? ` and ${by.length - CASES_SHOWN} more` : '';
  const cases = by.length > 0 ? ` by ${by.slice(0, CASES_SHOWN).join(', ')}${more}` : '';
  const mark = isProblem(row) ? '!' : ' ';
  return [
    `${mark} ${outcome} ${id} (violates ${levelText(violatedLevel)}) ${title}${cases}`,
    ...suiteErrors.map((each) => `    the suite stopped with an error in ${each}`),
  ].join('\n');
}

/** Returns true if the row fails the self-test: a survivor, a false failure, or a suite error. */
export function isProblem({ violatedLevel, outcome, suiteErrors }: FuzzRow): boolean {
  const isSurvivor = violatedLevel === 'must' && outcome === 'survived';
  const isFalse = violatedLevel === 'nothing' && outcome === 'killed';
  return isSurvivor || isFalse || suiteErrors.length > 0;
}

function levelText(violatedLevel: FuzzRow['violatedLevel']): string {
  return violatedLevel === 'nothing' ? violatedLevel : `a ${violatedLevel}`;
}

/**
 * Returns the whole result: the table by kind, each problem with the command that runs it alone,
 * and the totals.
 */
export function fuzzText(result: FuzzResult, floor: number): string {
  const { rows, share, seed, count, baselineFailures, interrupted } = result;
  const problems = rows.filter(isProblem);
  const shouldRows = exercisedRows(rows, 'should');
  const conformingRows = exercisedRows(rows, 'nothing');
  const unexercised = rows.filter(({ outcome }) => outcome === 'unexercised');
  const withErrors = rows.filter(({ suiteErrors }) => suiteErrors.length > 0);
  return [
    ...kindLines(rows),
    '',
    ...baselineFailures.map((id) => `! ${id} fails without any alteration`),
    ...problems.flatMap((row) => [
      fuzzRowText(row),
      `    npx fleetbed conform self-test --fuzz ${count} --seed ${shellWord(seed)} ${row.id}`,
    ]),
    `${mustViolations(rows).length} alterations violate a must: ${killedCount(mustViolations(rows))} killed, ` +
      `${percent(share)} (floor ${percent(floor)})`,
    `${shouldRows.length} violate a should: ${killedCount(shouldRows)} killed`,
    `${conformingRows.length} are conforming: ${falseFailures(rows).length} killed, each of them a false failure`,
    `${unexercised.length} altered nothing, since no response has the place; ${withErrors.length} caused an error in the suite`,
    ...(interrupted ? ['! interrupted before every alteration was run'] : []),
  ].join('\n');
}

function exercisedRows(
  rows: readonly FuzzRow[],
  violatedLevel: FuzzRow['violatedLevel'],
): readonly FuzzRow[] {
  return rows.filter((row) => row.violatedLevel === violatedLevel && row.outcome !== 'unexercised');
}

function killedCount(rows: readonly FuzzRow[]): number {
  return rows.filter(({ outcome }) => outcome === 'killed').length;
}

/** Formats a share, rounded down so that a share below the floor does not appear to reach it. */
function percent(share: number): string {
  return `${(Math.floor(share * PERCENT * 10) / 10).toFixed(1)} percent`;
}

function kindLines(rows: readonly FuzzRow[]): readonly string[] {
  const kinds = [...new Set(mustViolations(rows).map(({ kind }) => kind))].toSorted();
  const width = Math.max(0, ...kinds.map((kind) => kind.length)) + 2;
  return [
    'Alterations that violate a must, by kind: killed of made',
    ...kinds.map((kind) => {
      const violationsOfKind = mustViolations(rows).filter((row) => row.kind === kind);
      return `  ${kind.padEnd(width)}${killedCount(violationsOfKind)} of ${violationsOfKind.length}`;
    }),
  ];
}
