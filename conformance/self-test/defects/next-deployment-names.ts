/** Defects in the comparison of the installed artifact with the deployed one. */
import { membersOf } from '../../target/json-members.ts';
import { objectOf, ownResponse } from '../alter.ts';
import { responseBecomes } from '../alterations.ts';
import type { Alteration, Defect } from '../defect.ts';
import { everyPoll, pollDataIn } from './next-deployment.ts';

/** Offers nothing to a device whose artifact has almost the name of the offered one. */
function installedIf(
  isEqual: (installedName: string, offeredName: string) => boolean,
): () => Alteration {
  return responseBecomes((response, request) => {
    const offeredName = membersOf(objectOf(response).artifact).artifact_name;
    const installedName = pollDataIn(request).artifact_name;
    if (typeof offeredName !== 'string' || typeof installedName !== 'string') return response;
    return installedName !== offeredName && isEqual(installedName, offeredName)
      ? ownResponse(204)
      : response;
  });
}

const pendingRequirements = [
  'next.get-pending-is-200',
  'next.post-pending-is-200',
  'next.v2-pending-is-200',
] as const;

/** Spec: Device deployments v1, v2 */
export const nextDeploymentNameDefects: readonly Defect[] = [
  {
    id: 'beginning-of-a-release-name-counts-as-installed',
    title:
      'A release counts as installed if the name of the installed artifact starts like its own.',
    violates: pendingRequirements,
    operations: everyPoll,
    alter: installedIf((installedName, offeredName) => offeredName.startsWith(installedName)),
  },
  {
    id: 'longer-name-counts-as-installed',
    title:
      'A release counts as installed if the name of the installed artifact starts with its own.',
    violates: pendingRequirements,
    operations: everyPoll,
    alter: installedIf((installedName, offeredName) => installedName.startsWith(offeredName)),
  },
  {
    id: 'release-name-in-any-case-counts-as-installed',
    title:
      'A release counts as installed if the name of the installed artifact has other capitals.',
    violates: pendingRequirements,
    operations: everyPoll,
    alter: installedIf(
      (installedName, offeredName) => installedName.toLowerCase() === offeredName.toLowerCase(),
    ),
  },
  {
    id: 'only-the-first-artifacts-of-a-release-fit',
    title: 'A device that only the last artifact of a large release fits is offered nothing.',
    violates: ['next.post-pending-is-200'],
    operations: ['post-next-deployment'],
    alter: responseBecomes((response, request) =>
      pollDataIn(request).artifact_group === 'group-30' && response.status === 200
        ? ownResponse(204)
        : response,
    ),
  },
];
