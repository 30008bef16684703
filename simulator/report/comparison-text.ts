/** A comparison of two runs as plain lines for a terminal: what differs first, and why. */
import { printable } from '../../fixtures/printable.ts';
import { columns } from './columns.ts';
import type { Comparison } from './compare.ts';

type Row = Comparison['rows'][number];

/** Verdicts that are shown row by row, in this order; of the others only the count is told. */
const shown = ['regression', 'improvement'] as const;

/** The comparison; every line is fit for a terminal. */
export function comparisonText({ verdict, rows, notes }: Comparison): string {
  const of = (wanted: Row['verdict']): readonly Row[] =>
    rows.filter((row) => row.verdict === wanted);
  const lines = [
    `Comparison: ${verdict}`,
    ...notes.map((note) => `  note: ${note}`),
    ...shown.flatMap((name) => listed(name, of(name))),
    `No difference: ${of('no difference').length} measures`,
    `Not enough data: ${of('not enough data').length} measures`,
  ];
  return lines.map((line) => printable(line)).join('\n');
}

function listed(name: string, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const heading = `${name[0]?.toUpperCase()}${name.slice(1)}s: ${rows.length}`;
  const cells = rows.map((row) => [row.subject, row.measure, change(row), row.because]);
  return [heading, ...columns(cells)];
}

function change({ measure, before, after }: Row): string {
  const said = (value: number): string => {
    if (measure === 'errors' || measure === 'success') return `${(100 * value).toFixed(2)}%`;
    return measure === 'ranks' ? value.toFixed(2) : `${value.toFixed(1)}ms`;
  };
  return `${said(before)} -> ${said(after)}`;
}
