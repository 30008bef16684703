/**
 * Decides which deployments a user may see and change. A user limited to groups sees the
 * deployments of devices in those groups.
 */
import { pathDetail, type Refusal, refuse, roleDetail } from '../../http/refusal.ts';
import type { UserContext } from '../../pipeline/endpoint.ts';
import { hasBegun } from '../../rules/provisioning.ts';
import type { StoredDeployment } from '../../store/deployments.ts';

const noSuchDeployment = refuse.notFound(
  'no deployment has this ID',
  pathDetail('id', 'the ID of a deployment'),
);
const notAnId = refuse.malformed(
  'path: id: must be the UUID of a deployment',
  pathDetail('id', 'a UUID, such as 00000000-0000-4000-8000-000000000001'),
);
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const otherGroups = refuse.forbidden(
  "none of the deployment's devices is in the groups of the user's roles",
  roleDetail('a deployment with a device in one of these groups'),
);
const furtherGroups = refuse.forbidden(
  "some of the deployment's devices are not in the groups of the user's roles",
  roleDetail('a deployment whose devices are all in these groups'),
);

type DeploymentContext = Pick<UserContext, 'store' | 'user' | 'settings' | 'nowMs'>;

/**
 * Returns the deployment with this ID; 400 if the ID is not a UUID, 404 if it is unknown, 403 if
 * the user may access none of its devices.
 */
export function visibleDeployment(
  context: DeploymentContext,
  id: string,
): StoredDeployment | Refusal {
  return reachable(context, id, ({ inside }) => (inside > 0 ? undefined : otherGroups));
}

/**
 * Returns the deployment with this ID for a change that affects all its devices; 403 unless the
 * user may access all of them.
 */
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
