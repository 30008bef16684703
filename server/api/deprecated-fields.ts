/**
 * Adds the deprecated fields to responses, and is the only place that does. Each field is sent in
 * addition to its replacement until its end of life, and is never stored.
 * Spec: Deprecated fields
 */
import type { DeltaJob } from '../../fixtures/contract/management/releases.ts';
import type { Artifact } from '../../fixtures/contract/resources.ts';
import { isPastEndOfLife } from '../pipeline/deprecation.ts';
import type { HandlerContext } from '../pipeline/endpoint.ts';

/**
 * Returns the artifact as the API shows it at `nowMs`. Until the end of life, each update has both
 * the object `metadata` and the deprecated `meta_data`, a list of `{Key, Value}`, because released
 * clients cannot read an object there. The dialect meta-data-object sends an object in both.
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

/**
 * Returns the job as the API shows it at `nowMs`: until the end of life, with the deprecated
 * `from_release` and `to_release` in addition to `from_version` and `to_version`.
 */
export function deltaJobView(job: DeltaJob, nowMs: number): DeltaJob {
  if (isPastEndOfLife(nowMs)) return job;
  return { ...job, from_release: job.from_version, to_release: job.to_version };
}
