/** Formats a kill matrix as text for a terminal. */
import { shortenText } from '../../../fixtures/base/characters.ts';
import { countText } from '../../../fixtures/base/count-text.ts';
import { requirements } from '../../../fixtures/contract/requirements/index.ts';
import { needsNoFix } from '../judgement.ts';
import type { KillMatrix, MatrixRow } from '../matrix.ts';
import { kindTable } from './kind-table.ts';

const VALUE_MAX_CHARACTERS = 200;
const KILLERS_SHOWN = 4;

/** Returns the result of one defect: a line, and one more for each problem. */
export function rowText(row: MatrixRow): string {
  const { id, outcome, killedBy, falseFailures, suiteErrors, casesRun, equivalent } = row;
  const killers = killedBy.slice(0, KILLERS_SHOWN).join(', ');
  const more =
    killedBy.length > KILLERS_SHOWN ? ` and ${killedBy.length - KILLERS_SHOWN} more` : '';
  const by = killedBy.length > 0 ? ` by ${killers}${more}` : '';
  const reason = equivalent === undefined ? '' : `: ${equivalent}`;
  return [
    `${needsNoFix(row) ? ' ' : '!'} ${outcome} ${id}${by}${reason} (${casesRun} cases run)`,
    ...suiteErrors.map((each) => `    the suite stopped with an error in ${each}`),
    ...falseFailures.map(
      ({ caseId, requirements: named, expected = '', actual = '' }) =>
        `    false failure by ${caseId} for ${named.join(', ')}: expected ${cut(expected)}, actual ${cut(actual)}`,
    ),
  ].join('\n');
}

/**
 * Returns the problems of a matrix, one per line.
 * @param isWhole true when the whole catalogue ran; else requirements without a defect are only
 * counted
 */
export function problemLines(matrix: KillMatrix, isWhole: boolean): readonly string[] {
  const { baselineFailures, untestedDuties, unproven } = matrix;
  return [
    ...baselineFailures.map((id) => `${id} fails without any defect`),
    ...(isWhole ? untestedDuties.map((id) => `no defect violates ${id}`) : []),
    ...unproven.map((id) => `no case that names ${id} kills a defect of it`),
  ];
}

/**
 * Returns the sentence on requirements that the selected defects do not violate, if there are any.
 */
function notSelectedText({ untestedDuties }: KillMatrix): string | undefined {
  if (untestedDuties.length === 0) return undefined;
  return `not violated by any selected defect: ${countText(untestedDuties.length, 'requirement')}`;
}

/**
 * Returns the whole matrix: each requirement with its defects, by heading, and the totals.
 * @param isWhole true when the whole catalogue ran, not a selection of it
 */
export function matrixText(matrix: KillMatrix, isWhole: boolean): string {
  const { cases, totals } = matrix;
  const notSelected = isWhole ? undefined : notSelectedText(matrix);
  const { killed, defects, survived, unexercised, equivalent } = totals;
  return [
    ...requirementLines(matrix),
    '',
    ...kindLines(matrix),
    ...problemLines(matrix, isWhole).map((line) => `! ${line}`),
    ...(notSelected === undefined ? [] : [notSelected]),
    `${cases} cases, ${defects} defects: ${killed} killed, ${survived} survived, ` +
      `${unexercised} not exercised, ${equivalent} equivalent, ` +
      `${totals['stale-reason']} stale reasons, ${totals.falseFailures} false failures, ` +
      `${totals.suiteErrors} suite errors`,
    `${totals.casesRun} case runs; ${totals.untouched} not run: unaffected, or not sampled`,
    ...(matrix.interrupted ? ['! interrupted before every defect was run'] : []),
  ].join('\n');
}

function requirementLines({ rows }: KillMatrix): string[] {
  const violatedIds = [...new Set(rows.flatMap(({ violates }) => violates))];
  const headings = [...new Set(violatedIds.map((id) => requirements[id].heading))];
  return headings.flatMap((heading) => [
    heading,
    ...violatedIds
      .filter((id) => requirements[id].heading === heading)
      .map((id) => {
        const requirementRows = rows.filter(({ violates }) => violates.includes(id));
        const killed = requirementRows.filter(({ outcome }) => outcome === 'killed').length;
        const provingCount = requirementRows.filter(({ proves }) => proves.includes(id)).length;
        return `  ${id}: ${killed} of ${requirementRows.length} defects killed, ${provingCount} by a case that names it`;
      }),
  ]);
}

/** Returns the table of generated defects, killed of planted: a line per operation. */
function kindLines(matrix: KillMatrix): readonly string[] {
  const { kinds, operations } = kindTable(matrix);
  if (kinds.length === 0) return [];
  const width = Math.max(...operations.map(({ operation }) => operation.length)) + 2;
  return [
    'Generated defects by operation and kind: killed of planted',
    ...kinds.map((kind, index) => `  ${columnName(index)}  ${kind}`),
    `  ${''.padEnd(width)}${kinds.map((_, index) => columnName(index).padStart(5)).join('')}`,
    ...operations.map(({ operation, cells }) => {
      const counts = cells.map((cell) =>
        (cell ? `${cell.killed}/${cell.planted}` : '').padStart(5),
      );
      return `  ${operation.padEnd(width)}${counts.join('')}`.trimEnd();
    }),
    '',
  ];
}

/** Returns a letter for a column; there are at most 26 kinds. */
function columnName(index: number): string {
  return String.fromCodePoint('A'.charCodeAt(0) + index);
}

function cut(text: string): string {
  return shortenText(text, VALUE_MAX_CHARACTERS);
}
