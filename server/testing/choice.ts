/**
 * The choice of a device's next deployment in tests of the store: the decision and its deployment.
 */
import { chooseDeviceDeployment } from '../rules/device-deployment-choice.ts';
import type { DeviceDeploymentStore } from '../store/device-deployments.ts';

/**
 * Returns the choice, for example `['offer', 'one']`, or `['nothing']` when no deployment is open
 * for the device.
 */
export function choiceFor(
  deviceDeployments: DeviceDeploymentStore,
  deviceId: string,
  nowMs = 99,
): readonly string[] {
  const { deviceDeployments: open, lastFinishedSeq } = deviceDeployments.listOpen(deviceId);
  const choice = chooseDeviceDeployment(open, { nowMs, lastFinishedSeq });
  return 'deviceDeployment' in choice
    ? [choice.decision, choice.deviceDeployment.deployment.id]
    : [choice.decision];
}
