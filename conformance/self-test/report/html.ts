/** A kill matrix as one HTML page: a row per defect, a column per area of cases. */
import { escapeMarkup, selfContainedPage } from '../../../fixtures/base/markup.ts';
import { requirements } from '../../../fixtures/contract/requirements/index.ts';
import { needsNoFix } from '../judgement.ts';
import type { KillMatrix, MatrixRow } from '../matrix.ts';
import { kindTable } from './kind-table.ts';
import { problemLines } from './text.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
form { display: flex; flex-wrap: wrap; gap: 1rem; margin-block: 1rem; }
input, select { font: inherit; padding: 0.2rem 0.4rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: start; vertical-align: top; padding: 0.25rem 0.5rem; border-bottom: 1px solid #8884; }
thead th { position: sticky; top: 0; background: Canvas; }
thead th { overflow-wrap: normal; }
tbody th { font-weight: 400; min-width: 22rem; }
td.count { text-align: end; font-variant-numeric: tabular-nums; }
td.count details { text-align: start; }
code { font-size: 0.85em; overflow-wrap: anywhere; }
.killed { color: light-dark(#1b6e3c, #7fd6a0); }
.unsound { color: light-dark(#b3261e, #ff8a80); font-weight: 700; }
`;

/** Filters the rows by text and outcome. */
const script = `
const form = document.querySelector('form');
const rows = [...document.querySelectorAll('tbody tr[data-outcome]')];
const countOutput = document.querySelector('output');
const apply = () => {
  const text = form.elements.text.value.toLowerCase();
  const outcome = form.elements.outcome.value;
  let count = 0;
  for (const row of rows) {
    const fits = row.textContent.toLowerCase().includes(text)
      && (outcome === '' || row.dataset.outcome === outcome);
    row.hidden = !fits;
    if (fits) count += 1;
  }
  countOutput.textContent = count + ' of ' + rows.length + ' defects';
};
form.addEventListener('input', apply);
form.addEventListener('submit', (event) => event.preventDefault());
apply();
`;

/** Returns the page; it loads no resources. @param isWhole true when the whole catalogue ran */
export function matrixHtml(matrix: KillMatrix, isWhole: boolean): string {
  const { rows } = matrix;
  const areas = [...new Set(rows.flatMap(failingCasesOf).map(areaOf))].sort();
  const outcomes = [...new Set(rows.map(({ outcome }) => outcome))].sort();
  const body = `<main>
<h1>Self-test of the conformance suite</h1>
<p>${escapeMarkup(summary(matrix))}</p>
${problems(matrix, isWhole)}
${kindTableOf(matrix)}
<form>
<label>Filter <input name="text" type="search" placeholder="defect, requirement or case"></label>
<label>Outcome <select name="outcome"><option value="">every</option>${outcomes
    .map((outcome) => `<option>${outcome}</option>`)
    .join('')}</select></label>
<output aria-live="polite"></output>
</form>
<div class="scroll" tabindex="0"><table>
<caption>Cases that kill each defect, by area</caption>
<thead><tr><th scope="col">Defect</th><th scope="col">Outcome</th>${areas
    .map((area) => `<th scope="col">${escapeMarkup(area)}</th>`)
    .join('')}<th scope="col">Run</th></tr></thead>
<tbody>
${rows.map((row) => defectRow(row, areas)).join('\n')}
</tbody></table></div>
</main>`;
  return selfContainedPage({ title: 'Fleetbed conformance: self-test', style, script, body });
}

function summary({ cases, totals }: KillMatrix): string {
  const { defects, killed, equivalent, survived, unexercised, falseFailures } = totals;
  return (
    `${cases} cases against ${defects} planted defects: ${killed} killed, ${equivalent} ` +
    `equivalent, ${survived} survived, ${unexercised} not exercised, ${falseFailures} false failures.`
  );
}

function problems(matrix: KillMatrix, isWhole: boolean): string {
  const lines = problemLines(matrix, isWhole);
  if (lines.length === 0) return '';
  return `<ul class="unsound">${lines.map((line) => `<li>${escapeMarkup(line)}</li>`).join('')}</ul>`;
}

/** Returns the table of generated defects, killed of planted; empty if there are none. */
function kindTableOf(matrix: KillMatrix): string {
  const { kinds, operations } = kindTable(matrix);
  if (kinds.length === 0) return '';
  const head = kinds.map((kind) => `<th scope="col">${escapeMarkup(kind)}</th>`).join('');
  const body = operations.map(({ operation, cells }) => {
    const counts = cells.map((cell) => {
      if (!cell) return '<td></td>';
      const mark = cell.killed === cell.planted ? 'killed' : 'unsound';
      return `<td class="count ${mark}">${cell.killed}/${cell.planted}</td>`;
    });
    return `<tr><th scope="row">${escapeMarkup(operation)}</th>${counts.join('')}</tr>`;
  });
  return `<div class="scroll" tabindex="0"><table>
<caption>Generated defects by operation and kind: killed of planted</caption>
<thead><tr><th scope="col">Operation</th>${head}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`;
}

function defectRow(row: MatrixRow, areas: readonly string[]): string {
  const { id, title, violates, outcome, equivalent, casesRun } = row;
  const requirementItems = violates.map(
    (each) => `<li><code>${each}</code> ${escapeMarkup(requirements[each].sentence)}</li>`,
  );
  const reason = equivalent === undefined ? '' : `<p>Equivalent: ${escapeMarkup(equivalent)}</p>`;
  return `<tr data-outcome="${outcome}"><th scope="row">${escapeMarkup(title)}<details><summary><code>${escapeMarkup(
    id,
  )}</code></summary><ul>${requirementItems.join('')}</ul>${reason}</details></th><td class="${
    needsNoFix(row) ? 'killed' : 'unsound'
  }">${outcome}</td>${areas.map((area) => areaCell(row, area)).join('')}<td class="count">${casesRun}</td></tr>`;
}

/** Returns the cell with the number and names of an area's cases that kill the defect. */
function areaCell(row: MatrixRow, area: string): string {
  const areaKills = row.killedBy.filter((id) => areaOf(id) === area);
  const falseFailures = row.falseFailures.filter(({ caseId }) => areaOf(caseId) === area);
  if (areaKills.length + falseFailures.length === 0) return '<td></td>';
  const items = [
    ...areaKills.map((id) => `<li><code>${escapeMarkup(id)}</code></li>`),
    ...falseFailures.map(
      ({ caseId }) => `<li class="unsound"><code>${escapeMarkup(caseId)}</code> false failure</li>`,
    ),
  ];
  const count = `${areaKills.length}${falseFailures.length > 0 ? ` + ${falseFailures.length} false` : ''}`;
  return `<td class="count"><details><summary>${count}</summary><ul>${items.join('')}</ul></details></td>`;
}

function failingCasesOf({ killedBy, falseFailures }: MatrixRow): string[] {
  return [...killedBy, ...falseFailures.map(({ caseId }) => caseId)];
}

function areaOf(caseId: string): string {
  return caseId.split('/')[0] ?? caseId;
}
