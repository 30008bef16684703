/** Maps the outcome of a conformance run to an exit code. */
import type { ConformanceResult, VerdictName } from '../../../conformance/conformance.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';

const exitCodeOfOutcome: Readonly<Record<VerdictName, ExitCode>> = {
  fail: exitCodes.failed,
  error: exitCodes.internal,
  inconclusive: exitCodes.undecided,
  pass: exitCodes.pass,
  observed: exitCodes.undecided,
  skip: exitCodes.undecided,
};

/**
 * Returns the exit code for the worst verdict of the run; a run in which no case passed or failed
 * is undecided, and one that a missing right of the user ended was not set up.
 */
export function conformanceExitCode({ outcome, unauthorised }: ConformanceResult): ExitCode {
  return unauthorised === undefined ? exitCodeOfOutcome[outcome] : exitCodes.setUp;
}
