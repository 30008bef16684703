/**
 * The steps that hooks can perform, with the JSON on standard input and the response on standard
 * output. A step whose response is `{}` may print nothing. All IDs are IDs of the target.
 */
import * as v from 'valibot';
import {
  alertViews,
  configurationView,
  deviceDeployments,
  inventoryView,
  managedDevice,
  monitorViews,
} from '../../context/target-admin.ts';

/** A step that hooks can perform: its documentation, and the shape of its response. */
interface StepRow {
  /** The request, as a verb phrase: `accept a device`. */
  readonly title: string;
  /** The members of `input`, for the documentation. */
  readonly input: string;
  /** The members of the response, for the documentation. */
  readonly response: string;
  /** The shape of the response. */
  readonly shape: v.GenericSchema;
}

const nothing = v.looseObject({});
const deviceId = v.looseObject({ deviceId: v.string() });
const deploymentId = v.looseObject({ deploymentId: v.string() });
const device = v.looseObject({ device: v.nullable(managedDevice) });
const token = v.looseObject({ token: v.string() });

const ofDevice = 'deviceId';
const ofKey = 'deviceId, publicKeyPem';
const ofDeviceDeployment = 'deploymentId, deviceId';
const deviceResponse =
  'device: {id, status, identity_data, auth_sets: [{id, pubkey, status}]} | null';

export const hookSteps = {
  login: {
    title: 'log a user in',
    input: '',
    response: 'token (also for the audit log)',
    shape: token,
  },
  'find-device': {
    title: 'find a device',
    input: 'identity: {…}, status: string | null',
    response: deviceResponse,
    shape: device,
  },
  'show-device': {
    title: 'show a device',
    input: ofDevice,
    response: deviceResponse,
    shape: device,
  },
  preauthorize: {
    title: 'preauthorize a device',
    input: 'identity: {…}, publicKeyPem',
    response: 'deviceId',
    shape: deviceId,
  },
  accept: { title: 'accept a device', input: ofKey, response: '', shape: nothing },
  reject: { title: 'reject a device', input: ofKey, response: '', shape: nothing },
  postpone: {
    title: 'set a device back to pending',
    input: ofKey,
    response: '',
    shape: nothing,
  },
  decommission: { title: 'decommission a device', input: ofDevice, response: '', shape: nothing },
  'upload-artifact': {
    title: 'upload an artifact',
    input: 'fileName, contentBase64',
    response: 'artifactId: string | null (null: the target already has it)',
    shape: v.looseObject({ artifactId: v.nullable(v.string()) }),
  },
  'find-artifact': {
    title: 'find an artifact',
    input: 'name, deviceType',
    response: 'artifactId: string | null',
    shape: v.looseObject({ artifactId: v.nullable(v.string()) }),
  },
  'delete-artifact': {
    title: 'delete an artifact',
    input: 'artifactId',
    response: '',
    shape: nothing,
  },
  deploy: {
    title: 'create a deployment',
    input: 'deployment: {name, artifact_name, devices: [id], update_control_map?, …}',
    response: 'deploymentId',
    shape: deploymentId,
  },
  'find-deployment': {
    title: 'find a deployment by its exact name',
    input: 'name',
    response: 'deploymentId: string | null',
    shape: v.looseObject({ deploymentId: v.nullable(v.string()) }),
  },
  abort: { title: 'abort a deployment', input: 'deploymentId', response: '', shape: nothing },
  'device-deployment': {
    title: 'show the status of a device in a deployment',
    input: ofDeviceDeployment,
    response: 'deviceDeployment: {id, status, substate?} | null',
    shape: v.looseObject({ deviceDeployment: v.nullable(deviceDeployments.item) }),
  },
  'deployment-log': {
    title: 'show a deployment log',
    input: ofDeviceDeployment,
    response: 'log: string | null',
    shape: v.looseObject({ log: v.nullable(v.string()) }),
  },
  configure: {
    title: 'configure a device',
    input: 'deviceId, configuration: {name: string}',
    response: '',
    shape: nothing,
  },
  'deploy-configuration': {
    title: 'deploy the configuration of a device',
    input: ofDevice,
    response: 'deploymentId',
    shape: deploymentId,
  },
  'show-configuration': {
    title: 'show the configuration of a device',
    input: ofDevice,
    response: 'configured: {name: string}, reported: {name: string}',
    shape: configurationView,
  },
  'show-connection': {
    title: 'show whether a device is connected',
    input: ofDevice,
    response: 'status: connected | disconnected | null',
    shape: v.looseObject({ status: v.nullable(v.string()) }),
  },
  'show-inventory': {
    title: 'show the inventory of a device',
    input: ofDevice,
    response: 'attributes: [{name, scope, value, description?}]',
    shape: inventoryView,
  },
  'list-alerts': {
    title: 'list the alerts of a device',
    input: ofDevice,
    response: 'alerts: [{name, level}]',
    shape: v.looseObject({ alerts: alertViews }),
  },
  'show-monitors': {
    title: 'show the monitor configuration of a device',
    input: ofDevice,
    response: 'monitors: [{name, status, type}]',
    shape: v.looseObject({ monitors: monitorViews }),
  },
  'advance-clock': {
    title: 'move the clock of the server forward',
    input: 'seconds',
    response: '',
    shape: nothing,
  },
  'fail-next': {
    title: 'make the next request of each operation fail inside the server',
    input: 'operations: [id]',
    response: '',
    shape: nothing,
  },
  'limit-rate': {
    title: 'set the rate limit of each caller',
    input: 'limit: {requests, windowSeconds} | null (null: no limit)',
    response: '',
    shape: nothing,
  },
  'powerless-user': {
    title: 'create a user whose role permits nothing',
    input: 'name',
    response: 'token',
    shape: token,
  },
  'make-tenant': {
    title: 'create a tenant',
    input: 'name',
    response: 'tenantId, tenantToken: string | null, userToken: string | null',
    shape: v.looseObject({
      tenantId: v.string(),
      tenantToken: v.nullish(v.string()),
      userToken: v.nullish(v.string()),
    }),
  },
  'suspend-tenant': { title: 'suspend a tenant', input: '', response: '', shape: nothing },
  'remove-tenant': { title: 'remove a tenant', input: '', response: '', shape: nothing },
} as const satisfies Readonly<Record<string, StepRow>>;

/** The name of a step. */
export type HookStep = keyof typeof hookSteps;
export const hookStepNames = Object.keys(hookSteps) as HookStep[];

/** The response of a step. */
export type StepResponse<Step extends HookStep> = v.InferOutput<(typeof hookSteps)[Step]['shape']>;

/** Returns the steps as a table: name, title, input, response. */
export function describedSteps(): readonly (readonly [string, string, string, string])[] {
  return hookStepNames.map((name) => {
    const { title, input, response }: StepRow = hookSteps[name];
    return [name, title, input, response];
  });
}
