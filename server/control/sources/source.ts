/** What the control listener shows of the running server: plain data, read-only. */

import type * as v from 'valibot';
import type {
  activityAnswer,
  deploymentAnswer,
  deviceAnswer,
  fleetAnswer,
  requestCountsAnswer,
} from '../../../fixtures/control/answers.ts';
import { OVERVIEW_DEVICES_MAX } from '../../../fixtures/control/inputs.ts';
import type { ReadOnly } from '../../../fixtures/control/operations.ts';
import type { Ended, Subscriber } from '../../../fixtures/subscribers.ts';
import type { Tenant } from '../../tenants/tenants.ts';

/** Most devices and deployments that an overview holds. */
export const overviewMax = { devices: OVERVIEW_DEVICES_MAX, deployments: 100 } as const;

export type DeviceOverview = ReadOnly<v.InferOutput<typeof deviceAnswer>>;
export type DeploymentOverview = ReadOnly<v.InferOutput<typeof deploymentAnswer>>;
export type Overview = ReadOnly<v.InferOutput<typeof fleetAnswer>>;
export type RequestCountsView = ReadOnly<v.InferOutput<typeof requestCountsAnswer>>;
export type ActivityEvent = ReadOnly<v.InferOutput<typeof activityAnswer>>;

/** The server as the control listener sees it. */
export interface ControlSource {
  /** The overview of the tenant, with `devicesMax` devices or `overviewMax.devices`, whichever is fewer. */
  overview(tenant: Tenant, devicesMax: number): Promise<Overview>;
  /** Every device of the tenant, in order of first contact. */
  devices(tenant: Tenant): Iterable<DeviceOverview>;
  /** Requests and errors of each of the last `seconds` seconds. */
  requestCounts(tenant: Tenant, seconds: number): RequestCountsView;
  /** Calls the subscriber for every answered request, until the returned function is called. */
  subscribe(subscriber: Subscriber<ActivityEvent>, ended: Ended): () => void;
}
