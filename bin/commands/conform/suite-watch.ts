/** Prints the progress of a conformance run: each failed verdict at once, and a count. */
import type { CaseVerdict } from '../../../conformance/conformance.ts';
import { verdictLine } from '../../../conformance/report/text.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { LiveOutput } from '../../output/live-line.ts';

const CASES_PER_LINE = 50;
/** Period of the lines about a target that is still starting for the same reason. */
const WAIT_LINE_MS = 10_000;
/**
 * Limit on printed failures: when the server is gone, every case fails, and the report lists them
 * all.
 */
const UNSUCCESSFUL_LINES_MAX = 20;

/**
 * Returns a function to call with each verdict. On a terminal, the count is one line that is
 * updated with each verdict; elsewhere it is printed occasionally.
 * @param total number of cases in the run
 */
export function verdictPrinter(output: LiveOutput, total: number): (verdict: CaseVerdict) => void {
  let doneCount = 0;
  let unsuccessful = 0;
  return (verdict) => {
    doneCount += 1;
    const { waiver } = verdict;
    const isUnsuccessful = !waiver && ['fail', 'error', 'inconclusive'].includes(verdict.verdict);
    if (isUnsuccessful && ++unsuccessful <= UNSUCCESSFUL_LINES_MAX)
      output.progress(`suite: ${verdictLine(verdict)}`);
    const count = `suite: ${doneCount} of ${total} cases`;
    if (output.live) output.live(`${count}, ${unsuccessful} unsuccessful; ${verdict.id}`);
    else if (doneCount % CASES_PER_LINE === 0 || doneCount === total) output.progress(count);
  };
}

/**
 * Returns a function to call with each failed attempt to reach a target that is starting. It prints
 * the reason when it changes, and at times.
 */
export function waitPrinter(output: LiveOutput): (error: Error) => void {
  const startedMs = systemClock.monotonicMs();
  let lastWait = { reason: '', atMs: 0 };
  return ({ message }) => {
    const atMs = systemClock.monotonicMs();
    if (message === lastWait.reason && atMs - lastWait.atMs < WAIT_LINE_MS) return;
    lastWait = { reason: message, atMs };
    const seconds = Math.round((atMs - startedMs) / 1000);
    output.progress(`waiting for the target since ${seconds} s: ${message}`);
  };
}
