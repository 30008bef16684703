/**
 * Divides the plan of a run on workers into two parts. The coordinator's part is data and passes
 * through Redis. The server address, all secrets and all paths come from each worker itself, so
 * that write access to Redis can neither redirect a password nor choose the files that are read.
 */
import * as v from 'valibot';
import type { PlanOption } from './option-row.ts';
import { options } from './options.ts';
import type { FleetPlan, PlanInput } from './plan.ts';

const rows: readonly (readonly [string, PlanOption])[] = Object.entries(options);
/** Names of plan values that the coordinator sends: its options, and values that have no option. */
const coordinatorFields = new Set([
  ...rows.flatMap(([name, { owner }]) => (owner === undefined ? [name] : [])),
  'shard',
  'deploymentId',
]);

/**
 * Values that a worker must supply itself when the coordinator's plan has them, each with a clause
 * that tells the user how to supply it.
 */
const lackSentences: Readonly<Record<string, string>> = {
  tenantToken: 'it has no tenant token: start it with FLEETBED_TENANT_TOKEN in its environment',
  certificate: 'it has no client certificate: start it with --cert FILE and --key FILE',
  ...Object.fromEntries(
    rows.flatMap(([name, { lack, flag = '' }]) =>
      lack === undefined ? [] : [[name, `it has no ${lack}: start it with ${usageOf(flag)}`]],
    ),
  ),
};

/** Turns the flag `--state <folder>` into the usage `--state FOLDER`. */
function usageOf(flag: string): string {
  return flag.replace(/<(\w+)>/, (_, value: string) => value.toUpperCase());
}

const needsFields = {
  url: v.string(),
  /** The user whose credentials the worker needs. */
  login: v.exactOptional(v.string()),
  own: v.array(v.picklist(Object.keys(lackSentences))),
};
/** Schema of the values that a worker needs of its own to take part in a run. */
export const needsShape = v.strictObject(needsFields);
export type WorkerNeeds = v.InferOutput<typeof needsShape>;

const belongsToCoordinator = (name: string): boolean => coordinatorFields.has(name);

/**
 * Schema of the coordinator's part as stored in a job. Its values are checked later, with the whole
 * plan.
 */
export const sentPlanShape = v.record(
  v.pipe(v.string(), v.check(belongsToCoordinator, 'is not known in a job')),
  v.unknown(),
);

/** A worker's own part of every plan, from its command line and its environment. */
export interface OwnPlan
  extends Omit<PlanInput, 'accept' | 'email' | 'password' | 'token' | 'ca' | 'cert' | 'key'> {
  readonly url: string;
}

/** Returns the coordinator's part of the plan, and the values that a worker needs of its own. */
export function dividedPlan(input: OwnPlan) {
  const entries = Object.entries(input).filter(([name]) => belongsToCoordinator(name));
  const needs: WorkerNeeds = {
    url: input.url,
    ...(input.acceptWith && { login: userName(input.acceptWith) }),
    own: Object.keys(lackSentences).filter((name) => isGiven(input, name)),
  };
  return { input: Object.fromEntries(entries), needs };
}

function isGiven(input: OwnPlan, name: string): boolean {
  if (name === 'certificate') return input.tls?.certPem !== undefined;
  return new Map(Object.entries(input)).get(name) !== undefined;
}

/**
 * Combines both parts into a plan that is not yet checked. A value of the worker is ignored when
 * the coordinator's plan does not have it, except for values that belong to the worker's machine:
 * trusted certificates, source addresses and key folder.
 */
export function wholePlan(
  half: v.InferOutput<typeof sentPlanShape>,
  needs: WorkerNeeds,
  workerPlan: OwnPlan,
): object {
  const isNeeded = (name: string): boolean => needs.own.includes(name);
  const { rsaPoolFolder, url, acceptWith, tls, sourceAddresses, ...otherMembers } = workerPlan;
  const { certPem: _, keyPem: __, ...trust } = tls ?? {};
  const entries = Object.entries(otherMembers).filter(([name]) => isNeeded(name));
  return {
    ...half,
    ...Object.fromEntries(entries),
    url,
    rsaPoolFolder,
    sourceAddresses,
    ...(needs.login !== undefined && { acceptWith }),
    ...(tls && { tls: isNeeded('certificate') ? tls : trust }),
  };
}

const TOKEN_USER = 'the user of --token';

function userName(user: NonNullable<FleetPlan['acceptWith']>): string {
  return 'token' in user ? TOKEN_USER : user.email;
}

/**
 * Returns true when the user of the worker may be that of the coordinator. For a token this cannot
 * be checked, because its owner is unknown here.
 */
function mayActFor(user: OwnPlan['acceptWith'], login: string): boolean {
  if (user === undefined) return false;
  return [TOKEN_USER, login].includes(userName(user)) || login === TOKEN_USER;
}

/**
 * Returns the reason why a worker cannot take part, as a clause with the remedy; undefined when it
 * can.
 */
export function missingIn(
  workerPlan: OwnPlan,
  { url, login, own: names }: WorkerNeeds,
): string | undefined {
  if (workerPlan.url !== url) {
    return `the run is against ${url}, but the --url of this worker is ${workerPlan.url}`;
  }
  if (login !== undefined && !mayActFor(workerPlan.acceptWith, login)) {
    return `it cannot log in as ${login}: start it with FLEETBED_EMAIL and FLEETBED_PASSWORD, or FLEETBED_TOKEN, in its environment`;
  }
  const missing = names.find((name) => !isGiven(workerPlan, name));
  return missing && lackSentences[missing];
}
