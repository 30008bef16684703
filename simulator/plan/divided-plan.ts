/**
 * A plan on workers is in two halves. What the head says is data and goes through Redis. Where the
 * server is, every secret and every path are the worker's own: whoever can write to Redis cannot
 * say where a password goes or what is read.
 */
import * as v from 'valibot';
import type { FleetPlan } from './plan.ts';

/** Whose word counts; a new field of the plan has to be decided here. */
const saidBy: Readonly<Record<keyof FleetPlan, 'head' | 'worker'>> = {
  baseUrl: 'worker',
  devices: 'head',
  shard: 'head',
  keys: 'head',
  behaviours: 'head',
  behaviourParameters: 'head',
  pollIntervalMs: 'head',
  pollJitterShare: 'head',
  phase: 'head',
  inventoryIntervalMs: 'head',
  connect: 'head',
  download: 'head',
  backOff: 'head',
  link: 'head',
  cohorts: 'head',
  stages: 'head',
  arrivals: 'head',
  scenes: 'head',
  iterations: 'head',
  drainMs: 'head',
  behaviourFiles: 'worker',
  seed: 'head',
  thresholds: 'head',
  abortOnThreshold: 'head',
  checkShare: 'head',
  rampMs: 'head',
  durationMs: 'head',
  until: 'head',
  tenantToken: 'worker',
  headerPrefix: 'head',
  deviceType: 'head',
  acceptWith: 'worker',
  deploy: 'head',
  deploymentName: 'head',
  deploymentId: 'head',
  requestTimeLimitMs: 'head',
  tls: 'worker',
  sourceAddresses: 'worker',
  idPrefix: 'head',
  idData: 'head',
  idDataFile: 'worker',
  rsaPool: 'head',
  state: 'worker',
  ledger: 'worker',
  keyFolder: 'worker',
};

/** What a worker has to have of its own where the plan of the head has it, and how it is given. */
const needed = {
  tenantToken: 'it has no tenant token: start it with FLEETBED_TENANT_TOKEN in its environment',
  certificate: 'it has no client certificate: start it with --cert FILE and --key FILE',
  behaviourFiles: 'it has no behaviour file: start it with --behaviour-file FILE',
  idDataFile: 'it has no id_data: start it with --id-data-csv FILE',
  keyFolder: 'it has no device keys: start it with --key-folder FOLDER',
  state: 'it has no state folder: start it with --state FOLDER',
  ledger: 'it has no ledger: start it with --ledger FILE',
  sourceAddresses: 'it has no source addresses: start it with --source-addresses ADDRESSES',
} as const;

const needsFields = {
  baseUrl: v.string(),
  /** The operator whose password it needs. */
  operator: v.exactOptional(v.string()),
  own: v.array(v.picklist(Object.keys(needed) as (keyof typeof needed)[])),
};
/** What a worker needs to take part in a run. */
export const needsShape = v.strictObject(needsFields);
export type Needs = v.InferOutput<typeof needsShape>;

const isSaidByHead = (name: string): boolean =>
  Object.hasOwn(saidBy, name) && saidBy[name as keyof FleetPlan] === 'head';

/** The head's half, as it is in a job: what is in its fields is checked with the whole plan. */
export const headPlanShape = v.pipe(
  v.record(v.pipe(v.string(), v.check(isSaidByHead, 'is not known in a job')), v.unknown()),
  v.check(({ rsaPool }) => !hasFolder(rsaPool), 'rsaPool.folder is not known in a job'),
);

const hasFolder = (pool: unknown): boolean =>
  typeof pool === 'object' && pool !== null && 'folder' in pool;

/** A worker's half of every plan, from its own command line and environment. */
export interface OwnPlan
  extends Pick<
    FleetPlan,
    | 'baseUrl'
    | 'behaviourFiles'
    | 'tenantToken'
    | 'acceptWith'
    | 'tls'
    | 'sourceAddresses'
    | 'idDataFile'
    | 'state'
    | 'ledger'
    | 'keyFolder'
  > {
  /** Where RSA keys are kept. */
  readonly rsaPoolFolder: string;
}

/** The head's half of the plan, and what it needs of a worker. */
export function dividedPlan(plan: FleetPlan) {
  const entries = Object.entries(plan).filter(([name]) => isSaidByHead(name));
  const { folder: _, ...pool } = plan.rsaPool ?? {};
  const names = Object.keys(needed) as (keyof typeof needed)[];
  const needs: Needs = {
    baseUrl: plan.baseUrl,
    ...(plan.acceptWith && { operator: userName(plan.acceptWith) }),
    own: names.filter((name) => isGiven(plan, name)),
  };
  return { plan: { ...Object.fromEntries(entries), rsaPool: pool }, needs };
}

function isGiven(plan: OwnPlan | FleetPlan, name: keyof typeof needed): boolean {
  if (name === 'certificate') return plan.tls?.certPem !== undefined;
  return plan[name] !== undefined;
}

/**
 * The whole plan of both halves, not yet checked. What the head's plan has not is not used, but what
 * belongs to the worker's machine alone: whom to trust, from where to connect, where keys are kept.
 */
export function wholePlan(half: v.InferOutput<typeof headPlanShape>, needs: Needs, own: OwnPlan) {
  const isNeeded = (name: keyof typeof needed): boolean => needs.own.includes(name);
  const { rsaPoolFolder, baseUrl, acceptWith, tls, sourceAddresses, ...others } = own;
  const { certPem: _, keyPem: __, ...trust } = tls ?? {};
  const entries = Object.entries(others).filter(([name]) => isNeeded(name as keyof typeof others));
  return {
    ...half,
    ...Object.fromEntries(entries),
    baseUrl,
    rsaPool: { ...(half.rsaPool as object | undefined), folder: rsaPoolFolder },
    ...(needs.operator !== undefined && acceptWith && { acceptWith }),
    ...(tls && { tls: isNeeded('certificate') ? tls : trust }),
    ...(sourceAddresses && { sourceAddresses }),
  } as FleetPlan;
}

const TOKEN_USER = 'the user of --token';

function userName(user: NonNullable<FleetPlan['acceptWith']>): string {
  return 'token' in user ? TOKEN_USER : user.email;
}

/** Of a token nobody can tell here whose it is. */
function mayActFor(user: OwnPlan['acceptWith'], operator: string): boolean {
  if (user === undefined) return false;
  return [TOKEN_USER, operator].includes(userName(user)) || operator === TOKEN_USER;
}

/** Why a worker cannot take part, as a clause with the way out; or nothing. */
export function missingIn(
  own: OwnPlan,
  { baseUrl, operator, own: names }: Needs,
): string | undefined {
  if (own.baseUrl !== baseUrl) {
    return `the run is against ${baseUrl}, and its own --url is ${own.baseUrl}`;
  }
  if (operator !== undefined && !mayActFor(own.acceptWith, operator)) {
    return `it cannot log in as ${operator}: start it with FLEETBED_EMAIL and FLEETBED_PASSWORD, or FLEETBED_TOKEN, in its environment`;
  }
  const missing = names.find((name) => !isGiven(own, name));
  return missing && needed[missing];
}
