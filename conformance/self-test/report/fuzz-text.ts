/** Formats a fuzzed self-test as text for a terminal. */
import { shellWord } from '../../../fixtures/formats/shell-word.ts';
import { type FuzzResult, type FuzzRow, falseVerdicts, mustViolations } from '../fuzz/fuzz.ts';

const NOTICERS_SHOWN = 2;
const PERCENT = 100;

/** Returns the result of one alteration: a line, and one more for each case that broke down. */
export function fuzzRowText(row: FuzzRow): string {
  const { id, title, violatedLevel, outcome, by, suiteErrors } = row;
  const more = by.length > NOTICERS_SHOWN ? ` and ${by.length - NOTICERS_SHOWN} more` : '';
  const noticers = by.length > 0 ? ` by ${by.slice(0, NOTICERS_SHOWN).join(', ')}${more}` : '';
  const mark = isProblem(row) ? '!' : ' ';
  return [
    `${mark} ${outcome} ${id} (breaks ${levelText(violatedLevel)}) ${title}${noticers}`,
    ...suiteErrors.map((each) => `    the suite stopped with an error in ${each}`),
  ].join('\n');
}

/** Returns true if the row fails the self-test: a miss, a false verdict, or a suite error. */
export function isProblem({ violatedLevel, outcome, suiteErrors }: FuzzRow): boolean {
  const isMissed = violatedLevel === 'must' && outcome === 'missed';
  const isFalse = violatedLevel === 'nothing' && outcome === 'noticed';
  return isMissed || isFalse || suiteErrors.length > 0;
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
  const shouldRows = exercised(rows, 'should');
  const legalRows = exercised(rows, 'nothing');
  const unexercised = rows.filter(({ outcome }) => outcome === 'unexercised');
  const broken = rows.filter(({ suiteErrors }) => suiteErrors.length > 0);
  return [
    ...kindLines(rows),
    '',
    ...baselineFailures.map((id) => `! ${id} fails without any alteration`),
    ...problems.flatMap((row) => [
      fuzzRowText(row),
      `    npx fleetbed conform self-test --fuzz ${count} --seed ${shellWord(seed)} ${row.id}`,
    ]),
    `${mustViolations(rows).length} alterations break a must: ${noticed(mustViolations(rows))} noticed, ` +
      `${percent(share)} (floor ${percent(floor)})`,
    `${shouldRows.length} break a should: ${noticed(shouldRows)} noticed`,
    `${legalRows.length} are legal: ${falseVerdicts(rows).length} noticed, each of them a false verdict`,
    `${unexercised.length} altered nothing, since no response has the place; ${broken.length} caused an error in the suite`,
    ...(interrupted ? ['! interrupted before every alteration was run'] : []),
  ].join('\n');
}

function exercised(
  rows: readonly FuzzRow[],
  violatedLevel: FuzzRow['violatedLevel'],
): readonly FuzzRow[] {
  return rows.filter((row) => row.violatedLevel === violatedLevel && row.outcome !== 'unexercised');
}

function noticed(rows: readonly FuzzRow[]): number {
  return rows.filter(({ outcome }) => outcome === 'noticed').length;
}

/** Formats a share, rounded down so that a share below the floor does not appear to reach it. */
function percent(share: number): string {
  return `${(Math.floor(share * PERCENT * 10) / 10).toFixed(1)} percent`;
}

function kindLines(rows: readonly FuzzRow[]): readonly string[] {
  const kinds = [...new Set(mustViolations(rows).map(({ kind }) => kind))].toSorted();
  const width = Math.max(0, ...kinds.map((kind) => kind.length)) + 2;
  return [
    'Alterations that break a must, by kind: noticed of made',
    ...kinds.map((kind) => {
      const own = mustViolations(rows).filter((row) => row.kind === kind);
      return `  ${kind.padEnd(width)}${noticed(own)} of ${own.length}`;
    }),
  ];
}
