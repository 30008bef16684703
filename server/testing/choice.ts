/** What a device would be served, in a test of the store: the decision and its deployment. */
import { choosePart } from '../rules/part-choice.ts';
import type { DeploymentDeviceStore } from '../store/deployment-devices.ts';

/**
 * Returns, for example, `['begin', 'one']`; `['nothing']` when no deployment is open for the
 * device.
 */
export function choiceFor(
  parts: DeploymentDeviceStore,
  deviceId: string,
  nowMs = 99,
): readonly string[] {
  const { parts: open, lastFinishedSeq } = parts.open(deviceId);
  const choice = choosePart(open, { nowMs, lastFinishedSeq });
  return 'part' in choice ? [choice.decision, choice.part.deployment.id] : [choice.decision];
}
