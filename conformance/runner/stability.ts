/** Combines several attempts at one case; attempts with different verdicts decide nothing. */
import { sumOfCounts } from '../context/resource.ts';
import {
  type CaseAttempt,
  type CaseVerdict,
  countVerdicts,
  verdictNames,
} from '../result/result.ts';
import { inconclusive } from './runner.ts';

/**
 * Combines the verdicts of one or more attempts. Equal verdicts give that verdict. Different
 * verdicts make the case unstable, which is `inconclusive`, with the evidence of the worst attempt.
 * If an attempt was interrupted, its verdict is returned, since interruption is not instability.
 */
export function verdictOfAttempts(verdicts: readonly CaseVerdict[]): CaseVerdict {
  const [firstVerdict] = verdicts;
  if (!firstVerdict) throw new Error('a case without an attempt has no verdict');
  if (verdicts.length === 1) return firstVerdict;
  const interrupted = verdicts.find(({ reason }) => reason?.code === 'interrupted');
  const worst = interrupted ?? worstAttempt(verdicts, firstVerdict);
  const isStable = verdicts.every(({ verdict }) => verdict === firstVerdict.verdict);
  const { violated: _, expected: __, actual: ___, observation: ____, ...facts } = worst;
  return summarize(isStable || interrupted ? worst : { ...facts, ...unstable(verdicts) }, verdicts);
}

/** Returns true if the case is inconclusive because a connection closed. */
export function isCutShort(verdict: CaseVerdict | undefined): boolean {
  return verdict?.reason?.code === 'connection-closed';
}

/** Returns the verdict of the last attempt. Connections closed during the attempts before it. */
export function verdictOfLast(attempts: readonly CaseVerdict[]): CaseVerdict {
  const lastVerdict = attempts.at(-1);
  if (!lastVerdict) throw new Error('a case without a run has no verdict');
  return attempts.length === 1 ? lastVerdict : summarize(lastVerdict, attempts);
}

/** Returns the verdict with the total time, the created resources and the list of all attempts. */
function summarize(verdict: CaseVerdict, verdicts: readonly CaseVerdict[]): CaseVerdict {
  return {
    ...verdict,
    startedMs: verdicts[0]?.startedMs ?? verdict.startedMs,
    durationMs: verdicts.reduce((sum, { durationMs }) => sum + durationMs, 0),
    attempts: verdicts.flatMap((each) => each.attempts ?? [attemptOf(each)]),
    ...madeBy(verdicts),
    ...leftBehindBy(verdicts),
  };
}

function worstAttempt(verdicts: readonly CaseVerdict[], firstVerdict: CaseVerdict): CaseVerdict {
  const byName = verdictNames.map((name) => verdicts.find(({ verdict }) => verdict === name));
  return byName.find((verdict) => verdict !== undefined) ?? firstVerdict;
}

function unstable(verdicts: readonly CaseVerdict[]) {
  const totals = countVerdicts(verdicts);
  const occurringVerdicts = verdictNames.filter((name) => totals[name] > 0);
  const counts = occurringVerdicts.map((name) => `${totals[name]} ${name}`).join(', ');
  return inconclusive('unstable', `of ${verdicts.length} attempts: ${counts}`);
}

function attemptOf(caseVerdict: CaseVerdict): CaseAttempt {
  const { verdict, reason, expected, actual, observation, startedMs, durationMs } = caseVerdict;
  return {
    verdict,
    startedMs,
    durationMs,
    ...(reason && { reason }),
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
    ...(observation !== undefined && { observation }),
  };
}

function leftBehindBy(verdicts: readonly CaseVerdict[]): Pick<CaseVerdict, 'leftBehind'> {
  const leftBehind = verdicts.flatMap((each) => each.leftBehind ?? []);
  return leftBehind.length > 0 ? { leftBehind } : {};
}

function madeBy(verdicts: readonly CaseVerdict[]): Pick<CaseVerdict, 'made'> {
  const resourceCounts = sumOfCounts(verdicts.map((each) => each.made ?? {}));
  return Object.keys(resourceCounts).length > 0 ? { made: resourceCounts } : {};
}
