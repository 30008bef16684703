/**
 * The interface through which the control listener reads the running server: plain data, read-only.
 */
import type * as v from 'valibot';
import type { OnSubscriptionEnd, Subscriber } from '../../../fixtures/base/subscribers.ts';
import { OVERVIEW_DEVICES_MAX } from '../../../fixtures/control/inputs.ts';
import type { ReadOnly } from '../../../fixtures/control/operations.ts';
import type {
  activityResponse,
  deploymentResponse,
  deviceResponse,
  fleetResponse,
  requestCountsResponse,
} from '../../../fixtures/control/responses.ts';
import type { Tenant } from '../../tenants/tenants.ts';

/** Maximum number of devices and deployments in an overview. */
export const overviewMax = { devices: OVERVIEW_DEVICES_MAX, deployments: 100 } as const;

export type DeviceOverview = ReadOnly<v.InferOutput<typeof deviceResponse>>;
export type DeploymentOverview = ReadOnly<v.InferOutput<typeof deploymentResponse>>;
export type Overview = ReadOnly<v.InferOutput<typeof fleetResponse>>;
export type RequestCountsView = ReadOnly<v.InferOutput<typeof requestCountsResponse>>;
export type ActivityEvent = ReadOnly<v.InferOutput<typeof activityResponse>>;

/** The data of the server that the control listener shows. */
export interface ControlSource {
  /**
   * Returns the overview of the tenant, with at most `devicesMax` and at most `overviewMax.devices`
   * devices.
   */
  overview(tenant: Tenant, devicesMax: number): Promise<Overview>;
  /** Returns every device of the tenant, in order of first contact. */
  devices(tenant: Tenant): Iterable<DeviceOverview>;
  /** Returns the requests and errors of each of the last `seconds` seconds. */
  requestCounts(tenant: Tenant, seconds: number): RequestCountsView;
  /** Calls the subscriber for every answered request, until the returned function is called. */
  subscribe(subscriber: Subscriber<ActivityEvent>, ended: OnSubscriptionEnd): () => void;
}
