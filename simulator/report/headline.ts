/** The outcome of a run in one line, used as the first line of every report. */
import { counted } from '../../fixtures/counted.ts';
import { contactDoubt } from '../result/contact.ts';
import type { FleetResult } from '../result/result.ts';
import { noUser } from '../result/result-devices.ts';

/** The verdict and its reasons. */
export interface Headline {
  readonly verdict: 'PASSED' | 'FAILED' | 'UNDECIDED' | 'INVALID' | 'INTERRUPTED';
  /** For example `1,000 devices: FAILED, 1 of 4 thresholds missed`. */
  readonly text: string;
}

/**
 * Returns the headline of a result. A run that meets all thresholds and passes all checks has
 * passed.
 */
export function headline(result: FleetResult): Headline {
  const failures = failuresIn(result);
  const doubts = doubtsIn(result);
  const verdict = verdictOf(result, { isFailed: failures.length > 0, isOpen: doubts.length > 0 });
  const invalid = result.validity === 'invalid' ? ['limited by the load generator'] : [];
  const reasons = [...invalid, ...failures, ...doubts];
  const words = reasons.length === 0 ? successesIn(result) : reasons;
  const devices = counted(result.funnel.devices, 'device');
  return { verdict, text: [`${devices}: ${verdict}`, ...words].join(', ') };
}

function verdictOf(
  { ended, validity }: FleetResult,
  { isFailed, isOpen }: { readonly isFailed: boolean; readonly isOpen: boolean },
): Headline['verdict'] {
  if (ended === 'interrupted') return 'INTERRUPTED';
  if (validity === 'invalid' && !isFailed) return 'INVALID';
  if (isFailed) return 'FAILED';
  return isOpen ? 'UNDECIDED' : 'PASSED';
}

function failuresIn({ reconciliation, checks, thresholds }: FleetResult): string[] {
  const missed = thresholds.filter(({ verdict }) => verdict === 'missed').length;
  const broken = checks?.requirements.filter((row) => row.broken > 0).length ?? 0;
  return [
    ...(missed > 0 ? [`${missed} of ${counted(thresholds.length, 'threshold')} missed`] : []),
    ...(reconciliation.checked && !reconciliation.ok
      ? [`reconciliation found ${counted(differencesIn(reconciliation), 'difference')}`]
      : []),
    ...(broken > 0 ? [`${counted(broken, 'requirement')} broken`] : []),
  ];
}

function doubtsIn(result: FleetResult): string[] {
  const { reconciliation, spread, checks, thresholds } = result;
  const doubt = contactDoubt(result);
  const open = thresholds.filter(({ verdict }) => verdict === 'undecided').length;
  const lost = spread?.lost.length ?? 0;
  return [
    ...(doubt === undefined ? [] : [doubt]),
    ...(lost > 0 ? [`${counted(lost, 'shard')} lost`] : []),
    ...(reconciliation.checked || reconciliation.because === noUser
      ? []
      : ['reconciliation not possible']),
    ...(open > 0 ? [`${open} of ${counted(thresholds.length, 'threshold')} undecided`] : []),
    ...(checks?.requirements.every(({ judged }) => judged === 0) ? ['no requirement tested'] : []),
  ];
}

function successesIn({ reconciliation, thresholds }: FleetResult): string[] {
  const isReconciled = reconciliation.checked && reconciliation.deploymentsChecked > 0;
  return [
    ...(thresholds.length > 0 ? [`${counted(thresholds.length, 'threshold')} met`] : []),
    ...(isReconciled ? ['reconciliation agrees'] : []),
  ];
}

/** Returns what to do about pending devices: those of a run without a user, and a whole fleet. */
export function pendingSentences(result: FleetResult): string[] {
  const { reconciliation, funnel } = result;
  if (reconciliation.because === noUser && funnel.waiting > 0)
    return [acceptanceHint(funnel.waiting)];
  if (contactDoubt(result) !== 'no device was accepted') return [];
  return ['No device was accepted with --accept: see the errors below, or run longer.'];
}

/** Returns the remedy for devices that wait to be accepted. */
export function acceptanceHint(waiting: number): string {
  const are = waiting === 1 ? 'is' : 'are';
  return (
    `${counted(waiting, 'device')} ${are} not accepted: run with --accept and --password or ` +
    '--token, or run: fleetbed accept --all; if it finds none, check that --url leads to the device API'
  );
}

/** Returns the number of devices and totals in which the fleet and the server differ. */
export function differencesIn({ differences, statistics }: FleetResult['reconciliation']): number {
  return differences.length + statistics.length;
}

/** Why a run ended, as a clause. */
export const endings: Readonly<Record<FleetResult['ended'], string>> = {
  settled: 'every device finished its deployment',
  duration: 'the duration ended',
  stages: 'the last stage ended',
  iterations: 'every device completed its iterations',
  interrupted: 'stopped by Ctrl-C',
  threshold: 'a threshold could no longer be met',
};
