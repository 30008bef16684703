/** Formats the comparison of two results, and the outcome of a rerun, as text for a terminal. */
import { printable, printableText } from '../../fixtures/base/printable.ts';
import {
  type CaseChange,
  changeKinds,
  type ResultComparison,
  type UnmatchedCase,
} from '../result/compare.ts';
import { type RerunCase, rerunOutcomes } from '../result/rerun.ts';
import type { VerdictName } from '../result/result.ts';

const headings: Readonly<Record<CaseChange['kind'], string>> = {
  regression: 'Regressions',
  'undecided-now': 'No longer tested',
  'other-failure': 'Different failures',
  'changed-observation': 'Changed observations',
  repair: 'Fixed',
  'decided-now': 'Newly tested',
};

const rerunOutcomeTexts: Readonly<Record<RerunCase['end'], string>> = {
  'still-failing': 'still failing',
  waived: 'waived',
  other: 'other',
  fixed: 'fixed',
};

/** Formats a comparison: regressions first, counts at the end. */
export function comparisonText(comparison: ResultComparison): string {
  const { before, after, changes, newCases, vanishedCases, unchanged } = comparison;
  const origins = [before, after].map(
    ({ baseUrl, startedAt, runId, outcome }, index) =>
      `${index === 0 ? 'before' : 'after '}  ${printableText(baseUrl)}, run ${runId}, ${startedAt}: ${outcome}`,
  );
  const sections = changeKinds.flatMap((kind) => {
    const changesOfKind = changes.filter((change) => change.kind === kind);
    return changesOfKind.length === 0
      ? []
      : ['', headings[kind], ...changesOfKind.flatMap(changeLines)];
  });
  const counts = changeKinds.map((kind) => {
    const count = changes.filter((change) => change.kind === kind).length;
    return `${count} ${headings[kind].toLowerCase()}`;
  });
  const otherCounts = [
    `${newCases.length} new`,
    `${vanishedCases.length} removed`,
    `${unchanged} unchanged`,
  ];
  return [
    ...origins,
    ...sections,
    ...loneLines('New cases', newCases),
    ...loneLines('Removed cases', vanishedCases),
    '',
    [...counts, ...otherCounts].join(', '),
  ].join('\n');
}

/** Formats a rerun: each repeated case with both verdicts, counts at the end. */
export function rerunText(rows: readonly RerunCase[]): string {
  const lines = rows.flatMap(({ id, end, before, after }) => [
    `${rerunOutcomeTexts[end].padEnd(14)} ${id}`,
    sideLine('before', before),
    after ? sideLine('now   ', after) : '  now     the suite no longer has this case',
  ]);
  const counts = rerunOutcomes.map((end) => {
    return `${rows.filter((row) => row.end === end).length} ${rerunOutcomeTexts[end]}`;
  });
  return [...lines, `${rows.length} run again: ${counts.join(', ')}`].join('\n');
}

function changeLines({ id, before, after }: CaseChange): readonly string[] {
  return [`  ${id}`, `  ${sideLine('before', before)}`, `  ${sideLine('after ', after)}`];
}

function sideLine(
  name: string,
  { verdict, text }: { readonly verdict: VerdictName; readonly text: string },
): string {
  return `  ${name}  ${verdict}${text === '' ? '' : `: ${printable(text.replace(/\s+/g, ' '))}`}`;
}

function loneLines(heading: string, cases: readonly UnmatchedCase[]): readonly string[] {
  if (cases.length === 0) return [];
  return ['', heading, ...cases.map(({ id, verdict }) => `  ${id}: ${verdict}`)];
}
