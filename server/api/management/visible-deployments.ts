/** Which deployments a user may see and change: by the groups that their devices are in. */
import { type Refusal, refuse } from '../../http/refusal.ts';
import { hasBegun } from '../../rules/provisioning.ts';
import type { StoredDeployment } from '../../store/deployments.ts';
import type { UserContext } from './visible-devices.ts';

const noSuchDeployment = refuse.notFound('there is no deployment with this id');
const notAnId = refuse.malformed('path: id: must be the UUID of a deployment');
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const otherGroups = refuse.forbidden(
  "none of the deployment's devices is in a group that the user's roles are limited to",
);
const furtherGroups = refuse.forbidden(
  "some of the deployment's devices are in none of the groups that the user's roles are limited to",
);

type DeploymentContext = Pick<UserContext, 'store' | 'user' | 'settings' | 'nowMs'>;

/** The deployment of an id; 400 for an id that is no UUID, 404 when there is none, 403 when none of its devices is the user's. */
export function visibleDeployment(
  context: DeploymentContext,
  id: string,
): StoredDeployment | Refusal {
  const { store, user } = context;
  const deployment = begunDeployment(context, id);
  if (!deployment) return missing(id);
  if (!user.groups) return deployment;
  return store.deployments.reach(deployment, user.groups).inside > 0 ? deployment : otherGroups;
}

/** The deployment of an id, to be changed for all its devices; 403 unless each one is the user's. */
export function changeableDeployment(
  context: DeploymentContext,
  id: string,
): StoredDeployment | Refusal {
  const { store, user } = context;
  const deployment = begunDeployment(context, id);
  if (!deployment) return missing(id);
  if (!user.groups) return deployment;
  return store.deployments.reach(deployment, user.groups).outside === 0
    ? deployment
    : furtherGroups;
}

function missing(id: string): Refusal {
  return uuid.test(id) ? noSuchDeployment : notAnId;
}

function begunDeployment(
  { store, settings, nowMs }: DeploymentContext,
  id: string,
): StoredDeployment | undefined {
  const deployment = store.deployments.find(id);
  return deployment && hasBegun(deployment, settings, nowMs) ? deployment : undefined;
}
