/** The phases of a plan's deployment: which share of the devices is updated from which time on. */
import * as v from 'valibot';
import { limits } from '../../fixtures/contract/limits.ts';
import type { GivenPhase } from '../../fixtures/contract/management/deployments.ts';
import { duration, wholeNumber, withoutUndefined } from './plan-values.ts';

/** Schema of a phase of a deployment: its share of the devices, and its start. */
export const deploymentPhase = v.pipe(
  v.strictObject({
    /** Percentage of the devices. The last phase may omit it and then has all remaining devices. */
    batch: v.optional(wholeNumber(1, 100)),
    /** Start of the phase, measured from the creation of the deployment. */
    after: v.optional(duration(0)),
  }),
  v.transform(({ batch, after }) => withoutUndefined({ batchPercent: batch, afterMs: after })),
);

/** Schema of the list of phases, in order. Together they include all devices. */
export const deploymentPhases = v.pipe(
  v.array(deploymentPhase, 'must be a list of phases'),
  v.minLength(1, 'must have at least one phase'),
  v.maxLength(limits.deploymentPhasesMax, `must have at most ${limits.deploymentPhasesMax} phases`),
  v.check(
    (phases) => addUp(phases),
    'must add up to 100 percent; only the last phase may leave its batch out',
  ),
  v.check(
    (phases) =>
      phases.every(({ afterMs = 0 }, at) => at === 0 || afterMs > (phases[at - 1]?.afterMs ?? 0)),
    'must each begin later than the phase before (after)',
  ),
);

type DeploymentPhase = v.InferOutput<typeof deploymentPhase>;

/** Returns the phases in the format of the API, for a deployment that is created now. */
export function givenPhases(phases: readonly DeploymentPhase[], nowMs: number): GivenPhase[] {
  return phases.map(({ batchPercent, afterMs = 0 }) => ({
    ...(batchPercent !== undefined && { batch_size: batchPercent }),
    ...(afterMs > 0 && { start_ts: new Date(nowMs + afterMs).toISOString() }),
  }));
}

function addUp(phases: readonly DeploymentPhase[]): boolean {
  const batches = phases.map(({ batchPercent }) => batchPercent);
  const isOpen = batches.at(-1) === undefined;
  const shares = isOpen ? batches.slice(0, -1) : batches;
  const percent = shares.reduce<number>((sum, share) => sum + (share ?? Number.NaN), 0);
  return isOpen ? percent < 100 : percent === 100;
}
