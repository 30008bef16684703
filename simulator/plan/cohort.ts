/** Cohorts: the parts of a fleet that differ in keys, behaviours and policy, each with its share. */
import * as v from 'valibot';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { filled, weight } from './plan-values.ts';
import { type Policy, policyFields, policyOf } from './policy.ts';

export type { Policy } from './policy.ts';

/** How many cohorts a plan may have; more cannot be told apart in a report. */
const COHORTS_MAX = 100;
const COHORT_NAME_MAX_CHARACTERS = 64;

const keyNames = keyTypes.join(', ');
const keysShape = v.pipe(
  v.strictObject(
    { rsa: weight, ecdsa: weight, ed25519: weight },
    `must be an object of weights for ${keyNames}`,
  ),
  v.check(
    (keys) => keyTypes.some((keyType) => keys[keyType] > 0),
    `must give at least one of ${keyNames} a weight above 0`,
  ),
);

const behaviourShape = v.strictObject({
  name: v.string('must be a name'),
  weight,
});

const behavioursShape = v.pipe(
  v.array(behaviourShape, 'must be an object of names and weights'),
  v.check(
    (rows) => rows.some((row) => row.weight > 0),
    'must give at least one behaviour a weight above 0',
  ),
  v.check(
    (rows) => new Set(rows.map(({ name }) => name)).size === rows.length,
    'must name each behaviour once',
  ),
);

const parametersShape = v.record(
  v.string(),
  v.record(
    v.string(),
    v.number('must be a number'),
    'must be an object of parameters and their numbers',
  ),
  'must be an object of behaviours and their parameters',
);

/** What a plan says of the whole fleet and a cohort may say otherwise. */
export const cohortFields = {
  /** Weights of the key types. */
  keys: keysShape,
  behaviours: behavioursShape,
  /** Numbers of behaviours in place of their own, by behaviour and name. */
  behaviourParameters: v.optional(parametersShape),
  ...policyFields,
};

const cohortShape = v.strictObject(
  {
    name: v.pipe(filled, v.maxLength(COHORT_NAME_MAX_CHARACTERS, 'is too long')),
    /** Share of the fleet's devices. */
    weight,
    ...v.partial(v.object(cohortFields)).entries,
  },
  'must be an object of name, weight and options that differ',
);

/** The cohorts of a plan. */
export const cohortsShape = v.pipe(
  v.array(cohortShape, 'must be a list of cohorts'),
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

const commonShape = v.strictObject({ ...cohortFields, cohorts: v.optional(cohortsShape) });
type Common = v.InferInput<typeof commonShape>;
type CohortRow = v.InferInput<typeof cohortShape>;

/** A part of the fleet, with nothing left open. */
export interface Cohort {
  readonly name: string;
  readonly weight: number;
  /** Weights of the key types. */
  readonly keys: v.InferOutput<typeof keysShape>;
  readonly behaviours: v.InferOutput<typeof behavioursShape>;
  readonly behaviourParameters?: v.InferOutput<typeof parametersShape>;
  readonly policy: Policy;
}

/** The cohorts of a plan in its order; one that is called `all` where the plan names none. */
export function cohortsOf(plan: Common): readonly Cohort[] {
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

/** Of a back-off and of a link a cohort may change a part and leave the rest. */
function policyFieldsOf(plan: Common, differs: Omit<CohortRow, 'name' | 'weight'>) {
  const { backOff, link } = differs;
  return {
    pollIntervalMs: differs.pollIntervalMs ?? plan.pollIntervalMs,
    pollJitterShare: differs.pollJitterShare ?? plan.pollJitterShare,
    phase: differs.phase ?? plan.phase,
    inventoryIntervalMs: differs.inventoryIntervalMs ?? plan.inventoryIntervalMs,
    connect: differs.connect ?? plan.connect,
    download: differs.download ?? plan.download,
    backOff: { ...plan.backOff, ...backOff },
    ...((plan.link ?? link) && { link: { ...plan.link, ...link } }),
  };
}
