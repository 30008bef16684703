/** Reports, aborts and reads the status of a deployment on one device. */
import { NotObservable, responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import {
  acceptedDevice,
  factoryProvides,
  instructedId,
  type OfferedDeployment,
  requireOffer,
  requireResponse,
  StartStateNotReached,
} from './start-states.ts';
import type { SuiteDevice } from './suite-device.ts';
import type { DeviceDeployment } from './target-admin.ts';
import type { TestContext } from './test-context.ts';

/** A device, and the ID that it uses for its deployment. */
export interface DeploymentReporter {
  readonly device: SuiteDevice;
  readonly id: string;
}

/** Sends a status report with the given body as the device. */
export function report({ device, id }: DeploymentReporter, body: unknown): Promise<HttpResponse> {
  return device.call('put-deployment-status', { path: { id }, body });
}

/** Arranges the state that results from these reports, as part of a start state. */
export async function arrangeReports(
  arranged: DeploymentReporter,
  ...statuses: readonly string[]
): Promise<void> {
  for (const status of statuses) {
    requireResponse('put-deployment-status', await report(arranged, { status }), 204);
  }
}

/**
 * Returns the device deployment as users see it, once it has one of the statuses or the time limit
 * of `eventually` has passed.
 */
export function shownDeviceDeployment(
  context: TestContext,
  { deploymentId, device }: Pick<OfferedDeployment, 'deploymentId' | 'device'>,
  ...statuses: readonly string[]
): Promise<DeviceDeployment | undefined> {
  return context.eventually(
    () => context.admin.deviceDeployment(deploymentId, device.id),
    (deviceDeployment) =>
      deviceDeployment !== undefined && statuses.includes(deviceDeployment.status),
  );
}

/** Returns the substate that users see, once it is `substate` or the time limit has passed. */
export async function shownSubstate(
  context: TestContext,
  { deploymentId, device }: Pick<OfferedDeployment, 'deploymentId' | 'device'>,
  substate: string,
): Promise<string | undefined> {
  const deviceDeployment = await context.eventually(
    () => context.admin.deviceDeployment(deploymentId, device.id),
    (found) => found?.substate === substate,
  );
  return deviceDeployment?.substate;
}

/** Returns the status that users see; throws NotObservable when they do not see the device. */
export async function shownStatus(
  context: TestContext,
  arranged: Pick<OfferedDeployment, 'deploymentId' | 'device'>,
  ...statuses: readonly string[]
): Promise<string> {
  const deviceDeployment = await shownDeviceDeployment(context, arranged, ...statuses);
  if (!deviceDeployment) throw new NotObservable('users do not see the deployment of the device');
  return deviceDeployment.status;
}

/** Aborts the deployment, and waits until users or the device see it aborted. */
export async function arrangeAbort(
  context: TestContext,
  arranged: OfferedDeployment,
): Promise<void> {
  await context.admin.abort(arranged.deploymentId);
  const deviceDeployment = await shownDeviceDeployment(context, arranged, 'aborted');
  if (deviceDeployment?.status === 'aborted') return;
  // The server has acknowledged the abort, so it owes the device a 409, whatever users see.
  const response = await report(arranged, { status: 'installing' });
  if (response.status === 409) return;
  const shownStatus = deviceDeployment?.status ?? 'no device deployment';
  throw new StartStateNotReached(
    'an aborted deployment',
    `users see ${shownStatus}, and a report is answered with ${responseSummary(response)}`,
    'status 409',
    response.status === 204
      ? { operation: 'put-deployment-status', requirements: ['status.aborted-is-409'], response }
      : undefined,
  );
}

/** One deployment that has been offered to two of its devices. */
export interface SharedDeployment {
  readonly one: OfferedDeployment;
  readonly other: OfferedDeployment;
}

/** Arranges two accepted devices in one deployment, both of which have requested it. */
export async function sharedDeployment(context: TestContext): Promise<SharedDeployment> {
  const [device, secondDevice] = [await acceptedDevice(context), await acceptedDevice(context)];
  const artifact = await context.artifact('plain');
  const devices = [device.id, secondDevice.id];
  const { id, name } = await context.deploy({ artifact_name: artifact.name, devices });
  const common = { artifact, deploymentId: id, deploymentName: name };
  return {
    one: { ...common, device, id: await offeredId(context, device) },
    other: { ...common, device: secondDevice, id: await offeredId(context, secondDevice) },
  };
}

/** Returns the ID under which the device is offered its pending deployment. */
export async function offeredId(context: TestContext, device: SuiteDevice): Promise<string> {
  const poll = () => device.call('get-next-deployment', { query: factoryProvides });
  return instructedId(await requireOffer(context, 'get-next-deployment', poll));
}
