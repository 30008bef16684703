/** The devices' parts in deployments, for users. */
import { limits } from '../../../fixtures/contract/limits.ts';
import { inState, Refusal, refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import type { StoredArtifact } from '../../store/artifacts.ts';
import type { Page } from '../../store/page.ts';
import type { StoredPart } from '../../store/part-rows.ts';
import type { Store } from '../../store/store.ts';
import { audit, deviceObject, userActor } from '../../tenants/audit.ts';
import { pagedAnswer } from '../paging.ts';
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
    return pagedAnswer(context, query, {
      total: store.parts.count(deployment, filter),
      list: (page) => shownParts(store, store.parts.list(deployment, filter, page)),
    });
  },
);

/** All parts at once, as before there were pages. */
export const listDeploymentDevicesV1 = defineEndpoint(
  'list-deployment-devices-v1',
  ({ parameters }, context) => {
    const { store, user } = context;
    const deployment = visibleDeployment(context, parameters.deployment_id);
    if (deployment instanceof Refusal) return deployment;
    const page: Page = { page: 1, perPage: limits.deploymentDevicesMax };
    const parts = store.parts.list(deployment, { groups: user.groups }, page);
    return { status: 200, body: shownParts(store, parts) };
  },
);

export const listDeploymentDeviceIds = defineEndpoint(
  'list-deployment-device-ids',
  ({ parameters }, context) => {
    const { store, user } = context;
    const deployment = visibleDeployment(context, parameters.id);
    if (deployment instanceof Refusal) return deployment;
    return { status: 200, body: store.parts.deviceIds(deployment, { groups: user.groups }) };
  },
);

export const getDeploymentLog = defineEndpoint('get-deployment-log', ({ parameters }, context) => {
  const { store, user } = context;
  // A device that was decommissioned is gone, and its logs are there.
  const device = user.groups && visibleDevice(context, parameters.device_id);
  if (device instanceof Refusal) return device;
  const log = store.parts.findLog(parameters.id, parameters.device_id);
  if (log === undefined)
    return refuse.notFound('this device has sent no log for this deployment', {
      ...inState('a device that has sent a log', 'one that has sent none'),
      remedy: 'the log of a device is there once it has failed in this deployment and uploaded it',
    });
  return { status: 200, body: log };
});

/** The deployments of one device, the newest first. */
export const listDeviceDeployments = defineEndpoint(
  'list-device-deployments',
  ({ parameters, query }, context) => {
    const { store } = context;
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    return pagedAnswer(context, query, {
      total: store.history.count(device.id, query.status),
      list: (page) => {
        const parts = store.history.list(device.id, query.status, page);
        const shown = shownParts(store, parts);
        return parts.flatMap(({ deployment }, at) => {
          const part = shown[at];
          // A part has no id of its own; within the list of its device the deployment's is one.
          if (!part) return [];
          return [
            { id: deployment.id, deployment: shownDeployment(store, deployment), device: part },
          ];
        });
      },
    });
  },
);

/** Aborts what is unfinished on one device; the other devices go on. */
export const abortDeviceDeployments = defineEndpoint(
  'abort-device-deployments',
  ({ parameters }, context) => {
    const { store, user, nowMs } = context;
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    store.parts.endAllOf(device.id, 'aborted', nowMs);
    const object = deviceObject(device);
    audit(context, { actor: userActor(user), action: 'abort', object });
    return { status: 204 };
  },
);

/** Forgets what one device has finished, so that deployments that still run are offered to it anew. */
export const resetDeviceDeployments = defineEndpoint(
  'reset-device-deployments',
  ({ parameters }, context) => {
    const { store, user } = context;
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    store.history.forget(device.id);
    audit(context, {
      actor: userActor(user),
      action: 'update',
      object: deviceObject(device),
      change: 'deployment history deleted',
    });
    return { status: 204 };
  },
);

function shownParts(store: Store, parts: readonly StoredPart[]) {
  const known = new Map<string, StoredArtifact | undefined>();
  return parts.map((part) => {
    const { artifactId } = part;
    if (artifactId === undefined) return deploymentDeviceView(part, undefined);
    if (!known.has(artifactId)) known.set(artifactId, store.artifacts.find(artifactId));
    return deploymentDeviceView(part, known.get(artifactId)?.artifact);
  });
}
