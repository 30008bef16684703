/** Lists the devices of a deployment and the deployments of a device, and aborts or resets them. */
import type { DeploymentDevice } from '../../../fixtures/contract/management/deployments.ts';
import { JsonList } from '../../http/json-list.ts';
import { Refusal, refuse, stateDetail } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import type { StoredArtifact } from '../../store/artifacts.ts';
import type { StoredDeviceDeployment } from '../../store/device-deployment-rows.ts';
import type { Store } from '../../store/store.ts';
import { audit, deviceObject, userActor } from '../../tenants/audit.ts';
import { pagedResponse } from '../paging.ts';
import { shownDeployment } from './deployments.ts';
import { deploymentDeviceView } from './views.ts';
import { visibleDeployment } from './visible-deployments.ts';
import { visibleDevice } from './visible-devices.ts';

export const listDeploymentDevices = defineEndpoint(
  'list-deployment-devices',
  ({ parameters, query }, context) => {
    const { store, user } = context;
    const deployment = visibleDeployment(context, parameters.id);
    if (deployment instanceof Refusal) return deployment;
    const filter = { status: query.status, groups: user.groups };
    return pagedResponse(context, query, {
      total: store.deviceDeployments.count(deployment, filter),
      list: (page) =>
        shownDeviceDeployments(store.deviceDeployments.list(deployment, filter, page), context),
    });
  },
);

/** Returns all device deployments in one response, because version 1 had no pages. */
export const listDeploymentDevicesV1 = defineEndpoint(
  'list-deployment-devices-v1',
  async ({ parameters }, context) => {
    const { store, user } = context;
    const deployment = visibleDeployment(context, parameters.deployment_id);
    if (deployment instanceof Refusal) return deployment;
    const deviceDeployments = store.deviceDeployments.readEach(deployment, {
      groups: user.groups,
    });
    return { status: 200, body: await shownDeviceDeployments(deviceDeployments, context) };
  },
);

export const listDeploymentDeviceIds = defineEndpoint(
  'list-deployment-device-ids',
  ({ parameters }, context) => {
    const { store, user } = context;
    const deployment = visibleDeployment(context, parameters.id);
    if (deployment instanceof Refusal) return deployment;
    return {
      status: 200,
      body: store.deviceDeployments.deviceIds(deployment, { groups: user.groups }),
    };
  },
);

export const getDeploymentLog = defineEndpoint('get-deployment-log', ({ parameters }, context) => {
  const { store, user } = context;
  // The device is looked up only if the user is limited to groups: a decommissioned device no
  // longer exists, but its logs do.
  const device = user.groups && visibleDevice(context, parameters.device_id);
  if (device instanceof Refusal) return device;
  const log = store.deviceDeployments.findLog(parameters.id, parameters.device_id);
  if (log === undefined)
    return refuse.notFound('this device has not sent a log for this deployment', {
      ...stateDetail('a device that has sent a log', 'a device that has not sent one'),
      remedy:
        "the log is available after the device's update has failed and the device has uploaded it",
    });
  return { status: 200, body: log };
});

/** Lists the deployments of one device, newest first. */
export const listDeviceDeployments = defineEndpoint(
  'list-device-deployments',
  ({ parameters, query }, context) => {
    const { store } = context;
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    return pagedResponse(context, query, {
      total: store.history.count(device.id, query.status),
      list: (page) => {
        const view = deploymentDeviceViewer(store);
        // A device deployment has no ID. Within the list of one device, the ID of the deployment
        // identifies it.
        const entryOf = (deviceDeployment: StoredDeviceDeployment) => ({
          id: deviceDeployment.deployment.id,
          deployment: shownDeployment(store, deviceDeployment.deployment),
          device: view(deviceDeployment),
        });
        return JsonList.ofEach(store.history.list(device.id, query.status, page), entryOf, context);
      },
    });
  },
);

/** Aborts the unfinished deployments of one device. Other devices are not affected. */
export const abortDeviceDeployments = defineEndpoint(
  'abort-device-deployments',
  ({ parameters }, context) => {
    const { store, user, nowMs } = context;
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    store.deviceDeployments.stopAllOfDevice(device.id, 'aborted', nowMs);
    const object = deviceObject(device);
    audit(context, { actor: userActor(user), action: 'abort', object });
    return { status: 204 };
  },
);

/**
 * Deletes the deployment history of one device, so that unfinished deployments are
 * offered to it again.
 */
export const resetDeviceDeployments = defineEndpoint(
  'reset-device-deployments',
  ({ parameters }, context) => {
    const { store, user } = context;
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    store.history.delete(device.id);
    audit(context, {
      actor: userActor(user),
      action: 'update',
      object: deviceObject(device),
      change: 'deployment history deleted',
    });
    return { status: 204 };
  },
);

function shownDeviceDeployments(
  deviceDeployments: Iterable<StoredDeviceDeployment>,
  context: UserContext,
) {
  return JsonList.ofEach(deviceDeployments, deploymentDeviceViewer(context.store), context);
}

/**
 * Returns a function that makes views of device deployments. It looks each artifact up once,
 * because most device deployments have the same one.
 */
function deploymentDeviceViewer(
  store: Store,
): (deviceDeployment: StoredDeviceDeployment) => DeploymentDevice {
  const artifacts = new Map<string, StoredArtifact | undefined>();
  return (deviceDeployment) => {
    const { artifactId } = deviceDeployment;
    if (artifactId === undefined) return deploymentDeviceView(deviceDeployment, undefined);
    if (!artifacts.has(artifactId)) artifacts.set(artifactId, store.artifacts.find(artifactId));
    return deploymentDeviceView(deviceDeployment, artifacts.get(artifactId)?.artifact);
  };
}
