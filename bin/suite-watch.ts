/** Shows how far a run of the suite has come: every bad verdict at once, and a count now and then. */
import { type CaseVerdict, listCases } from '../conformance/conformance.ts';
import { verdictLine } from '../conformance/report/text.ts';
import type { Output } from './output.ts';

const CASES_PER_LINE = 50;
/** A server that is gone makes every case bad; the report has them all. */
const BAD_LINES_MAX = 20;

/** The cases whose ids begin with one of the prefixes; all of them without any prefix. */
export function selectedCases(prefixes: readonly string[] = []) {
  const cases = listCases();
  if (prefixes.length === 0) return cases;
  return cases.filter(({ id }) => prefixes.some((prefix) => id.startsWith(prefix)));
}

/** What to call with each verdict. @param total cases that the run plays */
export function verdictTeller(output: Output, total: number): (verdict: CaseVerdict) => void {
  let played = 0;
  let bad = 0;
  return (verdict) => {
    played += 1;
    const { waiver } = verdict;
    const isBad = !waiver && ['fail', 'error', 'inconclusive'].includes(verdict.verdict);
    if (isBad && ++bad <= BAD_LINES_MAX) output.progress(`suite: ${verdictLine(verdict)}`);
    const isCounted = played % CASES_PER_LINE === 0 || played === total;
    if (isCounted) output.progress(`suite: ${played} of ${total} cases`);
  };
}
