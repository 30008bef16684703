/**
 * The plan in a result: without secrets, with every default filled in, so that two results can be
 * compared. Paths of files are omitted; their contents count.
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
/**
 * Of the options that a cohort may override, only these are repeated beside the cohorts, for
 * earlier readers.
 */
const { keys, behaviours, pollIntervalMs, inventoryIntervalMs, connect } = cohortEntries;

/** Members that results of earlier versions lack. */
const laterFields = {
  digest: v.exactOptional(
    v.pipe(
      sha256,
      v.description(
        'SHA-256 of the seed and all other members, as JSON with sorted members; two plans with ' +
          'the same digest are the same.',
      ),
    ),
  ),
  cohorts: v.exactOptional(
    v.pipe(
      v.array(cohortShape),
      v.description('Cohorts of the plan; a single cohort called all if the plan names none.'),
    ),
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
      v.description('SHA-256 of the files that the plan names.'),
    ),
  ),
};

/**
 * A plan field that is named neither by a row nor here is omitted: it may be a secret or a path.
 */
export const planSummaryShape = v.object({
  ...fleetEntries,
  ...{ keys, behaviours, pollIntervalMs, inventoryIntervalMs, connect },
  ...laterFields,
});

/** A contiguous part of a fleet: `index` of `of`, counted from zero. */
export const shardShape = v.object({ index: count, of: count });

/** The plan as it appears in a result, without secrets and paths. */
export type PlanSummary = Immutable<v.InferOutput<typeof planSummaryShape>>;
