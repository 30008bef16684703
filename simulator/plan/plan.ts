/** The plan of a run: plain data, checked as a whole before anything starts. */
import * as v from 'valibot';
import { printable } from '../../fixtures/printable.ts';
import { type OptionRow, planEntries } from './option-row.ts';
import { options } from './options.ts';
import { placeInWords } from './plan-places.ts';
import { filled, wholeNumber } from './plan-values.ts';
import { shardShape } from './shard.ts';

/** A deployment names its devices in one request body of 1 MiB. */
const DEPLOYED_DEVICES_MAX = 25_000;
const RSA_POOL_MAX = 4096;

/** Fields that no single option has. */
const moreFields = {
  /** The part of the devices that this process runs; absent: all. */
  shard: v.optional(shardShape),
  /** The operator that accepts the fleet's own devices; without it they stay pending. */
  acceptWith: v.optional(
    v.union(
      [v.strictObject({ email: filled, password: filled }), v.strictObject({ token: filled })],
      'must be an e-mail address with a password, or a token',
    ),
  ),
  /** An existing deployment to join instead of creating one. */
  deploymentId: v.optional(v.pipe(filled, v.regex(/^[\w-]{1,64}$/, 'must be a deployment ID'))),
  /** Certificates to trust, and the fleet's own certificate with its key, in PEM. */
  tls: v.optional(
    v.pipe(
      v.strictObject({
        caPem: v.optional(filled),
        certPem: v.optional(filled),
        keyPem: v.optional(filled),
      }),
      v.check(
        ({ certPem, keyPem }) => (certPem === undefined) === (keyPem === undefined),
        'needs --key, and --key needs --cert',
      ),
    ),
  ),
  /** The RSA keys that devices share; without a folder they last for the run. */
  rsaPool: v.optional(
    v.strictObject({
      size: v.optional(wholeNumber(1, RSA_POOL_MAX)),
      bits: v.optional(v.picklist([2048, 3072], 'must be 2048 or 3072')),
      folder: v.optional(filled),
    }),
  ),
};

const planShape = v.pipe(
  v.strictObject({ ...planEntries(options), ...moreFields }),
  v.forward(
    v.partialCheck(
      [['shard'], ['devices']],
      ({ shard, devices }) => shard === undefined || shard.of <= devices,
      'must not have more shards than devices',
    ),
    ['shard'],
  ),
  v.forward(
    v.partialCheck(
      [['stages'], ['devices']],
      ({ stages = [], devices }) => stages.every((stage) => (stage.devices ?? 0) <= devices),
      'must not use more devices than --devices',
    ),
    ['stages'],
  ),
  v.forward(
    v.partialCheck(
      [['scenes'], ['cohorts']],
      ({ scenes = [], cohorts = [] }) =>
        scenes.every(
          ({ cohort }) => cohort === undefined || cohorts.some(({ name }) => name === cohort),
        ),
      'must name a cohort of the plan',
    ),
    ['scenes'],
  ),
  v.forward(
    v.partialCheck(
      [['scenes'], ['cohorts']],
      ({ scenes = [], cohorts }) =>
        scenes.every(
          ({ name, between }) =>
            name !== 'backoff-comparison' ||
            cohorts === undefined ||
            (between === undefined && cohorts.length > 1),
        ),
      'must compare two or more cohorts or, without cohorts, two back-offs (between)',
    ),
    ['scenes'],
  ),
  v.forward(
    v.partialCheck(
      [['deploy'], ['acceptWith']],
      ({ deploy, acceptWith }) => deploy === undefined || acceptWith !== undefined,
      'needs --accept with --password or --token',
    ),
    ['deploy'],
  ),
  v.forward(
    v.partialCheck(
      [['deploymentPhases'], ['deploy']],
      ({ deploymentPhases, deploy }) => deploymentPhases === undefined || deploy !== undefined,
      'needs --deploy',
    ),
    ['deploymentPhases'],
  ),
  v.forward(
    v.partialCheck(
      [['scenes'], ['acceptWith']],
      ({ scenes = [], acceptWith }) =>
        acceptWith !== undefined || scenes.every(({ name }) => name !== 'abort-deployment'),
      'must not have an abort-deployment without --accept: it takes a user',
    ),
    ['scenes'],
  ),
  v.forward(
    v.partialCheck(
      [['deploy'], ['deploymentId'], ['acceptWith']],
      ({ deploy, deploymentId, acceptWith }) =>
        deploymentId === undefined || (acceptWith !== undefined && deploy === undefined),
      'needs --accept, and excludes --deploy: a deployment is either joined or created',
    ),
    ['deploymentId'],
  ),
  v.forward(
    v.partialCheck(
      [['deploy'], ['devices']],
      ({ deploy, devices }) => deploy === undefined || devices <= DEPLOYED_DEVICES_MAX,
      `must be at most ${DEPLOYED_DEVICES_MAX} with --deploy`,
    ),
    ['devices'],
  ),
);

/** The plan of a run; all times in milliseconds. */
export type FleetPlan = v.InferInput<typeof planShape>;

/** Thrown for an invalid plan: one sentence per fault, each beginning with the field. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

/** The behaviours that plans may name. */
export interface KnownBehaviours {
  names(): readonly string[];
  /**
   * Returns what is wrong with overridden parameters of a behaviour, worded to follow its name;
   * undefined when they are valid.
   */
  parametersFault(name: string, changed: Readonly<Record<string, number>>): string | undefined;
}

/** @throws PlanError when anything in the plan is wrong */
export function checkPlan(plan: FleetPlan, known: KnownBehaviours): FleetPlan {
  const checked = v.safeParse(planShape, plan);
  const faults = (checked.issues ?? []).map(faultSentence);
  if (checked.typed) faults.push(...behaviourFaults(checked.output, known));
  if (checked.success && faults.length === 0) return withComparedCohorts(checked.output);
  throw new PlanError(faults);
}

function behaviourFaults(plan: FleetPlan, known: KnownBehaviours): string[] {
  const names = known.names();
  const cohorts = (plan.cohorts ?? []).map(
    (cohort, index) => [`cohort.${index}.`, cohort] as const,
  );
  return [['', plan] as const, ...cohorts].flatMap(
    ([path, { behaviours = [], behaviourParameters = {} }]) => [
      ...behaviours.flatMap(({ name }) =>
        names.includes(name)
          ? []
          : `${path}behaviour must be one of ${names.join(', ')}, not ${shown(name)}`,
      ),
      ...Object.entries(behaviourParameters).flatMap(([name, changed]) => {
        const fault = known.parametersFault(name, changed);
        return fault === undefined ? [] : `${path}behaviourParameter ${name} ${fault}`;
      }),
    ],
  );
}

/**
 * In a plan without cohorts, a back-off comparison creates them: one per back-off, equal in size.
 */
function withComparedCohorts(plan: FleetPlan): FleetPlan {
  const comparison = plan.scenes?.find(({ name }) => name === 'backoff-comparison');
  if (comparison === undefined || plan.cohorts !== undefined) return plan;
  const [one = {}, other = {}] = comparison.between ?? [
    { kind: 'exponential' },
    { kind: 'full-jitter' },
  ];
  const names =
    one.kind === other.kind || one.kind === undefined || other.kind === undefined
      ? ['first', 'second']
      : [one.kind, other.kind];
  const cohorts = [one, other].map((backOff, index) => ({
    name: names[index] ?? 'herd',
    weight: 1,
    backOff,
  }));
  return { ...plan, cohorts };
}

/** Values of these fields are secrets and never appear in a message. */
const rows: readonly OptionRow[] = Object.values(options);
const secretFields = new Set([
  'acceptWith',
  'tls',
  ...rows.flatMap(({ field, isSecret }) => (isSecret ? [field] : [])),
]);

function faultSentence(issue: v.BaseIssue<unknown>): string {
  const keys = issue.path?.map(({ key }) => String(key)) ?? [];
  const place = placeInWords(issue.path ?? []) ?? 'the plan';
  if (issue.type === 'strict_object' && issue.expected === 'never') return `${place} is unknown`;
  if (issue.received === 'undefined') return `${place} is required`;
  const isShown = !secretFields.has(keys[0] ?? '') && typeof issue.input !== 'object';
  const unit = keys.at(-1)?.endsWith('Ms') && typeof issue.input === 'number' ? 'ms' : '';
  return `${place} ${issue.message}${isShown ? `, not ${shown(issue.input)}${unit}` : ''}`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? printable(JSON.stringify(value)) : String(value);
}
