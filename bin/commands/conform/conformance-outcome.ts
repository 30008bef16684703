/** Maps the outcome of a conformance run to an exit code. */
import type { ConformanceResult, VerdictName } from '../../../conformance/conformance.ts';
import { isWaived } from '../../../conformance/result/result.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';

const exitCodeOfOutcome: Readonly<Record<VerdictName, ExitCode>> = {
  fail: exitCodes.failed,
  error: exitCodes.internal,
  inconclusive: exitCodes.inconclusive,
  pass: exitCodes.pass,
  observed: exitCodes.inconclusive,
  skip: exitCodes.inconclusive,
};

/**
 * Returns the exit code for the worst verdict of the run; a run in which no case passed or failed
 * is inconclusive, and one that a missing right of the user ended was not set up. A run that was
 * interrupted after a failed case has failed, because no later case could change that.
 * @param signal aborted when the run was interrupted
 */
export function conformanceExitCode(
  { outcome, unauthorized, verdicts }: ConformanceResult,
  signal?: AbortSignal,
): ExitCode {
  if (signal?.aborted) {
    const hasFailed = verdicts.some((each) => each.verdict === 'fail' && !isWaived(each));
    return hasFailed ? exitCodes.failed : exitCodes.interrupted;
  }
  return unauthorized === undefined ? exitCodeOfOutcome[outcome] : exitCodes.setUp;
}
