/** Formats a result as text: ratios first, then absolute figures. */
import Table from 'cli-table3';
import { type BenchResult, changesOf, dayOf, type RowChange } from './result.ts';
import type { BenchRow, FigureSpread } from './row.ts';

/** Table style without colours, because the report may go to a file. */
const plain = { style: { head: [], border: [] } };

/** Returns the environment, and a table of each part followed by the notes of its rows. */
export function resultText({ environment, parts }: BenchResult): string {
  const width = Math.max(...Object.keys(environment).map((label) => label.length));
  const head = Object.entries(environment).map(
    ([label, text]) => `${label.padEnd(width)}  ${text}`,
  );
  const tables = parts.map(({ name, rows }) => partText(name, rows));
  return [head.join('\n'), ...tables, verdictLine(parts.flatMap(({ rows }) => rows))].join('\n\n');
}

/** Returns the table of a document in Markdown: machine and day once, then a line for each row. */
export function resultMarkdown(result: BenchResult): string {
  const { machine = 'an unknown machine', node = 'unknown', fleetbed = '' } = result.environment;
  const head = `${machine}, Node ${node}, ${dayOf(result)}, Fleetbed ${fleetbed}:`;
  const columns = ['part', 'measured', 'ratio (range)', 'goal', '', 'subject', 'baseline'];
  const rows = result.parts.flatMap(({ name, rows: measured }) =>
    measured.map((row) => [name, ...markdownCells(row)]),
  );
  const lines = [columns, columns.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  return [head, '', ...lines].join('\n');
}

function markdownCells(row: BenchRow): string[] {
  const { title, ratio, goal, verdict, subject, baseline, others, unit } = row;
  const isOnce = ratio.min === ratio.max;
  const subjectFigure = `${shownFigure(subject.figures.median)} ${unit}`;
  const otherTexts = others.map(({ name, ratio: other }) => `${name} ${shownRatio(other.median)}`);
  return [
    title,
    isOnce ? shownRatio(ratio.median) : shownSpread(ratio),
    shownRatio(goal),
    verdict,
    subjectFigure,
    [shownSide(baseline), ...otherTexts].join('; '),
  ];
}

/** Returns the ratio of each row before and now. */
export function changesText(before: BenchResult, now: BenchResult): string {
  const table = new Table({ head: ['part', 'measured', 'before', 'now', 'change'], ...plain });
  for (const change of changesOf(before, now)) {
    const { part, title } = change;
    table.push([part, title, ...changeCells(change)]);
  }
  const { date = 'an earlier run', form } = before.environment;
  // The form is printed because ratios of a quick run and of a full run differ slightly.
  return `Ratios since ${date}${form === undefined ? '' : ` (${form})`}\n${table.toString()}`;
}

/**
 * Returns the ratio before, the ratio now and the change as text; empty where a run lacks the row.
 */
function changeCells({ before, now, change }: RowChange): [string, string, string] {
  const sign = (change ?? 0) < 0 ? '' : '+';
  const percent = change === undefined ? '' : `${sign}${(change * 100).toFixed(0)} %`;
  return [shownRatio(before), shownRatio(now), percent];
}

/** Returns one line with the number of rows that met or missed their goal. */
function verdictLine(rows: readonly BenchRow[]): string {
  const judgedRows = rows.filter(({ verdict }) => verdict !== 'no goal');
  const missedRows = judgedRows.filter(({ verdict }) => verdict === 'missed');
  const names = missedRows.map(({ title }) => title).join(', ');
  return `${judgedRows.length - missedRows.length} of ${judgedRows.length} goals met${missedRows.length > 0 ? `; missed: ${names}` : ''}`;
}

/** Formats a ratio with two decimals; empty for a missing ratio. */
function shownRatio(ratio: number | undefined | null): string {
  return ratio === undefined || ratio === null ? '' : ratio.toFixed(2);
}

/** Formats median and range, such as `0.62 (0.60..0.64)`. */
function shownSpread({ median, min, max }: FigureSpread): string {
  return `${shownRatio(median)} (${shownRatio(min)}..${shownRatio(max)})`;
}

/** Formats an absolute figure: rounded from 100 on, with three significant digits below. */
export function shownFigure(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

/** Returns the name of a measured program with its median. */
function shownSide({ name, figures }: BenchRow['subject']): string {
  return `${name} ${shownFigure(figures.median)}`;
}

function partText(name: string, rows: readonly BenchRow[]): string {
  const head = ['measured', 'ratio', 'goal', 'verdict', 'subject', 'baseline', 'unit'];
  const table = new Table({ head, ...plain });
  for (const row of rows) {
    const { title, ratio, goal, verdict, subject, baseline, others, unit } = row;
    const sides = [shownSide(subject), shownSide(baseline), unit];
    table.push([title, shownSpread(ratio), shownRatio(goal), verdict, ...sides]);
    for (const other of others) {
      table.push(['', shownSpread(other.ratio), '', '', shownSide(other), '', '']);
    }
  }
  const notes = rows.flatMap(({ title, note }) => (note === '' ? [] : [`  ${title}: ${note}`]));
  return [name, table.toString(), ...notes].join('\n');
}
