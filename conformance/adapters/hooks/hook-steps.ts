/**
 * The steps that hooks can perform, with the JSON on standard input and the answer on standard
 * output. A step whose answer is `{}` may print nothing. All ids are ids of the target.
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

/** A step that hooks can perform: its documentation, and the shape of its answer. */
interface StepRow {
  /** The request, as a verb phrase: `accept a device`. */
  readonly wish: string;
  /** The members of `input`, for the documentation. */
  readonly input: string;
  /** The members of the answer, for the documentation. */
  readonly answer: string;
  /** The shape of the answer. */
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
const deviceAnswer =
  'device: {id, status, identity_data, auth_sets: [{id, pubkey, status}]} | null';

export const hookSteps = {
  login: {
    wish: 'log a user in',
    input: '',
    answer: 'token (also for the audit log)',
    shape: token,
  },
  'find-device': {
    wish: 'find a device',
    input: 'identity: {…}, status: string | null',
    answer: deviceAnswer,
    shape: device,
  },
  'show-device': { wish: 'show a device', input: ofDevice, answer: deviceAnswer, shape: device },
  preauthorize: {
    wish: 'preauthorize a device',
    input: 'identity: {…}, publicKeyPem',
    answer: 'deviceId',
    shape: deviceId,
  },
  accept: { wish: 'accept a device', input: ofKey, answer: '', shape: nothing },
  reject: { wish: 'reject a device', input: ofKey, answer: '', shape: nothing },
  postpone: {
    wish: 'set a device back to pending',
    input: ofKey,
    answer: '',
    shape: nothing,
  },
  decommission: { wish: 'decommission a device', input: ofDevice, answer: '', shape: nothing },
  'upload-artifact': {
    wish: 'upload an artifact',
    input: 'fileName, contentBase64',
    answer: 'artifactId: string | null (null: the target already has it)',
    shape: v.looseObject({ artifactId: v.nullable(v.string()) }),
  },
  'find-artifact': {
    wish: 'find an artifact',
    input: 'name, deviceType',
    answer: 'artifactId: string | null',
    shape: v.looseObject({ artifactId: v.nullable(v.string()) }),
  },
  'delete-artifact': {
    wish: 'delete an artifact',
    input: 'artifactId',
    answer: '',
    shape: nothing,
  },
  deploy: {
    wish: 'create a deployment',
    input: 'deployment: {name, artifact_name, devices: [id], update_control_map?, …}',
    answer: 'deploymentId',
    shape: deploymentId,
  },
  'find-deployment': {
    wish: 'find a deployment by its exact name',
    input: 'name',
    answer: 'deploymentId: string | null',
    shape: v.looseObject({ deploymentId: v.nullable(v.string()) }),
  },
  abort: { wish: 'abort a deployment', input: 'deploymentId', answer: '', shape: nothing },
  'device-deployment': {
    wish: 'show the state of a device in a deployment',
    input: ofDeviceDeployment,
    answer: 'deviceDeployment: {id, status, substate?} | null',
    shape: v.looseObject({ deviceDeployment: v.nullable(deviceDeployments.item) }),
  },
  'deployment-log': {
    wish: 'show a deployment log',
    input: ofDeviceDeployment,
    answer: 'log: string | null',
    shape: v.looseObject({ log: v.nullable(v.string()) }),
  },
  configure: {
    wish: 'configure a device',
    input: 'deviceId, configuration: {name: string}',
    answer: '',
    shape: nothing,
  },
  'deploy-configuration': {
    wish: 'deploy the configuration of a device',
    input: ofDevice,
    answer: 'deploymentId',
    shape: deploymentId,
  },
  'show-configuration': {
    wish: 'show the configuration of a device',
    input: ofDevice,
    answer: 'configured: {name: string}, reported: {name: string}',
    shape: configurationView,
  },
  'show-connection': {
    wish: 'show whether a device is connected',
    input: ofDevice,
    answer: 'status: connected | disconnected | null',
    shape: v.looseObject({ status: v.nullable(v.string()) }),
  },
  'show-inventory': {
    wish: 'show the inventory of a device',
    input: ofDevice,
    answer: 'attributes: [{name, scope, value, description?}]',
    shape: inventoryView,
  },
  'list-alerts': {
    wish: 'list the alerts of a device',
    input: ofDevice,
    answer: 'alerts: [{name, level}]',
    shape: v.looseObject({ alerts: alertViews }),
  },
  'show-monitors': {
    wish: 'show the monitor configuration of a device',
    input: ofDevice,
    answer: 'monitors: [{name, status, type}]',
    shape: v.looseObject({ monitors: monitorViews }),
  },
  'advance-clock': {
    wish: 'move the clock of the server forward',
    input: 'seconds',
    answer: '',
    shape: nothing,
  },
  'fail-next': {
    wish: 'make the next request of each operation fail inside the server',
    input: 'operations: [id]',
    answer: '',
    shape: nothing,
  },
  'limit-rate': {
    wish: 'set the rate limit of each caller',
    input: 'limit: {requests, windowSeconds} | null (null: no limit)',
    answer: '',
    shape: nothing,
  },
  'powerless-user': {
    wish: 'create a user whose role permits nothing',
    input: 'name',
    answer: 'token',
    shape: token,
  },
  'make-tenant': {
    wish: 'create a tenant',
    input: 'name',
    answer: 'tenantId, tenantToken: string | null, userToken: string | null',
    shape: v.looseObject({
      tenantId: v.string(),
      tenantToken: v.nullish(v.string()),
      userToken: v.nullish(v.string()),
    }),
  },
  'suspend-tenant': { wish: 'suspend a tenant', input: '', answer: '', shape: nothing },
  'remove-tenant': { wish: 'remove a tenant', input: '', answer: '', shape: nothing },
} as const satisfies Readonly<Record<string, StepRow>>;

/** The name of a step. */
export type HookStep = keyof typeof hookSteps;
export const hookStepNames = Object.keys(hookSteps) as HookStep[];

/** The answer of a step. */
export type StepAnswer<Step extends HookStep> = v.InferOutput<(typeof hookSteps)[Step]['shape']>;

/** Returns the steps as a table: name, wish, input, answer. */
export function describedSteps(): readonly (readonly [string, string, string, string])[] {
  return hookStepNames.map((name) => {
    const { wish, input, answer }: StepRow = hookSteps[name];
    return [name, wish, input, answer];
  });
}
