/** The plan of a run. It is plain data and is checked as a whole before the run starts. */
import * as v from 'valibot';
import { printable } from '../../fixtures/base/printable.ts';
import { sentenceOf } from '../../fixtures/base/shape-sentences.ts';
import { type CohortRow, cohortsOf } from './cohort.ts';
import { stageName } from './load-fields.ts';
import { entriesOf, type FieldsOf, fieldsOf, type InputOf, type PlanOption } from './option-row.ts';
import { options } from './options.ts';
import { nonEmptyText, withoutUndefined } from './plan-values.ts';
import { shardShape } from './shard.ts';
import { thresholdOf } from './thresholds-parser.ts';

/** Limit that keeps the request that creates a deployment, which names all devices, below 1 MiB. */
const DEPLOYED_DEVICES_MAX = 25_000;

/**
 * Members of a plan that are not allowed in a plan file and do not correspond to a single option.
 */
const moreEntries = {
  /** The part of the devices that this process runs; absent for all devices. */
  shard: v.optional(shardShape),
  /** The user who accepts the fleet's devices; without one, the devices stay pending. */
  acceptWith: v.optional(
    v.union(
      [
        v.strictObject({ email: nonEmptyText, password: nonEmptyText }),
        v.strictObject({ token: nonEmptyText }),
      ],
      'must be an email address with a password, or a token',
    ),
  ),
  /** ID of an existing deployment that the run uses instead of creating one. */
  deploymentId: v.optional(
    v.pipe(nonEmptyText, v.regex(/^[\w-]{1,64}$/, 'must be a deployment ID')),
  ),
  /** Trusted certificates, and the fleet's client certificate with its key, in PEM. */
  tls: v.optional(
    v.pipe(
      v.strictObject({
        caPem: v.optional(nonEmptyText),
        certPem: v.optional(nonEmptyText),
        keyPem: v.optional(nonEmptyText),
      }),
      v.check(
        ({ certPem, keyPem }) => (certPem === undefined) === (keyPem === undefined),
        'needs --key, and --key needs --cert',
      ),
    ),
  ),
};
const moreShape = v.strictObject(moreEntries);
type ExtraPlanFields = v.InferInput<typeof moreShape>;

/** The plan of a run; all times in milliseconds. */
export type FleetPlan = FieldsOf<typeof options> &
  ExtraPlanFields & {
    seed: string;
    /** The RSA keys that devices share. Without a folder they exist only during the run. */
    rsaPool?:
      | { size?: number | undefined; bits?: 2048 | 3072 | undefined; folder?: string | undefined }
      | undefined;
  };

/**
 * A plan in the notation of users, with the user's login and the contents of certificate files.
 */
export type PlanInput = InputOf<typeof options> & Readonly<ExtraPlanFields>;

const moreOptions = {
  rsaPool: v.optional(options.rsaPool.value),
  rsaBits: v.optional(options.rsaBits.value),
  rsaPoolFolder: v.optional(options.rsaPoolFolder.value),
};

const planShape = v.pipe(
  v.strictObject({
    ...entriesOf(options),
    ...moreOptions,
    seed: options.seed.value,
    ...moreEntries,
  }),
  v.transform(({ rsaPool: size, rsaBits: bits, rsaPoolFolder: folder, ...input }): FleetPlan => {
    const { seed, shard, acceptWith, deploymentId, tls } = input;
    return withComparedCohorts({
      ...fieldsOf(options, input),
      ...withoutUndefined({ shard, acceptWith, deploymentId, tls }),
      seed,
      rsaPool: withoutUndefined({ size, bits, folder }),
    });
  }),
);

/** The default plan, which sets nothing but a seed. */
export const planDefaults: FleetPlan = v.parse(planShape, { seed: 'default' });

/** A constraint on several members of a plan. */
interface PlanConstraint {
  /** The member that the message names when it is violated. */
  readonly word: keyof PlanInput;
  readonly holds: (plan: FleetPlan) => boolean;
  readonly message: string;
}

const planConstraints: readonly PlanConstraint[] = [
  {
    word: 'shard',
    holds: ({ shard, devices }) => shard === undefined || shard.of <= devices,
    message: 'must not have more shards than devices',
  },
  {
    word: 'stage',
    holds: ({ stages = [], devices }) => stages.every((stage) => (stage.devices ?? 0) <= devices),
    message: 'must not use more devices than --devices',
  },
  {
    word: 'incident',
    holds: ({ incidents = [], cohorts = [] }) =>
      incidents.every(
        ({ cohort }) => cohort === undefined || cohorts.some(({ name }) => name === cohort),
      ),
    message: 'must name a cohort of the plan',
  },
  {
    word: 'deploy',
    holds: ({ deploy, acceptWith }) => deploy === undefined || acceptWith !== undefined,
    message: 'needs --accept with --password or --token',
  },
  {
    word: 'deploymentPhase',
    holds: ({ deploymentPhases, deploy }) => deploymentPhases === undefined || deploy !== undefined,
    message: 'needs --deploy',
  },
  {
    word: 'incident',
    holds: ({ incidents = [], acceptWith }) =>
      acceptWith !== undefined || incidents.every(({ name }) => name !== 'abort-deployment'),
    message: 'must not have an abort-deployment without --accept: a user must abort the deployment',
  },
  {
    word: 'deploymentId',
    holds: ({ deploy, deploymentId, acceptWith }) =>
      deploymentId === undefined || (acceptWith !== undefined && deploy === undefined),
    message:
      'needs --accept, and cannot be used with --deploy: a deployment is either joined or created',
  },
  {
    word: 'devices',
    holds: ({ deploy, devices }) => deploy === undefined || devices <= DEPLOYED_DEVICES_MAX,
    message: `must be at most ${DEPLOYED_DEVICES_MAX} with --deploy`,
  },
];

/** Thrown for an invalid plan: one sentence per problem, each beginning with the field. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Access to the known behaviours, for the check of a plan. */
export interface KnownBehaviours {
  names(): readonly string[];
  /**
   * Returns the problem with overridden parameters of a behaviour, as a predicate that follows the
   * behaviour's name; undefined when the parameters are valid.
   */
  parametersProblem(name: string, changed: Readonly<Record<string, number>>): string | undefined;
}

/**
 * Converts values in the notation of users into a plan.
 * @throws PlanError when any value is invalid
 */
export function planOf(input: object, knownBehaviours: KnownBehaviours): FleetPlan {
  const parsing = v.safeParse(planShape, input);
  if (!parsing.success) throw new PlanError(parsing.issues.map(problemSentence));
  const plan = parsing.output;
  const brokenConstraints = planConstraints.filter(({ holds }) => !holds(plan));
  const problems = [
    ...brokenConstraints.map(({ word, message: said }) => `${word} ${said}`),
    ...behaviourProblems(plan, knownBehaviours),
    ...scopeProblems(plan),
  ];
  if (problems.length > 0) throw new PlanError(problems);
  return plan;
}

/** Returns a sentence for each threshold that names a cohort or stage which the run does not have. */
function scopeProblems(plan: FleetPlan): string[] {
  const cohorts = cohortsOf(plan).map(({ name }) => name);
  const stages = stageNames(plan);
  return (plan.thresholds ?? []).flatMap((text) => {
    const { cohort, stage } = thresholdOf(text).scope;
    return [...unknownName('cohort', cohort, cohorts), ...unknownName('stage', stage, stages)].map(
      (problem) => `threshold ${problem}`,
    );
  });
}

function unknownName(
  subject: string,
  name: string | undefined,
  known: readonly string[],
): string[] {
  if (name === undefined || known.includes(name)) return [];
  return [`must name a ${subject} of the run (${known.join(', ')}), not ${valueText(name)}`];
}

/** Returns the names of the stages that a run of the plan can have. */
function stageNames({ stages = [], incidents = [] }: FleetPlan): readonly string[] {
  const entered = incidents.flatMap(({ name }) =>
    name === 'backoff-comparison' ? [name, `${name}: return`] : [name],
  );
  const numbered = entered.map((name, at) => {
    const earlierCount = entered.slice(0, at).filter((earlierName) => earlierName === name).length;
    return earlierCount === 0 ? name : `${name} (${earlierCount + 1})`;
  });
  return ['run', ...stages.map(stageName), ...numbered];
}

function behaviourProblems(plan: FleetPlan, knownBehaviours: KnownBehaviours): string[] {
  const names = knownBehaviours.names();
  const cohorts = (plan.cohorts ?? []).map(
    (cohort, index) => [`cohort.${index}.`, cohort] as const,
  );
  return [['', plan] as const, ...cohorts].flatMap(
    ([path, { behaviours = [], behaviourParameters = {} }]) => [
      ...behaviours.flatMap(({ name }) =>
        names.includes(name)
          ? []
          : `${path}behaviour must be one of ${names.join(', ')}, not ${valueText(name)}`,
      ),
      ...Object.entries(behaviourParameters).flatMap(([name, changed]) => {
        const problem = knownBehaviours.parametersProblem(name, changed);
        return problem === undefined ? [] : `${path}behaviourParameter ${name} ${problem}`;
      }),
    ],
  );
}

/**
 * Adds the cohorts of a back-off comparison to a plan that has none: one cohort of equal size for
 * each back-off.
 */
function withComparedCohorts(plan: FleetPlan): FleetPlan {
  const comparison = plan.incidents?.find(({ name }) => name === 'backoff-comparison');
  if (comparison === undefined || plan.cohorts !== undefined) return plan;
  const [one = {}, other = {}] = comparison.between ?? [
    { kind: 'exponential' },
    { kind: 'full-jitter' },
  ];
  const names =
    one.kind === other.kind || one.kind === undefined || other.kind === undefined
      ? ['first', 'second']
      : [one.kind, other.kind];
  const cohorts: CohortRow[] = [one, other].map((backOff, index) => ({
    name: names[index] ?? 'cohort',
    weight: 1,
    backOff,
  }));
  return { ...plan, cohorts };
}

/** Messages must not contain the values of these members, because they are secret. */
const rows: readonly (readonly [string, PlanOption])[] = Object.entries(options);
const secretFields = new Set([
  'acceptWith',
  'tls',
  ...rows.flatMap(([name, { cli }]) => (cli.kind === 'secret' ? [name] : [])),
]);

function problemSentence(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map(({ key }) => String(key)) ?? [];
  const location = keys.join('.') || 'the plan';
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    return `${location} ${sentenceOf(issue, planShape)}`;
  }
  if (issue.received === 'undefined') return `${location} is required`;
  const isShown = !secretFields.has(keys[0] ?? '') && typeof issue.input !== 'object';
  const unit =
    typeof issue.input === 'number' && issue.message.includes('milliseconds') ? 'ms' : '';
  return `${location} ${issue.message}${isShown ? `, not ${valueText(issue.input)}${unit}` : ''}`;
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? printable(JSON.stringify(value)) : String(value);
}
