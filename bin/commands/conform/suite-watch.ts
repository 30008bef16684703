/** Prints the progress of a conformance run: each failed verdict at once, and a count. */
import { type CaseVerdict, listCases } from '../../../conformance/conformance.ts';
import { verdictLine } from '../../../conformance/report/text.ts';
import type { LiveOutput } from '../../output/live-line.ts';

const CASES_PER_LINE = 50;
/**
 * Limit on printed failures: when the server is gone, every case fails, and the report lists them
 * all.
 */
const BAD_LINES_MAX = 20;

/** Returns the cases whose ID starts with one of the prefixes; all cases without prefixes. */
export function selectedCases(prefixes: readonly string[] = []) {
  const cases = listCases();
  if (prefixes.length === 0) return cases;
  return cases.filter(({ id }) => prefixes.some((prefix) => id.startsWith(prefix)));
}

/**
 * Returns a function to call with each verdict. On a terminal, the count is one line that is
 * updated with each verdict; elsewhere it is printed occasionally.
 * @param total number of cases in the run
 */
export function verdictPrinter(output: LiveOutput, total: number): (verdict: CaseVerdict) => void {
  let done = 0;
  let bad = 0;
  return (verdict) => {
    done += 1;
    const { waiver } = verdict;
    const isBad = !waiver && ['fail', 'error', 'inconclusive'].includes(verdict.verdict);
    if (isBad && ++bad <= BAD_LINES_MAX) output.progress(`suite: ${verdictLine(verdict)}`);
    const count = `suite: ${done} of ${total} cases`;
    if (output.live) output.live(`${count}, ${bad} bad; ${verdict.id}`);
    else if (done % CASES_PER_LINE === 0 || done === total) output.progress(count);
  };
}
