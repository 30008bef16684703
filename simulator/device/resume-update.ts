/**
 * Handles interrupted updates. After the end of a run, an update continues in the state that it
 * had, as if no time had passed. After a power loss, the outcome depends on the state: an update
 * that was not installing is offered again and resumes its download; an interrupted installation is
 * rolled back and reported as a failure; an interrupted reboot counts as completed; and an
 * unacknowledged final report is repeated.
 */
import { UpdateFailure } from '../behaviours/behaviour.ts';
import { ClientError } from '../network/errors.ts';
import { ControlMap } from './control-map.ts';
import {
  type DeploymentRecord,
  isBeforeInstall,
  isSettled,
  softwareAfterCommit,
} from './device.ts';
import { deviceTimeMs } from './device-time.ts';
import type { DeviceInRun } from './environment.ts';
import { withRetries } from './retries.ts';
import { UpdateLog } from './update-log.ts';
import {
  continueUpdate,
  deleteUpdateData,
  recordAbort,
  reportState,
  rollBack,
} from './update-run.ts';
import { isFinal, nextUpdateState, type UpdateState } from './update-states.ts';

type Recovery = (subject: DeviceInRun, deployment: DeploymentRecord) => Promise<void>;

const pollAgain: Recovery = async () => undefined;

const recoveries: Readonly<Record<UpdateState, Recovery>> = {
  offered: pollAgain,
  downloading: pollAgain,
  pause_before_installing: pollAgain,
  installing: failDeployment,
  // The artifact is installed but not committed, so the boot loader starts the old one.
  pause_before_rebooting: failDeployment,
  rebooting: completeReboot,
  pause_before_committing: failDeployment,
  success: reportAgain,
  failure: reportAgain,
  'already-installed': reportAgain,
  aborted: pollAgain,
};

/**
 * Handles every interrupted update. Call it before the device polls, and again after an error.
 * @returns true when something was installed, so that the inventory must be sent
 * @throws ClientError when a report could not be sent; FleetStopped
 */
export async function resumeUpdates(subject: DeviceInRun): Promise<boolean> {
  const { device } = subject;
  let isNew = false;
  for (const deployment of device.deployments) {
    if (
      deployment.interruptedBy === 'simulator' &&
      deployment.downloadedArtifact &&
      !isFinal(deployment.state)
    ) {
      isNew = (await continueUpdate(subject, deployment)) || isNew;
      deployment.interruptedBy = undefined;
    } else if (deployment.interruptedBy === 'simulator' && isBeforeInstall(deployment)) {
      // The download link may have expired, so the update waits for the next offer, with a new
      // link.
      if (!(await stillDownloads(subject, deployment))) deployment.interruptedBy = undefined;
    } else if (deployment.interruptedBy) {
      await recoveries[deployment.state](subject, deployment);
      recordAbort(subject, deployment);
      deployment.interruptedBy = undefined;
      if (isSettled(deployment)) deleteUpdateData(subject, deployment);
    }
  }
  return isNew;
}

/**
 * Reports the state again and returns false when the deployment was aborted meanwhile. The server
 * no longer offers an aborted deployment, so only its response to a report shows the abort.
 */
async function stillDownloads(
  subject: DeviceInRun,
  deployment: DeploymentRecord,
): Promise<boolean> {
  await reportState(subject, deployment, deployment.state);
  recordAbort(subject, deployment);
  if (!isSettled(deployment)) return true;
  rollBack(subject, deployment);
  deleteUpdateData(subject, deployment);
  return false;
}

async function failDeployment(subject: DeviceInRun, deployment: DeploymentRecord): Promise<void> {
  const { device, environment } = subject;
  const log = new UpdateLog(() => deviceTimeMs(device, environment));
  log.add(
    'error',
    `the device restarted while the update was ${deployment.state}; the update is rolled back`,
  );
  await uploadLog(subject, deployment, log);
  rollBack(subject, deployment);
  await reportState(subject, deployment, nextUpdateState(deployment.state, 'fail'));
}

/**
 * Completes a reboot: commits the installed artifact unless the control map pauses or stops the
 * update.
 */
async function completeReboot(subject: DeviceInRun, deployment: DeploymentRecord): Promise<void> {
  const { device } = subject;
  const { downloadedArtifact } = deployment;
  if (downloadedArtifact === undefined) return failDeployment(subject, deployment);
  if (deployment.unacknowledgedStatus) await reportState(subject, deployment, deployment.state);
  const action = await commitAction(subject, deployment);
  if (action === 'fail') return failDeployment(subject, deployment);
  if (action === 'continue') {
    Object.assign(device, softwareAfterCommit(downloadedArtifact, device));
    // The inventory is due now, so that it shows the new artifact.
    device.inventoryDueMs = Number.NEGATIVE_INFINITY;
    await reportState(subject, deployment, nextUpdateState(deployment.state, 'commit'));
  }
  if (deployment.state === 'aborted') rollBack(subject, deployment);
}

async function reportAgain(subject: DeviceInRun, deployment: DeploymentRecord): Promise<void> {
  await reportState(subject, deployment, deployment.state);
  if (deployment.state === 'aborted') rollBack(subject, deployment);
}

/**
 * Waits while the control map's action is `pause`, and returns the final action; `stop` when the
 * update is aborted.
 */
async function commitAction(
  subject: DeviceInRun,
  deployment: DeploymentRecord,
): Promise<'continue' | 'fail' | 'stop'> {
  const { device, environment } = subject;
  const controlMap = ControlMap.afterRestart(subject, deployment);
  try {
    while (deployment.state !== 'aborted') {
      if (!(await controlMap.isPausedAt('ArtifactCommit_Enter'))) return 'continue';
      if (deployment.state === 'rebooting') {
        await reportState(subject, deployment, nextUpdateState(deployment.state, 'hold-commit'));
      }
      await environment.sleep(device.cohort.policy.pollIntervalMs);
    }
    return 'stop';
  } catch (error) {
    if (!(error instanceof UpdateFailure)) throw error;
    return 'fail';
  }
}

/**
 * Uploads the log. An error is counted but not thrown, because the failure must still be reported.
 */
async function uploadLog(
  { device, session, environment }: DeviceInRun,
  { deploymentId }: DeploymentRecord,
  log: UpdateLog,
): Promise<void> {
  try {
    await withRetries(device, environment, () =>
      environment.client.uploadLog(session, deploymentId, log.body()),
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    environment.metrics.countError(error);
  }
}
