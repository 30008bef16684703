/**
 * One update from the offer to its end: download, install, reboot, commit, with the status of each
 * reported in order, the pauses that a control map asks for, and the log of a failure.
 * Spec: DeploymentStatus
 */

import type {
  DeploymentInstructionsV2,
  UpdateControlMap,
} from '../../fixtures/contract/resources.ts';
import type { ControlMapState } from '../../fixtures/contract/vocabulary.ts';
import type { ArtifactContents } from '../../fixtures/formats/mender-artifact.ts';
import { providesAfterInstall } from '../../fixtures/formats/mender-artifact-provides.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import { ClientError } from '../client/errors.ts';
import type { Session } from '../client/session.ts';
import { configurationIn } from './configuration.ts';
import { beginPart, type DeploymentPart, type Device, isSettled } from './device.ts';
import { fetchArtifact } from './fetch-artifact.ts';
import { persistently } from './persistence.ts';
import { UpdateLog } from './update-log.ts';
import { nextUpdateState, type UpdateEvent, type UpdateState } from './update-states.ts';
import type { World } from './world.ts';

/**
 * Lives through one update and leaves its result in the device.
 * @returns whether something was installed
 * @throws ClientError when a report could not be made; FleetStopped
 */
export async function runUpdate(
  subject: UpdateSubject,
  instructions: DeploymentInstructionsV2,
): Promise<boolean> {
  const { device, world } = subject;
  const part = beginPart(device, instructions.id, instructions.artifact.artifact_name);
  part.offeredMs ??= world.clock.now();
  part.stateSinceMs = undefined;
  enterUpdateState(subject, part, part.state);
  const run = new UpdateRun(subject, instructions, part);
  try {
    return await run.toItsEnd();
  } finally {
    if (isSettled(part)) world.settled(device, part);
  }
}

/** Notes that a device's part has come to a state, and tells it. */
export function enterUpdateState(
  { device, world }: Pick<UpdateSubject, 'device' | 'world'>,
  part: DeploymentPart,
  state: UpdateState,
): void {
  const nowMs = world.clock.now();
  const { deploymentId, artifactName, stateSinceMs } = part;
  if (stateSinceMs !== undefined) world.ledger.updates.stageEnded(part.state, nowMs - stateSinceMs);
  part.stateSinceMs = nowMs;
  part.state = state;
  world.events.emit({ kind: 'update', device: device.index, deploymentId, artifactName, state });
}

/** Whose update it is. */
export interface UpdateSubject {
  readonly device: Device;
  readonly session: Session;
  readonly world: World;
}

/** The 409 to a status report: nothing more is to be done. */
class UpdateAborted extends Error {
  override readonly name = 'UpdateAborted';
}

class UpdateRun {
  readonly #subject: UpdateSubject;
  readonly #instructions: DeploymentInstructionsV2;
  readonly #part: DeploymentPart;
  readonly #log: UpdateLog;
  readonly #before: Pick<Device, 'provides' | 'configuration'>;

  constructor(
    subject: UpdateSubject,
    instructions: DeploymentInstructionsV2,
    part: DeploymentPart,
  ) {
    this.#subject = subject;
    this.#instructions = instructions;
    this.#part = part;
    this.#log = new UpdateLog(subject.world.clock);
    const { provides, configuration } = subject.device;
    this.#before = { provides, configuration };
  }

  async toItsEnd(): Promise<boolean> {
    const { artifact_name: offered } = this.#instructions.artifact;
    const { device } = this.#subject;
    try {
      if (device.provides.artifact_name === offered) {
        await this.#advance('recognise');
        return false;
      }
      await this.#update();
      return true;
    } catch (error) {
      if (error instanceof UpdateFailure) await this.#fail(error);
      else if (error instanceof UpdateAborted) this.#rollBack();
      else throw error;
      return false;
    }
  }

  /** Even the report of a success can be answered with 409. */
  #rollBack(): void {
    const { device, world } = this.#subject;
    device.provides = this.#before.provides;
    device.configuration = this.#before.configuration;
    world.changed(device, this.#part);
  }

  async #update(): Promise<void> {
    await this.#advance('download');
    const contents = await fetchArtifact(this.#subject, this.#instructions);
    this.#log.add('info', `downloaded ${contents.name}, ${contents.sizeBytes} bytes`);
    await this.#holdWhilePaused('ArtifactInstall_Enter', 'hold-install');
    await this.#advance('install');
    await this.#install();
    const settings = configurationIn(contents);
    if (settings === undefined) await this.#reboot();
    await this.#holdWhilePaused('ArtifactCommit_Enter', 'hold-commit');
    this.#commit(contents, settings);
    await this.#advance('commit');
  }

  async #install(): Promise<void> {
    const { device, world } = this.#subject;
    const { parameters, hooks } = device.behaviour;
    await world.rest(parameters.installMs / 2);
    await hooks.whileInstalling?.({
      log: (level, message) => this.#log.add(level, message),
      askForAbort: () => {
        this.#part.abortAsked = true;
        return world.abortDevice(device);
      },
    });
    await world.rest(parameters.installMs / 2);
  }

  async #reboot(): Promise<void> {
    const { device, world } = this.#subject;
    await this.#holdWhilePaused('ArtifactReboot_Enter', 'hold-reboot');
    await this.#advance('reboot');
    await world.rest(device.behaviour.parameters.rebootMs);
  }

  #commit(contents: ArtifactContents, settings: Record<string, string> | undefined): void {
    const { device } = this.#subject;
    const { device_type } = device.provides;
    const provides = providesAfterInstall(device.provides, contents);
    device.provides = { ...provides, device_type, artifact_name: contents.name };
    if (settings !== undefined) device.configuration = settings;
  }

  /** Waits as long as the control map says pause at this moment, asking for it at every poll. */
  async #holdWhilePaused(moment: ControlMapState, hold: UpdateEvent): Promise<void> {
    const { device, world } = this.#subject;
    let map = this.#instructions.artifact.update_control_map;
    for (let held = false; this.#mustPause(map, moment); held = true) {
      if (!held) await this.#advance(hold);
      await world.rest(device.cohort.policy.pollIntervalMs);
      map = await this.#controlMap();
    }
  }

  #mustPause(map: UpdateControlMap | undefined, moment: ControlMapState): boolean {
    const action = map?.states?.[moment]?.action || 'continue';
    if (action === 'pause') return true;
    if (action === 'continue' || action === 'force_continue') return false;
    const said = action === 'fail' ? 'says fail' : `asks for the unknown action "${action}"`;
    throw new UpdateFailure(`the update control map ${said} at ${moment}`);
  }

  /** A deployment that is gone answers the next report with 409; until then nothing holds it. */
  async #controlMap(): Promise<UpdateControlMap | undefined> {
    const { device, session, world } = this.#subject;
    const { deploymentId } = this.#part;
    const map = await persistently(device, world, () =>
      world.client.controlMap(session, deploymentId),
    );
    return map === 'gone' ? undefined : map;
  }

  async #fail(failure: UpdateFailure): Promise<void> {
    this.#log.add('error', failure.message);
    await this.#uploadLog();
    try {
      await this.#advance('fail');
    } catch (error) {
      if (!(error instanceof UpdateAborted)) throw error;
    }
  }

  /** A log that cannot be uploaded must not keep the failure from being reported. */
  async #uploadLog(): Promise<void> {
    const { device, session, world } = this.#subject;
    const { deploymentId } = this.#part;
    try {
      await persistently(device, world, () =>
        world.client.uploadLog(session, deploymentId, this.#log.body()),
      );
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      world.ledger.fault(error);
    }
  }

  /** Enters the next state and reports it until the server has acknowledged it. */
  async #advance(event: UpdateEvent): Promise<void> {
    const { device, session, world } = this.#subject;
    const part = this.#part;
    const status = nextUpdateState(part.state, event);
    if (status === 'offered' || status === 'aborted') return;
    enterUpdateState(this.#subject, part, status);
    part.unanswered = status;
    world.changed(device, part);
    this.#log.add('debug', `state ${status}`);
    const answer = await persistently(device, world, () =>
      world.client.reportStatus(session, part.deploymentId, { status }),
    );
    part.unanswered = undefined;
    if (answer === 'aborted') {
      enterUpdateState(this.#subject, part, nextUpdateState(part.state, 'abort'));
      world.changed(device, part);
      throw new UpdateAborted('the server answered 409');
    }
    if (part.reported.at(-1) !== status) part.reported.push(status);
    world.changed(device, part);
  }
}
