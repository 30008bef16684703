/**
 * The plan in a result. It has no secrets and all defaults filled in, so that the plans of two
 * results can be compared. Digests of files replace their paths.
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
 * Options of a cohort that the plan repeats outside its cohorts, for programs that read earlier
 * versions.
 */
const { keys, behaviours, pollIntervalMs, inventoryIntervalMs, connect } = cohortEntries;

/** Members that results of earlier versions do not have. */
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
 * Schema of the plan in a result. It omits every field of a plan that is not named here or by an
 * option row, because that field may be a secret or a path.
 */
export const planSummaryShape = v.object({
  ...fleetEntries,
  keys,
  behaviours,
  pollIntervalMs,
  inventoryIntervalMs,
  connect,
  ...laterFields,
});

/** Schema of a shard: `index` counts from 0, and `of` is the number of shards. */
export const shardShape = v.object({ index: count, of: count });

/** The plan as it appears in a result, without secrets and paths. */
export type PlanSummary = Immutable<v.InferOutput<typeof planSummaryShape>>;
