/** The life of a deployment on one device: what it reports, what users see, how it is called off. */

import type { Answer } from '../target/answer.ts';
import { NotObservable } from '../target/expectations.ts';
import {
  acceptedDevice,
  factoryProvides,
  instructedId,
  needStatus,
  type OfferedDeployment,
  StartStateMissed,
} from './start-states.ts';
import type { SuiteDevice } from './suite-device.ts';
import type { DevicePart } from './target-admin.ts';
import type { TestContext } from './test-context.ts';

/** A device, and the id by which it speaks of its deployment. */
export interface Reporter {
  readonly device: SuiteDevice;
  readonly id: string;
}

/** Reports with that body, as the device. */
export function report({ device, id }: Reporter, body: unknown): Promise<Answer> {
  return device.call('put-deployment-status', { path: { id }, body });
}

/** Brings the deployment into the state that comes of these reports, on the way to a start. */
export async function reportOnTheWay(
  arranged: Reporter,
  ...statuses: readonly string[]
): Promise<void> {
  for (const status of statuses) {
    needStatus(`a report of ${status}`, await report(arranged, { status }), 204);
  }
}

/** What users see of the device's part, once it is in that status or the wait is over. */
function shownPart(
  context: TestContext,
  { deploymentId, device }: Pick<OfferedDeployment, 'deploymentId' | 'device'>,
  ...statuses: readonly string[]
): Promise<DevicePart | undefined> {
  return context.settled(
    () => context.admin.devicePart(deploymentId, device.id),
    (part) => part !== undefined && statuses.includes(part.status),
  );
}

/** The status that users see; throws NotObservable when they see no part of the device. */
export async function shownStatus(
  context: TestContext,
  arranged: Pick<OfferedDeployment, 'deploymentId' | 'device'>,
  ...statuses: readonly string[]
): Promise<string> {
  const part = await shownPart(context, arranged, ...statuses);
  if (!part) throw new NotObservable('users do not see the deployment of the device');
  return part.status;
}

/** Aborts the deployment, and waits until users see it aborted on the device. */
export async function abortOnTheWay(
  context: TestContext,
  arranged: OfferedDeployment,
): Promise<void> {
  await context.admin.abort(arranged.deploymentId);
  const part = await shownPart(context, arranged, 'aborted');
  if (part?.status === 'aborted') return;
  throw new StartStateMissed(
    'an aborted deployment',
    `users see ${part?.status ?? 'no device deployment'}`,
  );
}

/** One deployment, and two devices of it that have both been offered it. */
export interface SharedDeployment {
  readonly one: OfferedDeployment;
  readonly other: OfferedDeployment;
}

/** Two accepted devices in one deployment, both of which have asked for it. */
export async function sharedDeployment(context: TestContext): Promise<SharedDeployment> {
  const [device, second] = [await acceptedDevice(context), await acceptedDevice(context)];
  const artifact = await context.artifact('plain');
  const devices = [device.id, second.id];
  const { id, name } = await context.deploy({ artifact_name: artifact.name, devices });
  const common = { artifact, deploymentId: id, deploymentName: name };
  return {
    one: { ...common, device, id: await offeredId(device) },
    other: { ...common, device: second, id: await offeredId(second) },
  };
}

/** The id under which the device is offered what waits for it. */
export async function offeredId(device: SuiteDevice): Promise<string> {
  return instructedId(await device.call('get-next-deployment', { query: factoryProvides }));
}
