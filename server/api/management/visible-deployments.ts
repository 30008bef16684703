/** Which deployments a user may see and change: by the groups that their devices are in. */
import { inPath, ofRoles, type Refusal, refuse } from '../../http/refusal.ts';
import { hasBegun } from '../../rules/provisioning.ts';
import type { StoredDeployment } from '../../store/deployments.ts';
import type { UserContext } from './visible-devices.ts';

const noSuchDeployment = refuse.notFound(
  'no deployment has this id',
  inPath('id', 'the id of a deployment'),
);
const notAnId = refuse.malformed(
  'path: id: must be the UUID of a deployment',
  inPath('id', 'a UUID, such as 00000000-0000-4000-8000-000000000001'),
);
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const otherGroups = refuse.forbidden(
  "none of the deployment's devices is in the groups of the user's roles",
  ofRoles('a deployment with a device in one of these groups'),
);
const furtherGroups = refuse.forbidden(
  "some of the deployment's devices are not in the groups of the user's roles",
  ofRoles('a deployment whose devices are all in these groups'),
);

type DeploymentContext = Pick<UserContext, 'store' | 'user' | 'settings' | 'nowMs'>;

/**
 * The deployment of an id; 400 for an id that is not a UUID, 404 for an unknown one, 403 when the
 * user may see none of its devices.
 */
export function visibleDeployment(
  context: DeploymentContext,
  id: string,
): StoredDeployment | Refusal {
  return reachable(context, id, ({ inside }) => (inside > 0 ? undefined : otherGroups));
}

/** The deployment of an id, to be changed for all its devices; 403 unless the user may see each. */
export function changeableDeployment(
  context: DeploymentContext,
  id: string,
): StoredDeployment | Refusal {
  return reachable(context, id, ({ outside }) => (outside === 0 ? undefined : furtherGroups));
}

function reachable(
  context: DeploymentContext,
  id: string,
  refusalFor: (reach: { readonly inside: number; readonly outside: number }) => Refusal | undefined,
): StoredDeployment | Refusal {
  const { store, user, settings, nowMs } = context;
  const deployment = store.deployments.find(id);
  if (!deployment || !hasBegun(deployment, settings, nowMs)) {
    return uuid.test(id) ? noSuchDeployment : notAnId;
  }
  if (!user.groups) return deployment;
  return refusalFor(store.deployments.reach(deployment, user.groups)) ?? deployment;
}
