/** Planted defects of deployments: asking for one, its status, its log. */
import { jsonOf, objectOf, ownAnswer } from '../alter.ts';
import type { Defect } from '../defect.ts';
import { dropped, fieldLeftOut, statusBecomes } from '../plants.ts';

const statuses: readonly unknown[] = [
  'installing',
  'pause_before_installing',
  'downloading',
  'pause_before_rebooting',
  'rebooting',
  'pause_before_committing',
  'success',
  'failure',
  'already-installed',
];

export const deploymentDefects: readonly Defect[] = [
  {
    id: 'status-report-after-abort-is-204',
    title: 'A status that is reported after the abort is answered 204.',
    breaks: ['status.aborted-is-409'],
    operations: ['put-deployment-status'],
    plant: statusBecomes(409, 204),
  },
  {
    id: 'report-without-status-is-204',
    title: 'A report without a status is answered 204.',
    breaks: ['status.is-required'],
    operations: ['put-deployment-status'],
    plant: statusBecomes(400, 204, (request) => {
      const body = jsonOf(request);
      return typeof body === 'object' && body !== null && !('status' in body);
    }),
  },
  {
    id: 'status-report-is-dropped',
    title: 'A status is answered 204 and forgotten.',
    breaks: ['status.becomes-the-state', 'next.finished-is-over', 'status.substate'],
    operations: ['put-deployment-status'],
    plant: dropped(204, (request) => statuses.includes(objectOf(request).status)),
  },
  {
    id: 'instructions-lack-the-artifact-name',
    title: 'The instructions do not name the artifact.',
    breaks: ['next.instructions-v1', 'next.instructions-v2'],
    operations: ['get-next-deployment', 'post-next-deployment', 'post-next-deployment-v2'],
    plant: fieldLeftOut('artifact.artifact_name'),
  },
  {
    id: 'abort-is-not-passed-on',
    title: 'An abort by a user changes nothing for the device.',
    breaks: ['status.aborted-is-409', 'status.aborted-stays', 'next.aborted-is-over'],
    operations: ['abort-deployment'],
    plant: () => ({ request: ({ body }) => (body.length > 0 ? ownAnswer(204) : ownAnswer(400)) }),
  },
];
