/**
 * Renders a comparison of two runs as lines for a terminal, with the differences and their reasons
 * first.
 */
import { countText } from '../../fixtures/base/count-text.ts';
import { printable } from '../../fixtures/base/printable.ts';
import type { RunComparison } from '../result/compare.ts';
import { columns } from './columns.ts';

type ComparedFigure = RunComparison['rows'][number];

/** Verdicts whose rows are listed, in this order; of the other verdicts only the count is shown. */
const countLabels = [
  ['regression', 'worse'],
  ['improvement', 'better'],
] as const;

/** Renders the comparison. The lines contain no control characters. */
export function comparisonText({ verdict, rows, notes }: RunComparison): string {
  const rowsWith = (wanted: ComparedFigure['verdict']): readonly ComparedFigure[] =>
    rows.filter((row) => row.verdict === wanted);
  const counts = countLabels.map(([name, label]) => `${rowsWith(name).length} ${label}`);
  const lines = [
    `Comparison of B with A: ${verdict} (${measures(rows)}: ${counts.join(', ')})`,
    ...notes.map((note) => `  note: ${note}`),
    ...countLabels.flatMap(([name, label]) => listRows(label, rowsWith(name))),
    `No difference: ${measures(rowsWith('no difference'))}`,
    `Not enough data: ${measures(rowsWith('not enough data'))}`,
  ];
  return lines.map((line) => printable(line)).join('\n');
}

function measures({ length }: readonly ComparedFigure[]): string {
  return countText(length, 'measure');
}

function listRows(word: string, rows: readonly ComparedFigure[]): readonly string[] {
  if (rows.length === 0) return [];
  const cells = rows.map((row) => [
    row.subject,
    row.measure,
    values(row),
    `${changeText(row)}, ${row.better} is better`,
    row.reason,
  ]);
  return [`${word[0]?.toUpperCase()}${word.slice(1)}: ${measures(rows)}`, ...columns(cells)];
}

function isShare({ measure }: ComparedFigure): boolean {
  return measure === 'errors' || measure === 'success';
}

function values(row: ComparedFigure): string {
  const valueText = (value: number): string =>
    isShare(row) ? `${(100 * value).toFixed(2)}%` : `${value.toFixed(1)} ms`;
  return `${valueText(row.before)} -> ${valueText(row.after)}`;
}

/**
 * Formats a change. The change of a share is in percentage points, and a rise from zero has no
 * percentage.
 */
function changeText(row: ComparedFigure): string {
  const { before, after, changePercent } = row;
  const signedText = (value: number, unit: string): string =>
    `${value > 0 ? '+' : ''}${value.toFixed(value % 1 === 0 ? 0 : 1)}${unit}`;
  if (isShare(row)) return signedText(Number((100 * (after - before)).toFixed(2)), ' points');
  return changePercent === null ? 'from 0' : signedText(changePercent, '%');
}
