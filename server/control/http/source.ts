/** What the control listener shows of the running server: plain data, read-only. */

import type {
  DeploymentStatusOverall,
  DeviceDeploymentStatus,
  DeviceStatus,
} from '../../../fixtures/contract/vocabulary.ts';
import type { Ended, Subscriber } from '../../../fixtures/subscribers.ts';
import type { Tenant } from '../../tenants/tenants.ts';

/** One device as the console shows it; times are ISO 8601 in UTC. */
export interface DeviceOverview {
  readonly id: string;
  /** JSON text of the identity, as the device sent it: text from outside. */
  readonly identity: string;
  readonly status: DeviceStatus;
  readonly connected: boolean;
  /** From the inventory, if the device has reported it. */
  readonly deviceType?: string;
  readonly artifactName?: string;
  /** Its last authenticated call. */
  readonly checkedInAt?: string;
}

/** One deployment with its progress. */
export interface DeploymentOverview {
  readonly id: string;
  readonly name: string;
  readonly artifactName: string;
  readonly type: 'software' | 'configuration';
  readonly status: DeploymentStatusOverall;
  readonly createdAt: string;
  readonly deviceCount: number;
  /** Number of devices by status; statuses without devices may be absent. */
  readonly statistics: Readonly<Partial<Record<DeviceDeploymentStatus, number>>>;
}

/** Most devices and deployments that an overview holds. */
export const overviewMax = { devices: 500, deployments: 100 } as const;

/** The state of the server in one look. */
export interface Overview {
  /** In order of first contact, at most `overviewMax.devices`. */
  readonly devices: readonly DeviceOverview[];
  /** All devices by status, also those that the list has no room for. */
  readonly deviceCounts: Readonly<Partial<Record<DeviceStatus, number>>>;
  /** Newest first, at most `overviewMax.deployments`. */
  readonly deployments: readonly DeploymentOverview[];
}

/** One answered request of the protocol listener. */
export interface ActivityEvent {
  /** ISO 8601 in UTC. */
  readonly at: string;
  /** Absent where the caller belongs to none. */
  readonly tenantId?: string;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly deviceId?: string;
  readonly requestId: string;
}

/** The server as the control listener sees it. */
export interface ControlSource {
  /** `devicesMax` at most `overviewMax.devices`. */
  overview(tenant: Tenant, devicesMax: number): Promise<Overview>;
  /** Every device of the tenant, in order of first contact. */
  devices(tenant: Tenant): Iterable<DeviceOverview>;
  /** Calls the subscriber for every answered request, until the returned function is called. */
  subscribe(subscriber: Subscriber<ActivityEvent>, ended: Ended): () => void;
}
