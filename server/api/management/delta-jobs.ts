/**
 * Lists and shows jobs that make a delta between two artifacts. This server makes no deltas: every
 * job fails at once and says so in its log, and the device gets the whole artifact, as with other
 * servers of this family after a failed delta. The status is `failed`: `queued` would promise
 * further progress, and `success` would promise a file.
 */
import type { DeltaJob, ListedDeltaJob } from '../../../fixtures/contract/management/releases.ts';
import { pathDetail, refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import type { StoredDeltaJob } from '../../store/delta-jobs.ts';
import { deltaJobView } from '../deprecated-fields.ts';
import { pagedResponse } from '../paging.ts';
import { iso } from './views.ts';

export const listDeltaJobs = defineEndpoint('list-delta-jobs', ({ query }, context) => {
  const { deltaJobs } = context.store;
  return pagedResponse(context, query, {
    total: deltaJobs.count(),
    list: (page) => deltaJobs.list(page).map(listedDeltaJob),
  });
});

export const getDeltaJob = defineEndpoint('get-delta-job', ({ parameters }, context) => {
  const job = context.store.deltaJobs.find(parameters.id);
  if (!job)
    return refuse.notFound('no delta job has this ID', pathDetail('id', 'the ID of a delta job'));
  return { status: 200, body: deltaJobView(wholeDeltaJob(job), context.nowMs) };
});

function listedDeltaJob(job: StoredDeltaJob): ListedDeltaJob {
  return {
    id: job.id,
    from_version: job.fromVersion,
    to_version: job.toVersion,
    devices_types_compatible: [...job.deviceTypes],
    started: iso(job.startedMs),
    status: 'failed',
  };
}

function wholeDeltaJob(job: StoredDeltaJob): DeltaJob {
  return {
    ...listedDeltaJob(job),
    deployment_id: job.deploymentId,
    to_artifact_size: job.toSizeBytes,
    exit_code: 1,
    log: `${iso(job.startedMs)} binary deltas are not supported; devices download the whole artifact\n`,
  };
}
