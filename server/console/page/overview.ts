/** Data from the control listener, checked on arrival in the page. */

export interface DeviceRow {
  readonly id: string;
  readonly identity: string;
  readonly status: string;
  readonly connected: boolean;
  readonly deviceType?: string;
  readonly artifactName?: string;
  readonly checkedInAt?: string;
}

export interface DeploymentRow {
  readonly id: string;
  readonly name: string;
  readonly artifactName: string;
  readonly type: string;
  readonly status: string;
  readonly createdAt: string;
  readonly deviceCount: number;
  readonly statistics: Readonly<Record<string, number>>;
}

export interface Overview {
  readonly devices: readonly DeviceRow[];
  readonly deviceCounts: Readonly<Record<string, number>>;
  readonly deployments: readonly DeploymentRow[];
}

export interface Activity {
  readonly at: string;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly deviceId?: string;
  readonly requestId: string;
}

/** Returns true when the value has the parts of an overview; its rows come from the same server. */
export function isOverview(value: unknown): value is Overview {
  return (
    isObject(value) &&
    Array.isArray(value.devices) &&
    Array.isArray(value.deployments) &&
    isObject(value.deviceCounts)
  );
}

/** Returns true when the value is one answered request. */
export function isActivity(value: unknown): value is Activity {
  return isObject(value) && typeof value.operation === 'string' && typeof value.status === 'number';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
