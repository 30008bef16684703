/** The store as the control listener shows it: plain data, bounded. */
import { mappedInTurns } from '../../fixtures/clock.ts';
import { type DeviceStatus, deviceStatuses } from '../../fixtures/contract/vocabulary.ts';
import { statusOf } from '../rules/deployment-status.ts';
import type { StoredDeployment } from '../store/deployments.ts';
import type { StoredDevice } from '../store/devices.ts';
import type { Store } from '../store/store.ts';
import type { Activity, ActivityFeed } from './activity.ts';
import {
  type ActivityEvent,
  type ControlSource,
  type DeploymentOverview,
  type DeviceOverview,
  overviewMax,
} from './http/source.ts';

/** Joins the store and the activity feed into what the control listener asks for. */
export function overviewSource(store: Store, activity: ActivityFeed): ControlSource {
  return {
    overview: async () => {
      const devices = store.devices.list(
        { status: [], id: [] },
        { page: 1, perPage: overviewMax.devices },
      );
      const deployments = store.deployments.list({ id: [], name: [] }, 'desc', {
        page: 1,
        perPage: overviewMax.deployments,
      });
      return {
        devices: await mappedInTurns(devices, (device) => deviceOverview(store, device)),
        deviceCounts: countDevices(store),
        deployments: await mappedInTurns(deployments, (deployment) =>
          deploymentOverview(store, deployment),
        ),
      };
    },
    subscribe: (subscriber, ended) =>
      activity.subscribe((seen) => subscriber(activityEvent(seen)), ended),
  };
}

function countDevices(store: Store): Partial<Record<DeviceStatus, number>> {
  return Object.fromEntries(
    deviceStatuses.map((status) => [status, store.devices.count({ status: [status] })]),
  );
}

function deviceOverview(store: Store, device: StoredDevice): DeviceOverview {
  const attributes = store.inventory.list(device.id);
  const told = (name: string): string | undefined => {
    const value = attributes.find((attribute) => attribute.name === name)?.value;
    return typeof value === 'string' ? value : undefined;
  };
  const deviceType = told('device_type');
  const artifactName = told('artifact_name');
  return {
    id: device.id,
    identity: device.identity,
    status: device.status,
    connected: store.connections.find(device.id)?.status === 'connected',
    ...(deviceType !== undefined && { deviceType }),
    ...(artifactName !== undefined && { artifactName }),
    ...(device.checkInMs && { checkedInAt: new Date(device.checkInMs).toISOString() }),
  };
}

function deploymentOverview(store: Store, deployment: StoredDeployment): DeploymentOverview {
  const statistics = store.parts.statistics(deployment);
  return {
    id: deployment.id,
    name: deployment.name,
    artifactName: deployment.artifactName,
    type: deployment.type,
    status: statusOf(deployment, statistics),
    createdAt: new Date(deployment.createdMs).toISOString(),
    deviceCount: deployment.deviceCount,
    statistics: Object.fromEntries(statistics),
  };
}

function activityEvent({ atMs, ...activity }: Activity): ActivityEvent {
  return { at: new Date(atMs).toISOString(), ...activity };
}
