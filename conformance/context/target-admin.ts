/**
 * The user with which the suite controls a target: it accepts devices, uploads artifacts,
 * creates deployments, and reads the server's state. The responses to the user are not under
 * test, and only the needed fields are read, since other servers may omit the rest. One user
 * uses the management API and another uses hooks; a target may have none.
 */
import * as v from 'valibot';
import type { NewDeployment } from '../../fixtures/contract/management/deployments.ts';
import type { GivenControlMap } from '../../fixtures/contract/resources.ts';
import type { SettableAuthSetStatus } from '../../fixtures/contract/vocabulary.ts';
import type { SigningKey } from '../signing/signing-key.ts';
import type { ApiCaller } from '../target/call.ts';

/** A device as users see it. */
export const managedDevice = v.looseObject({
  id: v.string(),
  identity_data: v.record(v.string(), v.unknown()),
  status: v.string(),
  auth_sets: v.array(v.looseObject({ id: v.string(), pubkey: v.string(), status: v.string() })),
});
export type ManagedDevice = v.InferOutput<typeof managedDevice>;

/** Artifacts as listed for users. */
export const listedArtifacts = v.array(
  v.looseObject({
    id: v.string(),
    name: v.string(),
    device_types_compatible: v.array(v.string()),
  }),
);

/** Deployments as listed for users. */
export const listedDeployments = v.array(v.looseObject({ id: v.string(), name: v.string() }));

/** The device deployments of a deployment. */
export const deviceDeployments = v.array(
  v.looseObject({ id: v.string(), status: v.string(), substate: v.optional(v.string()) }),
);
export type DeviceDeployment = v.InferOutput<typeof deviceDeployments>[number];

const texts = v.record(v.string(), v.string());

/** The configuration set by users, and the one reported by the device. */
export const configurationView = v.looseObject({ configured: texts, reported: texts });
export type ShownConfiguration = v.InferOutput<typeof configurationView>;

/** The connection state of a device. */
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

/**
 * Returns the attributes that the device sent. Other scopes, such as `identity` and `system`, may
 * have attributes of the same names.
 */
export function sentAttributes({
  attributes,
}: v.InferOutput<typeof inventoryView>): readonly ShownAttribute[] {
  return attributes.filter(({ scope }) => scope === 'inventory');
}

/** The alerts of a device as the management API lists them. */
export const alertViews = v.array(v.looseObject({ name: v.string(), level: v.string() }));
export type ShownAlert = v.InferOutput<typeof alertViews>[number];

/** The monitor configuration of a device. */
export const monitorViews = v.array(
  v.looseObject({ name: v.string(), status: v.string(), type: v.string() }),
);
export type ShownMonitor = v.InferOutput<typeof monitorViews>[number];

/** The user failed, so the case is inconclusive. */
export class AdminFailure extends Error {
  constructor(action: string, response: string, by = 'the management API') {
    super(`${by} failed to ${action}: it answered with ${response}`);
    this.name = 'AdminFailure';
  }
}

/**
 * Controls a target. Each method throws an AdminFailure when the target does not comply, and a
 * MissingCapability when this user does not support it.
 */
export interface TargetAdmin {
  /** Calls operations of the contract that need a user token. */
  readonly caller: ApiCaller;
  /** Finds the device with this identity, among the devices of one status if `status` is given. */
  findDevice(
    identity: Readonly<Record<string, unknown>>,
    status?: string,
  ): Promise<ManagedDevice | undefined>;
  /** Returns the device with this ID; undefined when the server has none. */
  device(id: string): Promise<ManagedDevice | undefined>;
  /** Preauthorizes the device before its first contact; returns its ID. */
  preauthorize(identity: Readonly<Record<string, unknown>>, key: SigningKey): Promise<string>;
  /** Accepts, rejects or suspends one key of a device. */
  decide(id: string, key: SigningKey, status: SettableAuthSetStatus): Promise<void>;
  /**
   * Removes a device and everything that belongs to it. Succeeds if the device is already gone.
   * @returns whether the device existed, as far as the user can tell
   */
  decommission(id: string): Promise<boolean>;
  /**
   * Uploads an artifact file, with more fields of the form if any; returns its ID, or undefined
   * when the server already has it.
   */
  uploadArtifact(
    fileName: string,
    bytes: Buffer,
    fields?: Readonly<Record<string, string>>,
  ): Promise<string | undefined>;
  /** Returns the ID of an artifact by its name and one of its device types. */
  findArtifact(name: string, deviceType: string): Promise<string | undefined>;
  /** @returns whether the artifact existed, as far as the user can tell */
  deleteArtifact(id: string): Promise<boolean>;
  /** Gives an artifact another description. */
  describeArtifact(id: string, description: string): Promise<void>;
  /** Creates a deployment; returns its ID. */
  deploy(deployment: NewDeployment): Promise<string>;
  /** Replaces the update control map of a deployment. */
  changeControlMap(id: string, map: GivenControlMap): Promise<void>;
  /** Returns the ID of a deployment by its full name. */
  findDeployment(name: string): Promise<string | undefined>;
  /** Aborts a deployment. Succeeds if the deployment has already ended. */
  abort(id: string): Promise<void>;
  /** Returns the device deployment as the server shows it. */
  deviceDeployment(deploymentId: string, deviceId: string): Promise<DeviceDeployment | undefined>;
  /** Returns the log that a device uploaded, as text; undefined when there is none. */
  deploymentLog(deploymentId: string, deviceId: string): Promise<string | undefined>;
  configure(deviceId: string, configuration: Readonly<Record<string, string>>): Promise<void>;
  /** Deploys the configuration; the server offers it after a short delay. */
  deployConfiguration(deviceId: string): Promise<string>;
  /** Returns the configuration; both parts are empty while the server has no record yet. */
  configuration(deviceId: string): Promise<ShownConfiguration>;
  /** Returns the device's connection state in the server's terms; undefined if it has no record. */
  connection(deviceId: string): Promise<string | undefined>;
  /** Returns the attributes that a device sent; none while the server has no record yet. */
  attributes(deviceId: string): Promise<readonly ShownAttribute[]>;
  alerts(deviceId: string): Promise<readonly ShownAlert[]>;
  monitorConfiguration(deviceId: string): Promise<readonly ShownMonitor[]>;
}
