/** Summarizes the executed plan for a result. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import * as v from 'valibot';
import { jsonInOrder } from '../../fixtures/base/json.ts';
import { cohortsOf } from '../plan/cohort.ts';
import type { FleetPlan } from '../plan/plan.ts';
import { type PlanSummary, planSummaryShape } from './result-plan.ts';

/**
 * Returns the plan without secrets, paths and machine-specific values. Reads the plan's files to
 * compute their digests, so call it only after the files have been found readable.
 */
export async function planSummary(plan: FleetPlan): Promise<PlanSummary> {
  const summary = { ...namedFields(plan), ...(await fileFields(plan)) };
  const digest = createHash('sha256').update(jsonInOrder({ ...summary, seed: plan.seed }));
  return { ...summary, digest: digest.digest('hex') };
}

/** Returns the fields of the published schema only, so that a new secret field cannot leak. */
function namedFields(plan: FleetPlan): PlanSummary {
  const whole = { ...plan, cohorts: cohortsOf(plan) };
  // The JSON round trip removes undefined members, which the schema does not accept.
  return v.parse(planSummaryShape, JSON.parse(JSON.stringify(whole)));
}

async function fileFields({
  behaviourFiles = [],
  idDataFile,
}: FleetPlan): Promise<Pick<PlanSummary, 'files'>> {
  if (behaviourFiles.length === 0 && idDataFile === undefined) return {};
  const behaviours = await Promise.all(behaviourFiles.map(digestOf));
  return {
    files: {
      ...(behaviours.length > 0 && { behaviours }),
      ...(idDataFile !== undefined && { idData: await digestOf(idDataFile) }),
    },
  };
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}
