/** Formats the coverage of requirements as text for a terminal, as CSV and as an HTML page. */
import { stringify } from 'csv-stringify/sync';
import { escapeMarkup, selfContainedPage } from '../../fixtures/base/markup.ts';
import {
  type Coverage,
  type CoverageCounts,
  type CoverageRow,
  coverageStates,
} from '../result/coverage.ts';

const NAME_WIDTH = 34;
const COUNT_WIDTH = 13;

/** Returns text for a terminal: each requirement under its heading, then the counts. */
export function coverageText(coverage: Coverage): string {
  const headings = Object.keys(coverage.byHeading);
  const map = headings.flatMap((heading) => [
    heading,
    ...coverage.rows.filter((row) => row.heading === heading).flatMap(rowLines),
    '',
  ]);
  return [...map, ...countLines(coverage)].join('\n');
}

/** Returns CSV with a row for each requirement; lists are joined by spaces. */
export function coverageCsv({ rows }: Coverage): string {
  const records = rows.map((row) => ({
    id: row.id,
    heading: row.heading,
    level: row.level,
    plan: row.plan,
    state: row.state,
    cases: row.cases.map(({ id }) => id).join(' '),
    everywhere: row.everywhere?.join(' ') ?? '',
    reason: row.reason ?? '',
    open_point: row.openPoint?.id ?? '',
    operations: row.operations.join(' '),
    sentence: row.sentence,
  }));
  return stringify(records, { header: true });
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 75rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; margin-block: 0 2rem; }
caption { text-align: start; font-weight: 600; font-size: 1.1rem; padding-block: 0.5rem; }
th, td { text-align: start; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid #8884; }
td:last-child { overflow-wrap: anywhere; }
code { font-size: 0.85em; }
.unaccounted { font-weight: 700; color: light-dark(#b3261e, #ff8a80); }
`;

/** Returns a self-contained HTML page without a script. */
export function coverageHtml(coverage: Coverage): string {
  const headings = Object.keys(coverage.byHeading);
  const body = `<main>
<h1>Requirements and their tests</h1>
${countTables(coverage)}
${headings.map((heading) => headingTable(heading, coverage)).join('\n')}
</main>`;
  return selfContainedPage({ title: 'Fleetbed conformance: coverage', style, body });
}

/** Describes the state of a requirement in words. */
function stateText({ state, cases, reason, openPoint, everywhere }: CoverageRow): string {
  const reading = openPoint ? ` (open point ${openPoint.id}: ${openPoint.choice})` : '';
  const names = cases.map(({ id, needs }) => {
    return needs.length === 0 ? id : `${id} (needs ${needs.join(', ')})`;
  });
  switch (state) {
    case 'tested':
      if (everywhere === undefined) return `tested by ${names.join(', ')}`;
      return `tested on every exchange of ${everywhere.join(', ')}${names.length > 0 ? `; and by ${names.join(', ')}` : ''}`;
    case 'observed':
      return `observed by ${names.join(', ')}${reading}`;
    case 'excluded':
      return `not observable: ${reason}`;
    case 'client':
      return `applies to clients: ${reason}`;
    case 'unaccounted':
      return `UNACCOUNTED: ${reason}`;
  }
}

function rowLines(row: CoverageRow): readonly string[] {
  const { id, level, plan, sentence } = row;
  const conditions = plan === 'every' ? level : `${level}, ${plan}`;
  return [`  ${id} (${conditions})`, `      ${sentence}`, `      ${stateText(row)}`];
}

function countLines({ byHeading, byLevel, byPlan, totals }: Coverage): readonly string[] {
  const head = ['', ...coverageStates].map(column).join('').trimEnd();
  const lines = (groups: Readonly<Record<string, CoverageCounts>>): readonly string[] =>
    Object.entries(groups).map(([name, counts]) => countLine(name, counts));
  return [
    head,
    ...lines(byHeading),
    '',
    ...lines(byLevel),
    '',
    ...lines(byPlan),
    '',
    countLine('all', totals),
  ];
}

function countLine(name: string, counts: CoverageCounts): string {
  return [name, ...coverageStates.map((state) => String(counts[state]))].map(column).join('');
}

function column(text: string, index: number): string {
  return index === 0 ? text.padEnd(NAME_WIDTH) : text.padStart(COUNT_WIDTH);
}

function countTables({ byHeading, byLevel, byPlan }: Coverage): string {
  const groups = { 'By heading': byHeading, 'By level': byLevel, 'By plan': byPlan };
  return Object.entries(groups)
    .map(([caption, counts]) => {
      const rows = Object.entries(counts).map(
        ([name, each]) =>
          `<tr><th scope="row">${escapeMarkup(name)}</th>${coverageStates
            .map((state) => `<td>${each[state]}</td>`)
            .join('')}</tr>`,
      );
      return table(caption, ['', ...coverageStates], rows);
    })
    .join('\n');
}

function headingTable(heading: string, { rows }: Coverage): string {
  const lines = rows
    .filter((row) => row.heading === heading)
    .map(
      (row) =>
        `<tr><th scope="row"><code>${escapeMarkup(row.id)}</code></th><td>${row.level}</td>` +
        `<td>${row.plan}</td><td>${escapeMarkup(row.sentence)}</td>` +
        `<td class="${row.state}">${escapeMarkup(stateText(row))}</td></tr>`,
    );
  return table(heading, ['Requirement', 'Level', 'Plan', 'Sentence', 'How it is tested'], lines);
}

function table(caption: string, columns: readonly string[], rows: readonly string[]): string {
  const head = columns.map((name) => `<th scope="col">${escapeMarkup(name)}</th>`).join('');
  return `<table><caption>${escapeMarkup(caption)}</caption><thead><tr>${head}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`;
}
