/** The figures of the cohorts and phases that the thresholds of a run name. */
import * as v from 'valibot';
import { type ThresholdScope, thresholdOf } from '../plan/thresholds-parser.ts';
import type { Immutable } from './immutable.ts';
import { exchangeMergers } from './merge-figures.ts';
import { fields, first, highest, rows } from './mergers.ts';
import { measuredShape } from './result-figures.ts';

export type { ThresholdScope } from '../plan/thresholds-parser.ts';

export const scopesShape = v.pipe(
  v.array(
    v.object({
      cohort: v.exactOptional(v.string()),
      phase: v.exactOptional(v.string()),
      durationMs: v.pipe(v.number(), v.finite(), v.minValue(0)),
      ...measuredShape,
    }),
  ),
  v.description(
    'Figures of each cohort and phase that a threshold names, together as it names them.',
  ),
);

/** The figures of one cohort, of one phase, or of one cohort in one phase. */
export type ScopeFigures = Immutable<v.InferOutput<typeof scopesShape>>[number];

/** Merges the figures of the same scopes. */
export const mergeScopes = rows<ScopeFigures>(
  ({ cohort = '', phase = '' }) => JSON.stringify([cohort, phase]),
  fields<ScopeFigures>({ cohort: first, phase: first, durationMs: highest, ...exchangeMergers }),
);

/** Returns each cohort and phase that a threshold names, once. */
export function scopesIn(thresholds: readonly string[]): readonly ThresholdScope[] {
  const scopes = thresholds.map((text) => thresholdOf(text).scope);
  return scopes.filter(
    (scope, at) => !isWholeRun(scope) && scopes.findIndex(isSameScope(scope)) === at,
  );
}

export function isWholeRun({ cohort, phase }: ThresholdScope): boolean {
  return cohort === undefined && phase === undefined;
}

/** Returns a predicate for scopes that name the same cohort and phase. */
export function isSameScope(one: ThresholdScope) {
  return (other: ThresholdScope): boolean =>
    one.cohort === other.cohort && one.phase === other.phase;
}
