/** The figures of the cohorts and stages that the thresholds of a run name. */
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
      stage: v.exactOptional(v.string()),
      durationMs: v.pipe(v.number(), v.finite(), v.minValue(0)),
      ...measuredShape,
    }),
  ),
  v.description(
    'Figures of each cohort and stage that a threshold names, together as it names them.',
  ),
);

/** The figures of one cohort, of one stage, or of one cohort in one stage. */
export type ScopeFigures = Immutable<v.InferOutput<typeof scopesShape>>[number];

/** Merges the figures of the same scopes. */
export const mergeScopes = rows<ScopeFigures>(
  ({ cohort = '', stage = '' }) => JSON.stringify([cohort, stage]),
  fields<ScopeFigures>({ cohort: first, stage: first, durationMs: highest, ...exchangeMergers }),
);

/** Returns each cohort and stage that a threshold names, once. */
export function scopesIn(thresholds: readonly string[]): readonly ThresholdScope[] {
  const scopes = thresholds.map((text) => thresholdOf(text).scope);
  return scopes.filter(
    (scope, at) => !isWholeRun(scope) && scopes.findIndex(isSameScope(scope)) === at,
  );
}

export function isWholeRun({ cohort, stage }: ThresholdScope): boolean {
  return cohort === undefined && stage === undefined;
}

/** Returns a predicate for scopes that name the same cohort and stage. */
export function isSameScope(one: ThresholdScope) {
  return (other: ThresholdScope): boolean =>
    one.cohort === other.cohort && one.stage === other.stage;
}
