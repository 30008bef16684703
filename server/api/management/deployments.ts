/**
 * Lists, reads, changes and aborts deployments in the management API. `new-deployment.ts` creates
 * them; `../device/` has the device API.
 */
import { JsonList } from '../../http/json-list.ts';
import { Refusal, refuse, stateDetail } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import { abortRefusalReason, controlMapRefusalReason } from '../../rules/deployment-progress.ts';
import { provisioningDelayMs } from '../../rules/provisioning.ts';
import type { DeploymentFilter, StoredDeployment } from '../../store/deployments.ts';
import type { Store } from '../../store/store.ts';
import { audit, deploymentObject, userActor } from '../../tenants/audit.ts';
import { ifGiven } from '../optional.ts';
import { millisecondsOf, pagedResponse } from '../paging.ts';
import { deploymentView, statisticsView } from './views.ts';
import { changeableDeployment, visibleDeployment } from './visible-deployments.ts';

/** The query parameters that both versions of the deployment list share. */
interface ListQuery {
  readonly page: number;
  readonly per_page: number;
  readonly sort: 'asc' | 'desc';
  readonly status?: DeploymentFilter['status'] | undefined;
  readonly type?: DeploymentFilter['type'] | undefined;
  readonly created_before?: number | undefined;
  readonly created_after?: number | undefined;
}

/** The refusal detail for a change of a finished deployment. */
const finishedDeployment = {
  ...stateDetail('an unfinished deployment', 'a finished deployment'),
  remedy: 'nothing to abort; create another deployment if needed',
};
/** The refusal detail for a change of the control map of a deployment without one. */
const withoutMap = {
  ...stateDetail('a deployment that was created with an update_control_map', 'one without'),
  remedy: 'create another deployment with a map',
};

export const listDeployments = defineEndpoint('list-deployments', ({ query }, context) =>
  listPage(context, query, { id: query.id, name: query.name }),
);

export const listDeploymentsV1 = defineEndpoint('list-deployments-v1', ({ query }, context) => {
  return listPage(context, query, { id: [], name: [], search: query.search });
});

function listPage(
  context: UserContext,
  query: ListQuery,
  wanted: Pick<DeploymentFilter, 'id' | 'name' | 'search'>,
) {
  const { store, user, settings, nowMs } = context;
  // Under asynchronous-provisioning, a configuration deployment starts and becomes visible after a
  // delay.
  const latestMs = provisioningDelayMs(settings) > 0 ? nowMs : Number.POSITIVE_INFINITY;
  const beforeMs = ifGiven(query.created_before, millisecondsOf) ?? Number.POSITIVE_INFINITY;
  const createdBeforeMs = Math.min(latestMs, beforeMs);
  const filter: DeploymentFilter = {
    ...wanted,
    status: query.status,
    type: query.type,
    createdBeforeMs: Number.isFinite(createdBeforeMs) ? createdBeforeMs : undefined,
    createdAfterMs: ifGiven(query.created_after, millisecondsOf),
    groups: user.groups,
  };
  return pagedResponse(context, query, {
    total: store.deployments.count(filter),
    list: (page) =>
      JsonList.ofEach(
        store.deployments.list(filter, query.sort, page),
        (deployment) => shownDeployment(store, deployment),
        context,
      ),
  });
}

/**
 * Returns the view of a deployment, with the statistics of its devices and the IDs of its
 * artifacts.
 */
export function shownDeployment(store: Store, deployment: StoredDeployment) {
  const isSoftware = deployment.type === 'software';
  return deploymentView(deployment, {
    counts: store.deviceDeployments.statistics(deployment),
    offered: deployment.phases ? store.deviceDeployments.countOffered(deployment) : 0,
    artifactIds: isSoftware ? store.artifacts.listIdsOfName(deployment.artifactName) : [],
    configuration: isSoftware ? undefined : store.deployments.configurationOf(deployment),
  });
}

export const getDeployment = defineEndpoint('get-deployment', ({ parameters }, context) => {
  const deployment = visibleDeployment(context, parameters.id);
  if (deployment instanceof Refusal) return deployment;
  return { status: 200, body: shownDeployment(context.store, deployment) };
});

export const getDeploymentStatistics = defineEndpoint(
  'get-deployment-statistics',
  ({ parameters }, context) => {
    const deployment = visibleDeployment(context, parameters.id);
    if (deployment instanceof Refusal) return deployment;
    return {
      status: 200,
      body: statisticsView(context.store.deviceDeployments.statistics(deployment)),
    };
  },
);

export const listDeploymentStatistics = defineEndpoint(
  'list-deployment-statistics',
  ({ body }, context) => {
    const statistics = [];
    for (const id of new Set(body.deployment_ids)) {
      const deployment = visibleDeployment(context, id);
      if (deployment instanceof Refusal) return deployment;
      statistics.push({
        id,
        stats: statisticsView(context.store.deviceDeployments.statistics(deployment)),
      });
    }
    return { status: 200, body: statistics };
  },
);

/** Replaces the control map. Paused devices get the new map with their next request. */
export const updateDeployment = defineEndpoint(
  'update-deployment',
  ({ parameters, body }, context) => {
    const deployment = changeableDeployment(context, parameters.id);
    if (deployment instanceof Refusal) return deployment;
    const reason = controlMapRefusalReason(deployment);
    if (reason !== undefined) {
      return refuse.conflict(reason, deployment.controlMap ? finishedDeployment : withoutMap);
    }
    context.store.deployments.setControlMap(deployment, body.update_control_map);
    audit(context, {
      actor: userActor(context.user),
      action: 'update',
      object: deploymentObject(deployment),
      change: `update_control_map: ${JSON.stringify(body.update_control_map)}`,
    });
    return { status: 204 };
  },
);

export const abortDeployment = defineEndpoint('abort-deployment', ({ parameters }, context) => {
  const { store, user, nowMs } = context;
  const deployment = changeableDeployment(context, parameters.id);
  if (deployment instanceof Refusal) {
    // 422 as in the reference implementation: 404 would hide that a finished deployment exists.
    return deployment.status === 404
      ? refuse.unprocessable(deployment.error, deployment.detail)
      : deployment;
  }
  const reason = abortRefusalReason(deployment);
  if (reason !== undefined) return refuse.unprocessable(reason, finishedDeployment);
  store.deviceDeployments.abortAll(deployment, nowMs);
  const object = deploymentObject(deployment);
  audit(context, { actor: userActor(user), action: 'abort', object });
  return { status: 204 };
});
