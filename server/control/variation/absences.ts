/**
 * Members that an answer may lack: the contract's field tables do not require them, and no other
 * sentence of it needs them. Not here, although not required: `artifact.source.uri` (the only place
 * of the link), `update_control_map` and its parts (present when the deployment has one), the part
 * of an audit entry's `object` that its type fills, and all of management, whose absences say
 * something (a deployment without `finished` is not).
 */
import type { Place } from './places.ts';

function artifactAt(prefix: string): readonly Place[] {
  return ['description', 'info', 'info.format', 'info.version', 'signed', 'size']
    .concat(['artifact_provides', 'artifact_depends', 'clears_artifact_provides'])
    .concat(['updates', 'updates.*.files', 'updates.*.meta_data', 'updates.*.metadata'])
    .concat(['updates.*.files.*.checksum', 'updates.*.files.*.size', 'updates.*.files.*.date'])
    .map((member) => prefix + member);
}

const instructionsV1: readonly Place[] = ['artifact.id', 'artifact.source.expire'];

const removable: Readonly<Record<string, readonly Place[]>> = {
  'list-artifacts': artifactAt('*.'),
  'get-artifact': artifactAt(''),
  'get-next-deployment': instructionsV1,
  'post-next-deployment': instructionsV1,
  'post-next-deployment-v2': ['artifact.source.expire'],
  'list-audit-logs': [
    '*.actor.email',
    '*.actor.identity_data',
    '*.object.tenant.name',
    '*.object.tenant.parent',
    '*.object.device.id',
    '*.change',
  ],
};

/** Errors, rule 1, lets a refusal carry both; the words stay, since nothing else says why. */
const ofRefusals: readonly Place[] = ['request_id'];

/** The members that this answer may lack. */
export function removableMembers(
  operationId: string | undefined,
  status: number,
): readonly Place[] {
  if (status >= 400) return ofRefusals;
  return (operationId !== undefined && removable[operationId]) || [];
}

/** Every operation with its removable members. */
export const removableByOperation = removable;
