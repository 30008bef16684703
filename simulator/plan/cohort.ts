/** Cohorts: parts of a fleet with their own keys, behaviours and policy, sized by weights. */
import * as v from 'valibot';
import { isObject } from '../../fixtures/base/json.ts';
import { cohortOptions, type mixtureOptions, policyOptions } from './cohort-options.ts';
import { type FieldsOf, fieldsOf, overridesOf } from './option-row.ts';
import { nonEmptyText, weight } from './plan-values.ts';
import type { BackOffKind, NetworkShape } from './policy.ts';

/** Maximum number of cohorts in a plan; reports could not show more of them legibly. */
const COHORTS_MAX = 100;
const COHORT_NAME_MAX_CHARACTERS = 64;
const BACK_OFF_MIN_MS = 500;
const BACK_OFF_MAX_MS = 60_000;

type MixtureFields = FieldsOf<typeof mixtureOptions>;
type PolicyFields = FieldsOf<typeof policyOptions>;

/** The policy of a device towards the server, with all defaults applied. */
export interface Policy extends Readonly<Omit<PolicyFields, 'backOff' | 'network'>> {
  readonly backOff: {
    readonly kind: BackOffKind;
    readonly minMs: number;
    readonly maxMs: number;
    /** True when a device waits as long as the server requests with Retry-After. */
    readonly obeysRetryAfter: boolean;
  };
  readonly network?: NetworkShape;
}

/**
 * A cohort as written in a plan. Options that it does not set have the values of the whole fleet.
 */
export interface CohortRow extends Partial<FieldsOf<typeof cohortOptions>> {
  name: string;
  /** Relative share of the fleet's devices. */
  weight: number;
}

/** Schema of a cohort: its name, its weight, and the options that it overrides. */
export const cohort = v.pipe(
  v.strictObject({
    ...overridesOf(cohortOptions),
    name: v.pipe(nonEmptyText, v.maxCodePoints(COHORT_NAME_MAX_CHARACTERS, 'is too long')),
    weight: v.optional(weight, 1),
  }),
  v.transform(({ name, weight: part, ...differs }): CohortRow => {
    return { name, weight: part, ...fieldsOf(cohortOptions, differs) };
  }),
);

/** Schema of the list of cohorts in a plan. */
export const cohorts = v.pipe(
  v.array(cohort, 'must be a list of cohorts'),
  v.maxLength(COHORTS_MAX, `must have at most ${COHORTS_MAX} cohorts`),
  v.check(
    (rows) => rows.some((row) => row.weight > 0),
    'must give at least one cohort a weight above 0',
  ),
  v.check(
    (rows) => new Set(rows.map(({ name }) => name)).size === rows.length,
    'must name each cohort once',
  ),
);

type SharedCohortFields = FieldsOf<typeof cohortOptions> & {
  cohorts?: readonly CohortRow[] | undefined;
};

/** A cohort of the fleet, with all defaults applied. */
export interface Cohort {
  readonly name: string;
  readonly weight: number;
  /** Weights of the key types. */
  readonly keys: MixtureFields['keys'];
  readonly behaviours: MixtureFields['behaviours'];
  readonly behaviourParameters?: NonNullable<MixtureFields['behaviourParameters']>;
  readonly policy: Policy;
}

/**
 * Returns the cohorts in the order of the plan. A plan without cohorts has a single one named
 * `all`.
 */
export function cohortsOf(plan: SharedCohortFields): readonly Cohort[] {
  const { keys, behaviours: mixture } = plan;
  const rows: readonly CohortRow[] = plan.cohorts ?? [{ name: 'all', weight: 1 }];
  return rows.map(({ name, weight: part, ...differs }) => ({
    name,
    weight: part,
    keys: differs.keys ?? keys,
    behaviours: differs.behaviours ?? mixture,
    ...parametersOf({ ...plan.behaviourParameters, ...differs.behaviourParameters }),
    policy: policyOf(policyFieldsOf(plan, differs)),
  }));
}

function parametersOf(behaviourParameters: NonNullable<Cohort['behaviourParameters']>) {
  return Object.keys(behaviourParameters).length === 0 ? {} : { behaviourParameters };
}

/**
 * Returns the policy options of a cohort. A cohort may also override a single member of a composite
 * option such as the back-off.
 */
function policyFieldsOf(
  plan: SharedCohortFields,
  differs: Omit<CohortRow, 'name' | 'weight'>,
): PolicyFields {
  const [planFields, overrides] = [new Map(Object.entries(plan)), new Map(Object.entries(differs))];
  const fields = Object.values(policyOptions).flatMap(({ field }) => {
    const [inherited, override]: unknown[] = [planFields.get(field), overrides.get(field)];
    const value =
      isObject(override) && isObject(inherited) ? { ...inherited, ...override } : override;
    return [[field, value ?? inherited]];
  });
  return Object.fromEntries(fields) as PolicyFields;
}

/** Returns the policy that these options describe, with all defaults applied. */
export function policyOf({ network, ...fields }: PolicyFields): Policy {
  return { ...fields, backOff: backOffOf(fields), ...(network && { network: networkOf(network) }) };
}

/**
 * Returns the back-off with its defaults. The minimum wait is at most the poll interval, because a
 * device would otherwise retry less often than it polls.
 */
function backOffOf({ backOff = {}, pollIntervalMs }: PolicyFields): Policy['backOff'] {
  const minMs = backOff.minMs ?? Math.min(BACK_OFF_MIN_MS, pollIntervalMs);
  const maxMs = backOff.maxMs ?? Math.max(BACK_OFF_MAX_MS, pollIntervalMs, minMs);
  const { kind = 'equal-jitter', obeysRetryAfter = true } = backOff;
  return { kind, minMs, maxMs, obeysRetryAfter };
}

function networkOf(network: NonNullable<PolicyFields['network']>): NetworkShape {
  const { latencyMs = 0, jitterMs = 0, lossShare = 0, bytesPerSecond = 0 } = network;
  return { latencyMs, jitterMs, lossShare, bytesPerSecond };
}
