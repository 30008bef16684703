/**
 * Verifies and parses a job from Redis. Its content is used only after its signature has shown that
 * the coordinator wrote it.
 */
import * as v from 'valibot';
import { printable } from '../../../fixtures/base/printable.ts';
import { knownBehaviours } from '../../behaviours/catalogue.ts';
import { type FleetPlan, PlanError } from '../../engine/simulate-fleet.ts';
import {
  type OwnPlan,
  sentPlanShape,
  type WorkerNeeds,
  wholePlan,
} from '../../plan/divided-plan.ts';
import { planOf } from '../../plan/plan.ts';
import { shardOf } from './run-keys.ts';
import type { RunSigner } from './run-signer.ts';

/** A shard to run, with the complete plan. */
export interface ShardJob {
  readonly shard: number;
  readonly plan: FleetPlan;
  /** True when the worker must send its events to the coordinator. */
  readonly sendsEvents: boolean;
}

const JOB_MAX_CHARACTERS = 2 ** 20;
const SENTENCE_MAX_CHARACTERS = 300;
const jobShape = v.strictObject({ plan: sentPlanShape, sendsEvents: v.boolean() });

/** The signer for verifying a job, and the worker's part of the plan. */
interface JobContext {
  readonly signer: RunSigner;
  readonly needs: WorkerNeeds;
  readonly workerPlan: OwnPlan;
}

/** Returns the job, or the reason for refusing it as a clause. */
export function jobIn(
  { id = '', data }: { readonly id?: string | undefined; readonly data: unknown },
  { signer, needs, workerPlan }: JobContext,
): ShardJob | string {
  const shard = shardOf(id);
  if (shard === undefined || typeof data !== 'string')
    return 'it does not come from the coordinator of its run';
  const text = signer.open(['job', shard], data, JOB_MAX_CHARACTERS);
  if (text === undefined) return 'it is not signed with the --worker-secret of this worker';
  try {
    const { plan: half, sendsEvents } = v.parse(jobShape, JSON.parse(text));
    const plan = planOf(wholePlan(half, needs, workerPlan), knownBehaviours);
    if (plan.shard?.index !== shard) return 'it is for another shard';
    return { shard, plan, sendsEvents };
  } catch (error) {
    return printable(reasonOf(error), SENTENCE_MAX_CHARACTERS);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof PlanError) return `its plan is wrong: ${error.message}`;
  if (!v.isValiError(error)) return `it cannot be read: ${String(error)}`;
  const [issue] = error.issues;
  const field = v.getDotPath(issue) ?? 'it';
  return issue.expected === 'never'
    ? `${field} is not known in a job`
    : `${field} ${issue.message}`;
}
