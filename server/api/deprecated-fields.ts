/**
 * The only place that adds deprecated fields to responses: they are sent besides their replacements
 * until their end of life, and are not stored. Spec: Deprecated fields
 */
import type { DeltaJob } from '../../fixtures/contract/management/releases.ts';
import type { Artifact } from '../../fixtures/contract/resources.ts';
import { isPastEndOfLife } from '../pipeline/deprecation.ts';
import type { HandlerContext } from '../pipeline/endpoint.ts';

/**
 * The artifact as it is shown at that moment. Beside the object `metadata` stands `meta_data`, a
 * list of `{Key, Value}`: released clients cannot read it as an object. The dialect
 * meta-data-object gives them the object.
 */
export function artifactView(
  artifact: Artifact,
  { nowMs, settings }: Pick<HandlerContext, 'nowMs' | 'settings'>,
): Artifact {
  if (isPastEndOfLife(nowMs) || !artifact.updates) return artifact;
  const isObject = settings.dialects.has('meta-data-object');
  return {
    ...artifact,
    updates: artifact.updates.map(({ metadata, ...update }) =>
      metadata
        ? { ...update, meta_data: isObject ? metadata : keysAndValues(metadata), metadata }
        : update,
    ),
  };
}

function keysAndValues(metadata: Readonly<Record<string, unknown>>) {
  return Object.entries(metadata).map(([Key, Value]) => ({ Key, Value }));
}

/** The job as it is shown at that moment: each `…_release` beside its `…_version`. */
export function deltaJobView(job: DeltaJob, nowMs: number): DeltaJob {
  if (isPastEndOfLife(nowMs)) return job;
  return { ...job, from_release: job.from_version, to_release: job.to_version };
}
