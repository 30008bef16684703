/** What a run of the suite means for the command line. */
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

/** The worst verdict decides; a run in which nothing passed or failed has decided nothing. */
export function conformanceExitCode({ outcome }: ConformanceResult): ExitCode {
  return exitCodeOfOutcome[outcome];
}
