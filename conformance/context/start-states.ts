/** The start states of cases, each reached by the requests that real devices and users send. */
import * as v from 'valibot';
import type { OperationId } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { GivenControlMap } from '../../fixtures/contract/resources.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { boardType, type SampleName } from './sample-artifacts.ts';
import type { UploadedArtifact } from './shared-artifacts.ts';
import type { SuiteDevice } from './suite-device.ts';
import type { TestContext } from './test-context.ts';

/** The artifact name and device type that every suite device reports before its first update. */
export const factoryProvides = { artifact_name: 'conformance-factory', device_type: boardType };

/**
 * The start state of a case could not be reached. The case is inconclusive, unless a response that
 * the contract documents did not come.
 */
export class StartStateNotReached extends Error {
  /** The expectation of the last request, in the words of an expectation; absent if unknown. */
  readonly expected: string | undefined;
  /** The response to a valid request that the contract documents and that did not come, if any. */
  readonly undocumented: UndocumentedResponse | undefined;

  constructor(
    state: string,
    observation: string,
    expected?: string,
    undocumented?: UndocumentedResponse,
  ) {
    super(`the start state needs ${state}, but ${observation}`);
    this.name = 'StartStateNotReached';
    this.expected = expected;
    this.undocumented = undocumented;
  }
}

/** A response other than the one that the contract documents for a valid request. */
export interface UndocumentedResponse {
  readonly operation: OperationId;
  readonly requirements: readonly [RequirementId, ...RequirementId[]];
  readonly response: HttpResponse;
}

/** The requirements that say how each operation answers a valid request. */
const responseRequirements = {
  'post-auth-request': ['auth.preauthorized-gets-token', 'auth.accepted-gets-token'],
  'get-next-deployment': ['next.get-pending-is-200'],
  'post-next-deployment': ['next.post-pending-is-200'],
  'post-next-deployment-v2': ['next.v2-pending-is-200'],
  'put-deployment-status': ['status.each-value-is-accepted', 'status.is-204'],
  'put-deployment-log': ['log.is-accepted'],
  'get-update-control-map': ['map.of-active-deployment'],
  'list-artifacts': ['artifacts.list'],
  'get-artifact': ['artifacts.fields'],
  'get-artifact-link': ['link.fields', 'link.gives-the-file'],
  'get-configuration': ['configuration.read'],
  'put-configuration': ['configuration.write'],
  'download-configuration': ['download.gives-the-configuration'],
  connect: ['connect.switches-protocols'],
  'post-alerts': ['alerts.are-accepted'],
  'post-monitor-configuration': ['monitor.is-accepted'],
  'patch-attributes': ['inventory.patch-is-200'],
  'put-attributes': ['inventory.put-is-200'],
  'list-audit-logs': ['audit.list'],
  'export-audit-logs': ['audit.export-is-csv'],
} as const satisfies Readonly<Partial<Record<OperationId, UndocumentedResponse['requirements']>>>;

/**
 * Throws StartStateNotReached unless the response to a valid request has the status that the
 * contract documents. Only 429 and server errors leave the case inconclusive, since a busy server
 * may send them.
 */
export function requireResponse(
  operation: keyof typeof responseRequirements,
  response: HttpResponse,
  status: number,
): void {
  if (response.status === status) return;
  const requirements = responseRequirements[operation];
  const isBusy = response.status === 429 || response.status >= 500;
  const undocumented = isBusy ? undefined : { operation, requirements, response };
  throw startStateFailure(`${status} of ${operation}`, response, status, undocumented);
}

/** The target has accepted a device automatically, so no device ever waits for a decision. */
export class AutoAcceptingTarget extends Error {
  constructor() {
    super('the target accepts new devices automatically');
    this.name = 'AutoAcceptingTarget';
  }
}

/** Arranges a device that the target has never seen. */
export function unknownDevice(context: TestContext): Promise<SuiteDevice> {
  return context.newDevice();
}

/** Arranges a device that has authenticated once and waits for a decision. */
export async function pendingDevice(context: TestContext): Promise<SuiteDevice> {
  const device = await context.newDevice();
  requireStatus('a first contact that is refused', await device.authenticate(), 401);
  const shownDevice = await context.eventually(
    async () => {
      const pendingDevice = await context.admin.findDevice(device.identity, 'pending');
      if (!pendingDevice && (await context.admin.findDevice(device.identity, 'accepted'))) {
        throw new AutoAcceptingTarget();
      }
      return pendingDevice;
    },
    (found) => found !== undefined,
  );
  if (!shownDevice) throw new StartStateNotReached('a pending device', 'users do not see it');
  device.id = shownDevice.id;
  return device;
}

/** Arranges a device that a user has accepted before its first contact. */
export async function preauthorizedDevice(
  context: TestContext,
  keyType: KeyType = 'ecdsa',
  members: Readonly<Record<string, unknown>> = {},
): Promise<SuiteDevice> {
  const device = await context.newDevice(keyType, members);
  device.known = true;
  device.id = await context.admin.preauthorize(device.identity, device.key);
  return device;
}

/** Arranges a device that is accepted and holds a token. */
export async function acceptedDevice(
  context: TestContext,
  keyType: KeyType = 'ecdsa',
  members: Readonly<Record<string, unknown>> = {},
): Promise<SuiteDevice> {
  const device = await preauthorizedDevice(context, keyType, members);
  const granted = await device.authenticate();
  requireResponse('post-auth-request', granted, 200);
  device.token = granted.text;
  if (!/^[\w.~+/=-]+$/.test(device.token)) {
    throw new StartStateNotReached('a token that a header can carry', 'another text');
  }
  return device;
}

/** Arranges two independent accepted devices. */
export async function twoDevices(
  context: TestContext,
): Promise<{ device: SuiteDevice; otherDevice: SuiteDevice }> {
  return { device: await acceptedDevice(context), otherDevice: await acceptedDevice(context) };
}

/** A device, and an artifact that it may fetch. */
export interface DeviceAndArtifact {
  readonly device: SuiteDevice;
  readonly artifact: UploadedArtifact;
}

/** Arranges an accepted device, and uploads the sample unless it is already on the target. */
export async function deviceAndArtifact(
  context: TestContext,
  sample: SampleName,
): Promise<DeviceAndArtifact> {
  return { device: await acceptedDevice(context), artifact: await context.artifact(sample) };
}

/** A device and a deployment for it. */
export interface DeviceInDeployment extends DeviceAndArtifact {
  /** The ID and the name of the deployment in the management API. */
  readonly deploymentId: string;
  readonly deploymentName: string;
}

/** Arranges an accepted device with a pending deployment that it has not requested yet. */
export function pendingDeployment(context: TestContext): Promise<DeviceInDeployment> {
  return deploymentOf(context, 'plain');
}

/** Arranges an accepted device with a pending deployment of that artifact and that control map. */
export async function deploymentOf(
  context: TestContext,
  sample: SampleName,
  controlMap?: GivenControlMap,
): Promise<DeviceInDeployment> {
  const { device, artifact } = await deviceAndArtifact(context, sample);
  const { id: deploymentId, name: deploymentName } = await context.deploy({
    artifact_name: artifact.name,
    devices: [device.id],
    ...(controlMap === undefined ? {} : { update_control_map: controlMap }),
  });
  return { device, artifact, deploymentId, deploymentName };
}

/** A device in a deployment that it has been offered. */
export interface OfferedDeployment extends DeviceInDeployment {
  /** The ID that the device uses for the deployment. */
  readonly id: string;
}

/** Arranges an accepted device that has been offered a deployment and knows its ID. */
export async function activeDeployment(context: TestContext): Promise<OfferedDeployment> {
  const arranged = await pendingDeployment(context);
  const { device } = arranged;
  const response = await requireOffer(context, 'get-next-deployment', () =>
    device.call('get-next-deployment', { query: factoryProvides }),
  );
  return { ...arranged, id: instructedId(response) };
}

/** Polls for an update until it is offered, for as long as effects take; needs an offer. */
export async function requireOffer(
  context: TestContext,
  operation: PollOperation,
  poll: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const response = await context.eventually(poll, ({ status }) => status !== 204);
  requireResponse(operation, response, 200);
  return response;
}

/** The operations by which a device polls for its next deployment. */
export type PollOperation =
  | 'get-next-deployment'
  | 'post-next-deployment'
  | 'post-next-deployment-v2';

/** Arranges an accepted device whose deployment a user has aborted after it was offered. */
export async function abortedDeployment(context: TestContext): Promise<OfferedDeployment> {
  const arranged = await activeDeployment(context);
  await context.admin.abort(arranged.deploymentId);
  return arranged;
}

/** Arranges a deployment that a user has aborted before its device asked for it. */
export async function withdrawnDeployment(context: TestContext): Promise<DeviceInDeployment> {
  const arranged = await pendingDeployment(context);
  await context.admin.abort(arranged.deploymentId);
  return arranged;
}

/** Returns the deployment ID in the instructions of a response that offers an update. */
export function instructedId(response: HttpResponse): string {
  requireStatus('an offered update', response, 200);
  const bodyShape = v.pipe(v.string(), v.parseJson(), v.looseObject({ id: v.string() }));
  const parsed = v.safeParse(bodyShape, response.text);
  if (parsed.success) return parsed.output.id;
  throw new StartStateNotReached('instructions with an ID', responseSummary(response));
}

/** Throws StartStateNotReached unless the response has the status. */
export function requireStatus(state: string, response: HttpResponse, status: number): void {
  if (response.status !== status) throw startStateFailure(state, response, status);
}

function startStateFailure(
  state: string,
  response: HttpResponse,
  status: number,
  undocumented?: UndocumentedResponse,
): StartStateNotReached {
  const observation = `the target answered with ${responseSummary(response)}`;
  return new StartStateNotReached(state, observation, `status ${status}`, undocumented);
}
