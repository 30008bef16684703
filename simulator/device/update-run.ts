/**
 * Runs one update from its offer to its end: download, install, reboot and commit. Reports each
 * status in order, obeys the control map, and uploads the log of a failure.
 * Spec: DeploymentStatus
 */
import type { DeploymentInstructionsV2 } from '../../fixtures/contract/resources.ts';
import type { ControlMapState, ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import { ClientError, PowerLoss } from '../network/errors.ts';
import { ControlMap } from './control-map.ts';
import {
  beginDeployment,
  type DeploymentRecord,
  type DownloadedArtifact,
  isBeforeInstall,
  isSettled,
  softwareAfterCommit,
} from './device.ts';
import { deviceTimeMs, sleepUntilDue } from './device-time.ts';
import type { DeviceInRun } from './environment.ts';
import { fetchArtifact } from './fetch-artifact.ts';
import { DuringUpdateContext } from './hook-contexts.ts';
import { losePower } from './power.ts';
import { withRetries } from './retries.ts';
import { UpdateLog } from './update-log.ts';
import { isFinal, nextUpdateState, type UpdateEvent, type UpdateState } from './update-states.ts';

/**
 * Runs one update and stores its result in the device.
 * @returns true when something was installed
 * @throws ClientError when a report could not be sent; FleetStopped
 */
export async function runUpdate(
  subject: DeviceInRun,
  instructions: DeploymentInstructionsV2,
): Promise<boolean> {
  const { device, environment } = subject;
  const deployment = beginDeployment(device, instructions.id, instructions.artifact.artifact_name);
  deployment.offeredMs ??= environment.clock.now();
  if (deployment.state === 'offered') {
    deployment.stateSinceMs = undefined;
    deployment.reboots = 0;
    deployment.downloadedArtifact = undefined;
    deployment.previousSoftware = {
      provides: device.provides,
      configuration: device.configuration,
    };
    enterUpdateState(subject, deployment, deployment.state);
  }
  return runToEnd(subject, deployment, new UpdateRun(subject, deployment, instructions));
}

/**
 * Continues an update from the state that it had at the end of an earlier run. Its artifact must be
 * complete.
 * @returns true when something was installed
 * @throws ClientError when a report could not be sent; FleetStopped
 */
export async function continueUpdate(
  subject: DeviceInRun,
  deployment: DeploymentRecord,
): Promise<boolean> {
  return runToEnd(subject, deployment, new UpdateRun(subject, deployment));
}

async function runToEnd(
  subject: DeviceInRun,
  deployment: DeploymentRecord,
  run: UpdateRun,
): Promise<boolean> {
  try {
    return await run.finish();
  } catch (error) {
    // The device handles this interruption when its power returns.
    if (error instanceof PowerLoss && !isSettled(deployment)) {
      deployment.interruptedBy = 'power';
      subject.environment.recordChange(subject.device, deployment);
    }
    throw error;
  } finally {
    if (isSettled(deployment)) deleteUpdateData(subject, deployment);
  }
}

/**
 * Deletes the data for a rollback and a download, which are not needed once the server knows the
 * outcome.
 */
export function deleteUpdateData(
  { device, environment }: DeviceInRun,
  deployment: DeploymentRecord,
): void {
  deployment.previousSoftware = undefined;
  deployment.downloadedArtifact = undefined;
  environment.downloads?.forget(device);
  environment.recordSettled(device, deployment);
  environment.recordChange(device, deployment);
}

/** Sets the state of a deployment on a device and emits the event. */
export function enterUpdateState(
  { device, environment }: Pick<DeviceInRun, 'device' | 'environment'>,
  deployment: DeploymentRecord,
  state: UpdateState,
): void {
  const nowMs = environment.clock.now();
  const { deploymentId, artifactName, stateSinceMs } = deployment;
  if (stateSinceMs !== undefined)
    environment.metrics.updates.recordStatus(deployment.state, nowMs - stateSinceMs);
  deployment.stateSinceMs = nowMs;
  deployment.state = state;
  environment.events.emit({
    kind: 'update',
    device: device.index,
    deploymentId,
    artifactName,
    state,
  });
}

/**
 * Enters a state and reports it until the server has acknowledged it. A 409 makes the state
 * `aborted`, unless the device's behaviour continues aborted updates.
 * @throws ClientError when the report could not be sent; FleetStopped
 */
export async function reportState(
  subject: DeviceInRun,
  deployment: DeploymentRecord,
  status: UpdateState,
): Promise<void> {
  if (status === 'offered' || status === 'aborted') return;
  enterUpdateState(subject, deployment, status);
  await reportStatus(subject, deployment, status);
}

async function reportStatus(
  { device, session, environment }: DeviceInRun,
  deployment: DeploymentRecord,
  status: ReportableStatus,
): Promise<void> {
  deployment.unacknowledgedStatus = status;
  environment.recordChange(device, deployment);
  const response = await withRetries(device, environment, () =>
    environment.client.reportStatus(session, deployment.deploymentId, { status }),
  );
  deployment.unacknowledgedStatus = undefined;
  deployment.refusedStatus = response === 'aborted' ? status : undefined;
  const { hooks, parameters } = device.behaviour;
  if (response === 'recorded') {
    if (deployment.reported.at(-1) !== status) deployment.reported.push(status);
  } else if (hooks.stopsWhenAborted?.(parameters) ?? true) {
    enterUpdateState(
      { device, environment },
      deployment,
      nextUpdateState(deployment.state, 'abort'),
    );
  } else deployment.abortIgnored = true;
  environment.recordChange(device, deployment);
}

/**
 * Restores what was installed before the update. This can be necessary even after success, because
 * the server can answer the final report with 409.
 */
export function rollBack({ device, environment }: DeviceInRun, deployment: DeploymentRecord): void {
  Object.assign(device, deployment.previousSoftware);
  environment.recordChange(device, deployment);
}

/**
 * Sets the state to `aborted` at the end of an update that the device continued after a 409,
 * because that is the status on the server.
 */
export function recordAbort(
  { device, environment }: DeviceInRun,
  deployment: DeploymentRecord,
): void {
  if (!deployment.abortIgnored || !isFinal(deployment.state)) return;
  enterUpdateState({ device, environment }, deployment, nextUpdateState(deployment.state, 'abort'));
  environment.recordChange(device, deployment);
}

/** Thrown when the server answers a status report with 409, to end the update. */
class UpdateAborted extends Error {
  override readonly name = 'UpdateAborted';
}

class UpdateRun {
  readonly #subject: DeviceInRun;
  /** Undefined for an update that already has its artifact. */
  readonly #instructions: DeploymentInstructionsV2 | undefined;
  readonly #deployment: DeploymentRecord;
  readonly #log: UpdateLog;
  readonly #controlMap: ControlMap;
  readonly #context: DuringUpdateContext;
  /** The state at the start of this run, if the server had acknowledged it; undefined otherwise. */
  #found: UpdateState | undefined;

  constructor(
    subject: DeviceInRun,
    deployment: DeploymentRecord,
    instructions?: DeploymentInstructionsV2,
  ) {
    const { device, environment } = subject;
    this.#subject = subject;
    this.#instructions = instructions;
    this.#deployment = deployment;
    this.#log = new UpdateLog(() => deviceTimeMs(device, environment));
    this.#controlMap = instructions
      ? ControlMap.of(subject, instructions)
      : ControlMap.afterRestart(subject, deployment);
    this.#context = new DuringUpdateContext({ subject, deployment, log: this.#log });
  }

  async finish(): Promise<boolean> {
    try {
      return await this.#runSteps();
    } catch (error) {
      if (error instanceof UpdateFailure) await this.#fail(error);
      else if (error instanceof UpdateAborted) rollBack(this.#subject, this.#deployment);
      else throw error;
      return false;
    } finally {
      recordAbort(this.#subject, this.#deployment);
    }
  }

  async #runSteps(): Promise<boolean> {
    const { device } = this.#subject;
    if (this.#deployment.state !== 'offered') await this.#takeUpAgain();
    else {
      if (device.provides.artifact_name === this.#deployment.artifactName) {
        await this.#advance('recognise');
        return false;
      }
      const decision = (await device.behaviour.hooks.whenOffered?.(this.#context)) ?? 'update';
      if (decision === 'claim-success') {
        await this.#advance('claim');
        return false;
      }
      await this.#advance('download');
    }
    await this.#update();
    return true;
  }

  /**
   * Prepares an update that an earlier run left unfinished. Repeats the last report when it is
   * unknown whether the server received it.
   */
  async #takeUpAgain(): Promise<void> {
    const deployment = this.#deployment;
    this.#log.add('debug', `continues in state ${deployment.state}`);
    if (deployment.unacknowledgedStatus === undefined) this.#found = deployment.state;
    // The report of a reboot is repeated where the reboot starts.
    if (deployment.unacknowledgedStatus === undefined || deployment.state === 'rebooting') return;
    await reportStatus(this.#subject, deployment, deployment.unacknowledgedStatus);
    if (isAborted(deployment)) throw new UpdateAborted('the server answered with 409');
  }

  /** Runs the steps that follow the current state. */
  async #update(): Promise<void> {
    const { device } = this.#subject;
    const deployment = this.#deployment;
    const artifact = deployment.downloadedArtifact ?? (await this.#fetch());
    if (isBeforeInstall(deployment) || deployment.state === 'pause_before_installing') {
      await this.#waitWhilePaused('ArtifactInstall_Enter', 'hold-install');
      await this.#advance('install');
    }
    if (deployment.state === 'installing') await this.#install();
    if (artifact.settings === undefined) await this.#reboot();
    await this.#waitWhilePaused('ArtifactCommit_Enter', 'hold-commit');
    await device.behaviour.hooks.whileCommitting?.(this.#context);
    Object.assign(device, softwareAfterCommit(artifact, device));
    await this.#advance('commit');
  }

  async #fetch(): Promise<DownloadedArtifact> {
    const { device, environment } = this.#subject;
    const instructions = this.#instructions;
    if (instructions === undefined) throw new Error('an update without a link to its artifact');
    const fetching = { instructions, log: this.#log, context: this.#context };
    const artifact = await fetchArtifact(this.#subject, fetching);
    this.#deployment.downloadedArtifact = artifact;
    if (environment.downloads === undefined) return artifact;
    // Delete the file only after the downloaded state has been stored.
    environment.recordChange(device, this.#deployment);
    environment.downloads.forget(device);
    return artifact;
  }

  async #install(): Promise<void> {
    const { device, environment } = this.#subject;
    const { parameters, hooks } = device.behaviour;
    const { stateSinceMs } = this.#deployment;
    const isInProgress = this.#found === 'installing' && stateSinceMs !== undefined;
    const doneMs = isInProgress ? Math.max(0, environment.clock.now() - stateSinceMs) : 0;
    const halfMs = parameters.installMs / 2;
    await environment.sleep(Math.max(0, halfMs - doneMs));
    await hooks.whileInstalling?.(this.#context);
    await sleepUntilDue(device, environment, Math.min(halfMs, Math.max(0, 2 * halfMs - doneMs)));
  }

  /**
   * Reboots as often as the behaviour requires. The device is silent during a reboot and
   * authenticates again afterwards.
   */
  async #reboot(): Promise<void> {
    const { device, environment } = this.#subject;
    const { parameters, hooks } = device.behaviour;
    const deployment = this.#deployment;
    if (deployment.state === 'pause_before_committing') return;
    // The device was already rebooting when the earlier run ended, and has power again by now.
    let isDown = this.#found === 'rebooting';
    if (deployment.state !== 'rebooting')
      await this.#waitWhilePaused('ArtifactReboot_Enter', 'hold-reboot');
    for (deployment.reboots ||= 1; deployment.reboots <= REBOOTS_MAX; deployment.reboots++) {
      if (!isDown) {
        await this.#advance('reboot');
        await losePower(device, environment, parameters.rebootMs);
      }
      isDown = false;
      this.#context.reboots = deployment.reboots;
      const isUp = (await hooks.afterReboot?.(this.#context)) ?? 'up';
      if (isUp === 'up') return;
    }
    throw new UpdateFailure(`it did not come up in ${REBOOTS_MAX} boots`);
  }

  /** Waits while the control map pauses this state. The map is fetched once per poll interval. */
  async #waitWhilePaused(context: ControlMapState, hold: UpdateEvent): Promise<void> {
    const { device, environment } = this.#subject;
    let isPauseReported = this.#deployment.state.startsWith('pause_');
    for (; await this.#controlMap.isPausedAt(context); isPauseReported = true) {
      if (!isPauseReported) await this.#advance(hold);
      await sleepUntilDue(device, environment, device.cohort.policy.pollIntervalMs);
    }
  }

  /**
   * Reboots into the old artifact before the failure is reported, if the device has booted the new
   * one.
   */
  async #backToOldArtifact(): Promise<void> {
    const { device, environment } = this.#subject;
    if (this.#deployment.reboots === 0) return;
    this.#log.add('warning', 'rolling back to the old artifact');
    await losePower(device, environment, device.behaviour.parameters.rebootMs);
  }

  async #fail(failure: UpdateFailure): Promise<void> {
    this.#log.add('error', failure.message);
    await this.#backToOldArtifact();
    await this.#uploadLog();
    try {
      await this.#advance('fail');
    } catch (error) {
      if (!(error instanceof UpdateAborted)) throw error;
    }
  }

  /**
   * Uploads the log. An error is counted but not thrown, because the failure must still be
   * reported.
   */
  async #uploadLog(): Promise<void> {
    const { device, session, environment } = this.#subject;
    const { deploymentId } = this.#deployment;
    try {
      await withRetries(device, environment, () =>
        environment.client.uploadLog(session, deploymentId, this.#log.body()),
      );
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      environment.metrics.countError(error);
    }
  }

  /** Enters the next state and reports it until the server has acknowledged it. */
  async #advance(event: UpdateEvent): Promise<void> {
    const deployment = this.#deployment;
    const state = nextUpdateState(deployment.state, event);
    this.#log.add('debug', `state ${state}`);
    await reportState(this.#subject, deployment, state);
    if (isAborted(deployment)) throw new UpdateAborted('the server answered with 409');
  }
}

function isAborted({ state }: DeploymentRecord): boolean {
  return state === 'aborted';
}

/** Maximum number of reboots in one update, against a behaviour that never comes up. */
const REBOOTS_MAX = 100;
