/**
 * The operator by whom the suite steers a target: decides about devices, uploads, deploys, and reads
 * what the server shows. The answers are means, not what is judged; only the fields are read that
 * are needed, since a foreign server may leave out others. There are operators by the management
 * API and by hooks; a target may have none.
 */
import * as v from 'valibot';
import type { NewDeployment } from '../../fixtures/contract/management/deployments.ts';
import type { SettableAuthSetStatus } from '../../fixtures/contract/vocabulary.ts';
import type { SigningKey } from '../signing/signing-key.ts';
import type { Caller } from '../target/call.ts';

/** A device as users see it. */
export const managedDevice = v.looseObject({
  id: v.string(),
  identity_data: v.record(v.string(), v.unknown()),
  status: v.string(),
  auth_sets: v.array(v.looseObject({ id: v.string(), pubkey: v.string(), status: v.string() })),
});
export type ManagedDevice = v.InferOutput<typeof managedDevice>;

/** Artifacts as users list them. */
export const listedArtifacts = v.array(
  v.looseObject({
    id: v.string(),
    name: v.string(),
    device_types_compatible: v.array(v.string()),
  }),
);

/** Deployments as users list them. */
export const listedDeployments = v.array(v.looseObject({ id: v.string(), name: v.string() }));

/** The parts of devices in a deployment. */
export const deviceParts = v.array(
  v.looseObject({ id: v.string(), status: v.string(), substate: v.optional(v.string()) }),
);
export type DevicePart = v.InferOutput<typeof deviceParts>[number];

const texts = v.record(v.string(), v.string());

/** What users configured and what the device reported. */
export const configurationView = v.looseObject({ configured: texts, reported: texts });
export type ShownConfiguration = v.InferOutput<typeof configurationView>;

/** Whether a device is connected. */
export const connectionView = v.looseObject({ status: v.string() });

const attribute = v.looseObject({
  name: v.string(),
  scope: v.string(),
  value: v.unknown(),
  description: v.optional(v.string()),
});
export type ShownAttribute = v.InferOutput<typeof attribute>;

/** The inventory of a device. */
export const inventoryView = v.looseObject({ attributes: v.array(attribute) });

/** Alerts of a device. */
export const alertViews = v.array(v.looseObject({ name: v.string(), level: v.string() }));
export type ShownAlert = v.InferOutput<typeof alertViews>[number];

/** What is monitored on a device. */
export const monitorViews = v.array(
  v.looseObject({ name: v.string(), status: v.string(), type: v.string() }),
);
export type ShownMonitor = v.InferOutput<typeof monitorViews>[number];

/** The operator was asked in vain, so a case could not be decided. */
export class AdminFailure extends Error {
  constructor(wish: string, answer: string, asked = 'the management API') {
    super(`${asked} failed to ${wish}: it answered ${answer}`);
    this.name = 'AdminFailure';
  }
}

/**
 * Who steers a target. Each method throws an AdminFailure when the target does not do what it is
 * asked to, and a MissingCapability when this operator has no way to ask.
 */
export interface TargetAdmin {
  /** Calls operations of the contract that take a user token. */
  readonly caller: Caller;
  /** The device of this identity, looked for among those of one status or among all. */
  findDevice(
    identity: Readonly<Record<string, unknown>>,
    status?: string,
  ): Promise<ManagedDevice | undefined>;
  /** The device with this id; undefined when the server has none. */
  device(id: string): Promise<ManagedDevice | undefined>;
  /** Makes the device known and trusted before its first contact; gives its id. */
  preauthorize(identity: Readonly<Record<string, unknown>>, key: SigningKey): Promise<string>;
  /** Accepts, rejects or suspends one key of a device. */
  decide(id: string, key: SigningKey, status: SettableAuthSetStatus): Promise<void>;
  /** Removes a device and all that belongs to it; one that is gone already is fine. */
  decommission(id: string): Promise<void>;
  /** Uploads an artifact file; gives its id, or undefined when the server has it already. */
  uploadArtifact(fileName: string, bytes: Buffer): Promise<string | undefined>;
  /** The id of an artifact by its name and one of its device types. */
  findArtifact(name: string, deviceType: string): Promise<string | undefined>;
  deleteArtifact(id: string): Promise<void>;
  /** Creates a deployment; gives its id. */
  deploy(deployment: NewDeployment): Promise<string>;
  /** The id of a deployment by its whole name. */
  findDeployment(name: string): Promise<string | undefined>;
  /** Aborts a deployment; one that is over already is fine. */
  abort(id: string): Promise<void>;
  /** What the server shows of a device's part in a deployment. */
  devicePart(deploymentId: string, deviceId: string): Promise<DevicePart | undefined>;
  /** The log that a device uploaded, as text; undefined when there is none. */
  deploymentLog(deploymentId: string, deviceId: string): Promise<string | undefined>;
  configure(deviceId: string, configuration: Readonly<Record<string, string>>): Promise<void>;
  /** Makes a deployment of the configuration; the server needs a moment before it is offered. */
  deployConfiguration(deviceId: string): Promise<string>;
  /** Both parts are empty while the server has no record yet. */
  configuration(deviceId: string): Promise<ShownConfiguration>;
  /** Whether the device is connected, in the server's word; undefined when it knows nothing. */
  connection(deviceId: string): Promise<string | undefined>;
  /** The attributes of a device in all scopes; none while the server has no record yet. */
  attributes(deviceId: string): Promise<readonly ShownAttribute[]>;
  alerts(deviceId: string): Promise<readonly ShownAlert[]>;
  monitorConfiguration(deviceId: string): Promise<readonly ShownMonitor[]>;
}
