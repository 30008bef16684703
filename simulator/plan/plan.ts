/** What a run is to do: plain data, checked as a whole before anything starts. */
import * as v from 'valibot';
import { limits } from '../../fixtures/contract/limits.ts';
import { headerPrefixPattern } from '../../fixtures/contract/vendor-names.ts';
import { printable } from '../../fixtures/printable.ts';
import { cohortFields, cohortsShape } from './cohort.ts';
import { loadFields } from './load-fields.ts';
import { placeInWords } from './plan-places.ts';
import { filled, milliseconds, wholeNumber } from './plan-values.ts';
import { shardShape } from './shard.ts';
import { thresholdsShape } from './thresholds-shape.ts';

/** Device type of a fleet whose plan names none. */
export const defaultDeviceType = 'fleetbed-board';
/** The third byte triple of a MAC address counts devices; far below that, memory is the bound. */
const DEVICES_MAX = 1_000_000;
/** A deployment names its devices in one request body of 1 MiB. */
const DEPLOYED_DEVICES_MAX = 25_000;
const SOURCE_ADDRESSES_MAX = 256;

/** Making that many takes minutes. */
const RSA_POOL_MAX = 4096;

const checkShareSaid = 'must be a share above 0, at most 1';
const baseUrlSaid = 'must be an http or https URL such as http://127.0.0.1:8080';
const planFields = {
  /** Where the server is, without the API's path. */
  baseUrl: v.pipe(
    v.string(baseUrlSaid),
    v.check((url) => /^https?:\/\//i.test(url) && URL.canParse(url), baseUrlSaid),
    v.check(
      (url) => !URL.canParse(url) || /^[^?#@]*$/.test(url),
      'must not contain a user, query or fragment',
    ),
  ),
  devices: wholeNumber(1, DEVICES_MAX),
  /** Which part of the devices this process plays; absent: all. */
  shard: v.optional(shardShape),
  /** What holds for every device, but where its cohort says otherwise. */
  ...cohortFields,
  /** Parts of the fleet, with their shares and what differs in each. */
  cohorts: v.optional(cohortsShape),
  ...loadFields,
  /** Files with more behaviours, read before the plan is checked. */
  behaviourFiles: v.optional(v.array(filled)),
  /** Any text; the same text makes the same fleet. */
  seed: filled,
  /** Demands on the run, such as `p99(poll) < 200ms`. */
  thresholds: v.optional(thresholdsShape),
  /** Ends the run as soon as one of them cannot be met any more; else those that say so. */
  abortOnThreshold: v.optional(v.boolean('must be true or false')),
  /** Share of the devices whose exchanges are checked against the contract; absent: none. */
  checkShare: v.optional(
    v.pipe(v.number(checkShareSaid), v.gtValue(0, checkShareSaid), v.maxValue(1, checkShareSaid)),
  ),
  /** First contacts are spread evenly over this time. */
  rampMs: milliseconds(0),
  /** End after this time at the latest. */
  durationMs: v.optional(milliseconds(1)),
  /** End as soon as every device has come to the end of a deployment (of ours, where we deploy). */
  until: v.optional(v.literal('settled', 'must be "settled" or absent')),
  tenantToken: v.optional(filled),
  headerPrefix: v.pipe(
    v.string(),
    v.regex(headerPrefixPattern, 'must be letters, digits and single dashes, such as X-SVC'),
  ),
  deviceType: v.optional(v.pipe(filled, v.maxLength(limits.provideMaxCharacters, 'is too long'))),
  /** The operator that accepts the fleet's own devices; without it they wait. */
  acceptWith: v.optional(
    v.union(
      [v.strictObject({ email: filled, password: filled }), v.strictObject({ token: filled })],
      'must be an e-mail address with a password, or a token',
    ),
  ),
  /** Name of the artifact to deploy to the fleet's own devices. */
  deploy: v.optional(v.pipe(filled, v.maxLength(limits.provideMaxCharacters, 'is too long'))),
  deploymentName: v.optional(
    v.pipe(filled, v.maxLength(limits.deploymentNameMaxCharacters, 'is too long')),
  ),
  /** A deployment that stands already, joined in place of making one. */
  deploymentId: v.optional(v.pipe(filled, v.regex(/^[\w-]{1,64}$/, 'must be a deployment ID'))),
  /** For a whole answer, and for each pause in a download. */
  requestTimeLimitMs: milliseconds(1),
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
  /** Own addresses to connect from, in turn. */
  sourceAddresses: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.ip('must be an IP address'))),
      v.minLength(1, 'must have at least one address'),
      v.maxLength(SOURCE_ADDRESSES_MAX, `must have at most ${SOURCE_ADDRESSES_MAX} addresses`),
    ),
  ),
  /** What every serial number begins with. */
  idPrefix: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9-]{1,32}$/, 'must be 1 to 32 letters, digits or dashes'),
    ),
  ),
  /** Template of id_data: a JSON object with places such as `{index}`. */
  idData: v.optional(filled),
  /** CSV file with the id_data of each device. */
  idDataFile: v.optional(filled),
  /** The RSA keys that devices share; without a folder they last for the run. */
  rsaPool: v.optional(
    v.strictObject({
      size: v.optional(wholeNumber(1, RSA_POOL_MAX)),
      bits: v.optional(v.picklist([2048, 3072], 'must be 2048 or 3072')),
      folder: v.optional(filled),
    }),
  ),
  /** Folder in which the fleet is kept from run to run. */
  state: v.optional(filled),
  /** File that lists what the fleet makes on the server, for its removal. */
  ledger: v.optional(filled),
  /** Folder of PEM files with the devices' own keys, in place of all others. */
  keyFolder: v.optional(filled),
};

const planShape = v.pipe(
  v.strictObject(planFields),
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

/** What a run is to do; all times in milliseconds. */
export type FleetPlan = v.InferInput<typeof planShape>;

/** A plan that cannot be executed: one sentence for each fault, each beginning with the word of a plan file. */
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
  /** What is wrong with changed numbers of a behaviour, in words that follow its name; or nothing. */
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
    (cohort, index) => [`cohorts.${index}.`, cohort] as const,
  );
  return [['', plan] as const, ...cohorts].flatMap(
    ([path, { behaviours = [], behaviourParameters = {} }]) => [
      ...behaviours.flatMap(({ name }, index) =>
        names.includes(name)
          ? []
          : `${path}behaviours.${index}.name is no behaviour; there are ${names.join(', ')}, not ${shown(name)}`,
      ),
      ...Object.entries(behaviourParameters).flatMap(([name, changed]) => {
        const fault = known.parametersFault(name, changed);
        return fault === undefined ? [] : `${path}behaviourParameters ${name} ${fault}`;
      }),
    ],
  );
}

/** A herd comparison of a plan without cohorts makes them: one for each back-off, alike in size. */
function withComparedCohorts(plan: FleetPlan): FleetPlan {
  const herd = plan.scenes?.find(({ name }) => name === 'backoff-comparison');
  if (herd === undefined || plan.cohorts !== undefined) return plan;
  const [one = {}, other = {}] = herd.between ?? [{ kind: 'exponential' }, { kind: 'full-jitter' }];
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

/** Values behind these fields are secrets and stay out of every message. */
const secretFields = new Set(['acceptWith', 'tenantToken', 'tls']);

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
