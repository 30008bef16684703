/** Deployments, for users. What devices do with them is in `endpoints/`. */
import { limits } from '../../fixtures/contract/limits.ts';
import type { NewDeployment } from '../../fixtures/contract/management/deployments.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { audit, deploymentObject, userActor } from '../audit.ts';
import { digestOf } from '../crypto/digest.ts';
import { type CallingUser, defineEndpoint, type RequestContext } from '../http/endpoint.ts';
import { pagingHeaders } from '../http/paging.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import type { NewDeployment as NewStoredDeployment } from '../store/deployments.ts';
import { deploymentView, statisticsView } from './views.ts';

type UserContext = RequestContext & { readonly user: CallingUser };

const noSuchDeployment = refuse.notFound('there is no deployment of this id');

export const createDeployment = defineEndpoint('create-deployment', ({ body }, context) => {
  const deviceIds = chosenDevices(context, body);
  if (deviceIds instanceof Refusal) return deviceIds;
  const { store } = context;
  if (store.artifacts.findByName(body.artifact_name).length === 0) {
    return refuse.unprocessable(`there is no artifact of the name ${body.artifact_name}`);
  }
  const deployment = {
    type: 'software',
    name: body.name,
    artifactName: body.artifact_name,
    deviceIds,
    forceInstallation: body.force_installation ?? false,
    ...(body.update_control_map && { controlMap: body.update_control_map }),
  } as const;
  const id = openDeployment(context, deployment);
  if (id instanceof Refusal) return id;
  const location = pathOf(managementOperations['get-deployment'], { id });
  return { status: 201, headers: { Location: location } };
});

/** Creates a deployment, makes it known to its devices and writes the audit entry; its id. */
export function openDeployment(
  context: UserContext,
  wanted: Omit<NewStoredDeployment, 'id' | 'deviceDigest' | 'nowMs'> & { readonly id?: string },
): string | Refusal {
  const { store, random, nowMs } = context;
  const deviceDigest = digestOf(wanted.deviceIds.toSorted().join('\n'));
  const deployment = { id: random.uuid(), ...wanted, deviceDigest, nowMs };
  const identical = store.deployments.findIdenticalActive(deployment);
  if (identical) {
    return refuse.conflict(`an identical deployment is active: ${identical.id}`);
  }
  store.deployments.create(deployment);
  store.parts.expectWork(deployment.deviceIds);
  audit(context, {
    actor: userActor(context.user),
    action: 'create',
    object: deploymentObject(deployment),
  });
  return deployment.id;
}

function chosenDevices({ store }: UserContext, body: NewDeployment): string[] | Refusal {
  if ((body.devices !== undefined) === (body.all_devices === true)) {
    return refuse.malformed('body: give either devices, a list of ids, or all_devices: true');
  }
  if (!body.devices) {
    const all = store.devices.acceptedIds(limits.deploymentDevicesMax);
    return all.length > 0 ? all : refuse.malformed('body: all_devices: no device is accepted yet');
  }
  const stranger = body.devices.find((id) => !store.devices.find(id));
  if (stranger !== undefined) return refuse.malformed(`body: devices: ${stranger} is unknown`);
  return [...new Set(body.devices)];
}

export const listDeployments = defineEndpoint(
  'list-deployments',
  ({ query }, { store, request }) => {
    const filter = {
      id: query.id,
      name: query.name,
      ...(query.status && { status: query.status }),
    };
    const page = { page: query.page, perPage: query.per_page };
    const total = store.deployments.count(filter);
    return {
      status: 200,
      headers: pagingHeaders({ url: request.url ?? '', total, ...page }),
      body: store.deployments
        .list(filter, query.sort, page)
        .map((deployment) => deploymentView(deployment, store.parts.statistics(deployment))),
    };
  },
);

export const getDeployment = defineEndpoint('get-deployment', ({ parameters }, { store }) => {
  const deployment = store.deployments.find(parameters.id);
  if (!deployment) return noSuchDeployment;
  return { status: 200, body: deploymentView(deployment, store.parts.statistics(deployment)) };
});

export const getDeploymentStatistics = defineEndpoint(
  'get-deployment-statistics',
  ({ parameters }, { store }) => {
    const deployment = store.deployments.find(parameters.id);
    if (!deployment) return noSuchDeployment;
    return { status: 200, body: statisticsView(store.parts.statistics(deployment)) };
  },
);

export const abortDeployment = defineEndpoint('abort-deployment', ({ parameters }, context) => {
  const { store, user, nowMs } = context;
  const deployment = store.deployments.find(parameters.id);
  if (!deployment) return noSuchDeployment;
  if (deployment.finishedMs !== undefined) {
    return refuse.unprocessable('the deployment is already finished');
  }
  store.parts.abortAll(deployment, nowMs);
  const object = deploymentObject(deployment);
  audit(context, { actor: userActor(user), action: 'abort', object });
  return { status: 204 };
});
