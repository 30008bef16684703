/** The devices' parts in deployments, for users. */
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import { audit, deviceObject, userActor } from '../audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { pagingHeaders } from '../http/paging.ts';
import { refuse } from '../http/refusal.ts';
import { deploymentDeviceView } from './views.ts';

const statusWords: readonly string[] = [...deviceDeploymentStatuses, 'pause', 'active', 'finished'];

export const listDeploymentDevices = defineEndpoint(
  'list-deployment-devices',
  ({ parameters, query }, { store, request }) => {
    const { status } = query;
    if (status !== undefined && !statusWords.includes(status)) {
      return refuse.malformed(`query: status: must be one of ${statusWords.join(', ')}`);
    }
    const deployment = store.deployments.find(parameters.id);
    if (!deployment) return refuse.notFound('there is no deployment of this id');
    const page = { page: query.page, perPage: query.per_page };
    const total = store.parts.count(deployment, status);
    return {
      status: 200,
      headers: pagingHeaders({ url: request.url ?? '', total, ...page }),
      body: store.parts.list(deployment, status, page).map(deploymentDeviceView),
    };
  },
);

export const getDeploymentLog = defineEndpoint(
  'get-deployment-log',
  ({ parameters }, { store }) => {
    const log = store.parts.findLog(parameters.id, parameters.device_id);
    if (log === undefined) return refuse.notFound('this device has sent no log of this deployment');
    return { status: 200, body: log };
  },
);

/** Aborts what is unfinished on one device; the other devices go on. */
export const abortDeviceDeployments = defineEndpoint(
  'abort-device-deployments',
  ({ parameters }, context) => {
    const { store, user, nowMs } = context;
    const device = store.devices.find(parameters.id);
    if (!device) return refuse.notFound('there is no device of this id');
    store.parts.endAllOf(device.id, 'aborted', nowMs);
    const object = deviceObject(device);
    audit(context, { actor: userActor(user), action: 'abort', object });
    return { status: 204 };
  },
);
