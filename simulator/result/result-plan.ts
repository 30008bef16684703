/**
 * The plan in a result: what was to be done, without any secret, with every default filled in, so
 * that two results can be held against each other. Paths of files stay out; what is in them counts.
 */
import * as v from 'valibot';
import { cohortOptions, mixtureOptions, policyOptions } from '../plan/cohort-options.ts';
import { resultEntries } from '../plan/option-row.ts';
import { options } from '../plan/options.ts';
import { count, number } from '../plan/plan-values.ts';
import type { Immutable } from './immutable.ts';

const text = v.string();
const sha256 = v.pipe(text, v.regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hex'));

const cohortShape = v.object({
  name: text,
  weight: number,
  ...resultEntries(mixtureOptions),
  policy: v.object(resultEntries(policyOptions)),
});

const wholeEntries = resultEntries(options);
const cohortEntries = resultEntries(cohortOptions);
const fleetEntries = Object.fromEntries(
  Object.entries(wholeEntries).filter(([field]) => !Object.hasOwn(cohortEntries, field)),
) as Omit<typeof wholeEntries, keyof typeof cohortEntries>;
/** Of what a cohort may have otherwise, only these stand beside the cohorts, for earlier readers. */
const { keys, behaviours, pollIntervalMs, inventoryIntervalMs, connect } = cohortEntries;

/** Parts that results of former versions lack. */
const laterFields = {
  digest: v.exactOptional(
    v.pipe(
      sha256,
      v.description(
        'Of everything else here and the seed, as JSON with its members in order; two plans are ' +
          'the same when this is.',
      ),
    ),
  ),
  cohorts: v.exactOptional(
    v.pipe(v.array(cohortShape), v.description('One called all where the plan names none.')),
  ),
  rsaPool: v.exactOptional(
    v.object({ size: v.exactOptional(count), bits: v.exactOptional(count) }),
  ),
  files: v.exactOptional(
    v.pipe(
      v.object({
        behaviours: v.exactOptional(v.array(sha256)),
        idData: v.exactOptional(sha256),
      }),
      v.description('What is in the files that the plan names.'),
    ),
  ),
};

/** A field of the plan that is not named by a row or here stays out: it may be a secret or a path. */
export const planSummaryShape = v.object({
  ...fleetEntries,
  ...{ keys, behaviours, pollIntervalMs, inventoryIntervalMs, connect },
  ...laterFields,
});

/** A contiguous part of a fleet: `index` of `of`, counted from zero. */
export const shardShape = v.object({ index: count, of: count });

/** What was to be done. */
export type PlanSummary = Immutable<v.InferOutput<typeof planSummaryShape>>;
