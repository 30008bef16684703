/** The state of a whole deployment, made from its devices' parts. */
import type {
  DeploymentStatusOverall,
  DeviceDeploymentStatus,
} from '../../fixtures/contract/vocabulary.ts';

/** Of a part that has done nothing yet. */
export const initialStatus = 'pending' satisfies DeviceDeploymentStatus;

/** Finished once every part is over; in progress as soon as one has left pending. */
export function statusOf(
  deployment: { readonly finishedMs?: number },
  statistics: ReadonlyMap<string, number>,
): DeploymentStatusOverall {
  if (deployment.finishedMs !== undefined) return 'finished';
  const begun = [...statistics].some(([status, count]) => status !== initialStatus && count > 0);
  return begun ? 'inprogress' : 'pending';
}
