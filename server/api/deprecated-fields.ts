/**
 * The only place that adds deprecated fields to responses: they are sent besides their replacements
 * until their end of life, and are not stored. Spec: Deprecated fields
 */
import type { DeltaJob } from '../../fixtures/contract/management/releases.ts';
import type { Artifact } from '../../fixtures/contract/resources.ts';
import { isPastEndOfLife } from '../pipeline/deprecation.ts';

/** The artifact as it is shown at that moment: `meta_data` beside `metadata`, the same object. */
export function artifactView(artifact: Artifact, nowMs: number): Artifact {
  if (isPastEndOfLife(nowMs) || !artifact.updates) return artifact;
  return {
    ...artifact,
    updates: artifact.updates.map((update) =>
      update.metadata ? { ...update, meta_data: update.metadata } : update,
    ),
  };
}

/** The job as it is shown at that moment: each `…_release` beside its `…_version`. */
export function deltaJobView(job: DeltaJob, nowMs: number): DeltaJob {
  if (isPastEndOfLife(nowMs)) return job;
  return { ...job, from_release: job.from_version, to_release: job.to_version };
}
