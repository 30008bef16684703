/** Reads the store for the control listener, as plain data of limited size. */
import { mapWithPauses } from '../../../fixtures/base/clock.ts';
import { type DeviceStatus, deviceStatuses } from '../../../fixtures/contract/vocabulary.ts';
import { statusOf } from '../../rules/deployment-progress.ts';
import type { StoredDeployment } from '../../store/deployments.ts';
import type { StoredDevice } from '../../store/devices.ts';
import type { Store } from '../../store/store.ts';
import type { Activity, ActivityFeed } from './activity.ts';
import type { RequestCounts } from './request-counts.ts';
import {
  type ActivityEvent,
  type ControlSource,
  type DeploymentOverview,
  type DeviceOverview,
  overviewMax,
} from './source.ts';

/** Combines stores, activity feed and counts into the views of the control listener. */
export function overviewSource(activity: ActivityFeed, counts: RequestCounts): ControlSource {
  return {
    overview: async ({ store }, devicesMax) => {
      const page = { page: 1, perPage: Math.min(devicesMax, overviewMax.devices) };
      const devices = devicesMax === 0 ? [] : store.devices.list({ status: [], id: [] }, page);
      const deployments = store.deployments.list({ id: [], name: [] }, 'desc', {
        page: 1,
        perPage: overviewMax.deployments,
      });
      const viewed = factsFor(store, devices);
      return {
        devices: await mapWithPauses(devices, viewed),
        deviceCounts: countDevices(store),
        deployments: await mapWithPauses(deployments, (deployment) =>
          deploymentOverview(store, deployment),
        ),
      };
    },
    devices: ({ store }) => allDevices(store),
    requestCounts: (tenant, seconds) => counts.view(tenant, seconds),
    subscribe: (subscriber, ended) =>
      activity.subscribe((seen) => subscriber(activityEvent(seen)), ended),
  };
}

function countDevices(store: Store): Partial<Record<DeviceStatus, number>> {
  return Object.fromEntries(
    deviceStatuses.map((status) => [status, store.devices.count({ status: [status] })]),
  );
}

/** Number of devices read from the store at a time. */
const PAGE_DEVICES = 500;

function* allDevices(store: Store): Generator<DeviceOverview> {
  for (let page = 1; ; page += 1) {
    const devices = store.devices.list({ status: [], id: [] }, { page, perPage: PAGE_DEVICES });
    const viewed = factsFor(store, devices);
    for (const device of devices) yield viewed(device);
    if (devices.length < PAGE_DEVICES) return;
  }
}

/**
 * Returns a function that makes the view of a device. Data that concerns several devices is read
 * only once.
 */
function factsFor(store: Store, devices: readonly StoredDevice[]) {
  const connected = store.connections.connectedIds();
  const inventory = store.inventory.shownOf(devices.map(({ id }) => id));
  return (device: StoredDevice): DeviceOverview => {
    const { deviceType, artifactName } = inventory.get(device.id) ?? {};
    return {
      id: device.id,
      identity: device.identity,
      status: device.status,
      connected: connected.has(device.id),
      ...(deviceType !== undefined && { deviceType }),
      ...(artifactName !== undefined && { artifactName }),
      ...(device.checkInMs && { checkedInAt: new Date(device.checkInMs).toISOString() }),
    };
  };
}

function deploymentOverview(store: Store, deployment: StoredDeployment): DeploymentOverview {
  const statistics = store.deviceDeployments.statistics(deployment);
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
