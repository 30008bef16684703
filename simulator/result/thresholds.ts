/**
 * Judges a run by its thresholds: verdicts at its end, and during the run whether each can still be
 * met.
 */
import { printable } from '../../fixtures/base/printable.ts';
import { type Comparator, type Threshold, thresholdOf } from '../plan/thresholds-parser.ts';
import type { ThresholdVerdict } from './result-generator.ts';
import { isWholeRun } from './scopes.ts';
import type { ExchangeMeasures, Measures } from './thresholds-measures.ts';

/**
 * Minimum number of exchanges after which a missed share, rate or percentile counts as
 * unattainable.
 */
const HOPELESS_EXCHANGES_MIN = 1000;

/**
 * Returns the verdict on each of these thresholds.
 * @throws ThresholdError when a threshold is invalid
 */
export function thresholdVerdicts(
  texts: readonly string[],
  measures: Measures,
): readonly ThresholdVerdict[] {
  return texts.map((text) => {
    const threshold = thresholdOf(text);
    const { value, observed } = observation(threshold, measures);
    if (value === undefined) return { threshold: text, verdict: 'inconclusive', observed };
    if (isMet(threshold, value)) return { threshold: text, verdict: 'met', observed };
    const isOpen = !measures.isOver && !isUnattainable(threshold, measures);
    const observedText = observed + latenessText(threshold, measures);
    return { threshold: text, verdict: isOpen ? 'inconclusive' : 'missed', observed: observedText };
  });
}

/**
 * Returns a note about the generator's lateness. Latencies start when a request is due, so they
 * include the lateness, which the server did not cause.
 */
function latenessText({ subject, scope }: Threshold, { lateness }: Measures): string {
  if (subject.kind !== 'percentile' || lateness === undefined) return '';
  const part = isWholeRun(scope) ? '' : ' over the whole run';
  const ms = roundedText(lateness().percentileMs(subject.percent));
  return `, of which up to ${ms} ms is the lateness of the load generator${part}`;
}

/**
 * Returns true when a running fleet can no longer meet the threshold. A value that only grows is
 * unattainable once it exceeds the limit. A share, rate or percentile is unattainable once it is
 * missed over many exchanges.
 */
export function isUnattainable(threshold: Threshold, measures: Measures): boolean {
  const { subject, comparator, limit } = threshold;
  if (subject.kind === 'updated') return isTooLate(threshold, measures);
  const { value } = observation(threshold, measures);
  if (value === undefined || isMet(threshold, value)) return false;
  const only = comparator === '<' || comparator === '<=' || comparator === '=';
  if (subject.kind === 'errors' && subject.unit === 'count') return only && value >= limit;
  if (subject.kind === 'reports') return only;
  if (subject.kind === 'success') return measures.updates().devices === finishedCount(measures);
  if (subject.kind === 'percentile' && subject.percent === 100) return only;
  return (
    exchangesIn(threshold, measures).counts(subject.operations).exchanges >= HOPELESS_EXCHANGES_MIN
  );
}

interface ThresholdObservation {
  /** Value in the unit of the threshold's limit; undefined without measurements. */
  readonly value: number | undefined;
  readonly observed: string;
}

/** Returns the figures of exchanges to which the threshold applies. */
function exchangesIn({ scope }: Threshold, measures: Measures): ExchangeMeasures {
  return isWholeRun(scope) ? measures : measures.within(scope);
}

function observation(threshold: Threshold, measures: Measures): ThresholdObservation {
  const { subject } = threshold;
  const exchanges = exchangesIn(threshold, measures);
  switch (subject.kind) {
    case 'updated': {
      const updates = measures.updates();
      return shareObservation(updates.updatedWithin(subject.withinMs), updates.devices, 'devices');
    }
    case 'percentile': {
      const durations = exchanges.durations(subject.operations);
      if (durations.count === 0) return nothing('no request was answered');
      const { percent } = subject;
      const value = percent === 100 ? durations.maxMs : durations.percentileMs(percent);
      return { value, observed: `${roundedText(value)} ms over ${durations.count} requests` };
    }
    case 'errors': {
      const { exchanges: total, errors } = exchanges.counts(subject.operations);
      if (subject.unit === 'share') return shareObservation(errors, total, 'requests');
      return { value: errors, observed: `${errors} of ${total} requests` };
    }
    case 'rate': {
      const { elapsedMs } = exchanges;
      if (elapsedMs <= 0) return nothing('no time has passed');
      const value = (exchanges.counts(subject.operations).exchanges * 1000) / elapsedMs;
      return { value, observed: `${roundedText(value)}/s` };
    }
    case 'success':
      return shareObservation(
        measures.updates().updated,
        finishedCount(measures),
        'finished updates',
      );
    case 'reports': {
      const value = measures.reports(subject.outcome);
      if (value === undefined) return nothing('server and fleet were not reconciled');
      return { value, observed: `${value} ${subject.outcome}` };
    }
  }
}

/**
 * Returns true when the time has passed, or so many devices have failed that the share is
 * unattainable.
 */
function isTooLate({ subject, limit }: Threshold, measures: Measures): boolean {
  if (subject.kind !== 'updated') return false;
  const updates = measures.updates();
  const { devices, updated, failed, elapsedMs } = updates;
  const inTime = updates.updatedWithin(subject.withinMs);
  const attainable = elapsedMs > subject.withinMs ? inTime : devices - failed - (updated - inTime);
  return attainable < limit * devices;
}

function finishedCount(measures: Measures): number {
  const { updated, failed } = measures.updates();
  return updated + failed;
}

/** Tolerance, so that the rounding of a share does not decide a verdict. */
const EQUAL_WITHIN = 1e-12;
const compare: Readonly<Record<Comparator, (value: number, limit: number) => boolean>> = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit + EQUAL_WITHIN,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit - EQUAL_WITHIN,
  '=': (value, limit) => Math.abs(value - limit) <= EQUAL_WITHIN,
};

function isMet({ comparator, limit }: Threshold, value: number): boolean {
  return compare[comparator](value, limit);
}

function shareObservation(count: number, total: number, unit: string): ThresholdObservation {
  if (total === 0) return nothing(`there were no ${unit}`);
  return {
    value: count / total,
    observed: `${roundedText((count * 100) / total)}% (${count} of ${total} ${unit})`,
  };
}

function nothing(reason: string): ThresholdObservation {
  return { value: undefined, observed: printable(reason) };
}

function roundedText(value: number): string {
  return String(Number(value.toPrecision(4)));
}
