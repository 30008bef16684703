/**
 * One update from the offer to its end: download, install, reboot, commit, with the status of each
 * reported in order, the pauses that a control map asks for, and the log of a failure.
 * Spec: DeploymentStatus
 */

import type { DeploymentInstructionsV2 } from '../../fixtures/contract/resources.ts';
import type { ControlMapState } from '../../fixtures/contract/vocabulary.ts';
import { PowerLoss, UpdateFailure } from '../behaviours/behaviour.ts';
import { ClientError } from '../client/errors.ts';
import type { Session } from '../client/session.ts';
import { ControlMap } from './control-map.ts';
import {
  beginPart,
  type DeploymentPart,
  type Device,
  type Installed,
  isSettled,
} from './device.ts';
import { restUntilDue } from './due.ts';
import { type FetchedArtifact, fetchArtifact } from './fetch-artifact.ts';
import { DuringUpdate } from './moments.ts';
import { ownTimeMs } from './own-clock.ts';
import { persistently } from './persistence.ts';
import { withoutPower } from './power.ts';
import { UpdateLog } from './update-log.ts';
import { isFinal, nextUpdateState, type UpdateEvent, type UpdateState } from './update-states.ts';
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
  part.before = { provides: device.provides, configuration: device.configuration };
  enterUpdateState(subject, part, part.state);
  const run = new UpdateRun(subject, instructions, part);
  try {
    return await run.toItsEnd();
  } catch (error) {
    // It goes on as after any other restart.
    if (error instanceof PowerLoss) part.cutShort = !isSettled(part);
    throw error;
  } finally {
    if (isSettled(part)) settle(subject, part);
  }
}

/** What was installed before an update is of no use once the server knows how it ended. */
export function settle({ device, world }: UpdateSubject, part: DeploymentPart): void {
  part.before = undefined;
  part.after = undefined;
  world.settled(device, part);
  world.changed(device, part);
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

/**
 * Enters a state and reports it until the server has acknowledged it; a 409 makes the part aborted,
 * unless the device goes on all the same.
 * @throws ClientError when the report could not be made; FleetStopped
 */
export async function reportState(
  { device, session, world }: UpdateSubject,
  part: DeploymentPart,
  status: UpdateState,
): Promise<void> {
  if (status === 'offered' || status === 'aborted') return;
  enterUpdateState({ device, world }, part, status);
  part.unanswered = status;
  world.changed(device, part);
  const answer = await persistently(device, world, () =>
    world.client.reportStatus(session, part.deploymentId, { status }),
  );
  part.unanswered = undefined;
  part.refused = answer === 'aborted' ? status : undefined;
  const { hooks, parameters } = device.behaviour;
  if (answer === 'recorded') {
    if (part.reported.at(-1) !== status) part.reported.push(status);
  } else if (hooks.stopsWhenAborted?.(parameters) ?? true) {
    enterUpdateState({ device, world }, part, nextUpdateState(part.state, 'abort'));
  } else part.abortIgnored = true;
  world.changed(device, part);
}

/** The old artifact again. Even the report of a success can be answered with 409. */
export function rollBack({ device, world }: UpdateSubject, part: DeploymentPart): void {
  Object.assign(device, part.before);
  world.changed(device, part);
}

/** Whatever the device made of the 409, the server has it as aborted. */
export function ownUpToAbort({ device, world }: UpdateSubject, part: DeploymentPart): void {
  if (!part.abortIgnored || !isFinal(part.state)) return;
  enterUpdateState({ device, world }, part, nextUpdateState(part.state, 'abort'));
  world.changed(device, part);
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
  readonly #controlMap: ControlMap;
  readonly #moment: DuringUpdate;
  /** It runs on the new artifact, which is not yet there to stay. */
  #onTrial = false;

  constructor(
    subject: UpdateSubject,
    instructions: DeploymentInstructionsV2,
    part: DeploymentPart,
  ) {
    const { device, world } = subject;
    this.#subject = subject;
    this.#instructions = instructions;
    this.#part = part;
    this.#log = new UpdateLog(() => ownTimeMs(device, world));
    this.#controlMap = ControlMap.of(subject, instructions);
    this.#moment = new DuringUpdate({ subject, part, log: this.#log });
  }

  async toItsEnd(): Promise<boolean> {
    try {
      return await this.#toSuccess();
    } catch (error) {
      if (error instanceof UpdateFailure) await this.#fail(error);
      else if (error instanceof UpdateAborted) rollBack(this.#subject, this.#part);
      else throw error;
      return false;
    } finally {
      ownUpToAbort(this.#subject, this.#part);
    }
  }

  async #toSuccess(): Promise<boolean> {
    const { artifact_name: offered } = this.#instructions.artifact;
    const { device } = this.#subject;
    if (device.provides.artifact_name === offered) {
      await this.#advance('recognise');
      return false;
    }
    const does = (await device.behaviour.hooks.whenOffered?.(this.#moment)) ?? 'update';
    if (does === 'claim-success') {
      await this.#advance('claim');
      return false;
    }
    await this.#update();
    return true;
  }

  async #update(): Promise<void> {
    await this.#advance('download');
    const fetched = await fetchArtifact(this.#subject, {
      instructions: this.#instructions,
      log: this.#log,
      moment: this.#moment,
    });
    await this.#holdWhilePaused('ArtifactInstall_Enter', 'hold-install');
    await this.#advance('install');
    await this.#install();
    this.#part.after = this.#installedBy(fetched);
    if (fetched.settings === undefined) await this.#reboot();
    await this.#holdWhilePaused('ArtifactCommit_Enter', 'hold-commit');
    await this.#subject.device.behaviour.hooks.whileCommitting?.(this.#moment);
    Object.assign(this.#subject.device, this.#part.after);
    await this.#advance('commit');
  }

  async #install(): Promise<void> {
    const { device, world } = this.#subject;
    const { parameters, hooks } = device.behaviour;
    await world.rest(parameters.installMs / 2);
    await hooks.whileInstalling?.(this.#moment);
    await restUntilDue(device, world, parameters.installMs / 2);
  }

  /** The device is silent while it reboots, and signs in anew when it is up. */
  async #reboot(): Promise<void> {
    const { device, world } = this.#subject;
    const { parameters, hooks } = device.behaviour;
    await this.#holdWhilePaused('ArtifactReboot_Enter', 'hold-reboot');
    this.#onTrial = true;
    for (let reboots = 1; reboots <= REBOOTS_MAX; reboots++) {
      await this.#advance('reboot');
      await withoutPower(device, world, parameters.rebootMs);
      this.#moment.reboots = reboots;
      const isUp = (await hooks.afterReboot?.(this.#moment)) ?? 'up';
      if (isUp === 'up') return;
    }
    throw new UpdateFailure(`it did not come up in ${REBOOTS_MAX} boots`);
  }

  #installedBy({ provides, settings }: FetchedArtifact): Installed {
    return { provides, configuration: settings ?? this.#subject.device.configuration };
  }

  /** Waits as long as the control map says pause at this moment, asking for it at every poll. */
  async #holdWhilePaused(moment: ControlMapState, hold: UpdateEvent): Promise<void> {
    const { device, world } = this.#subject;
    for (let held = false; await this.#controlMap.holdsAt(moment); held = true) {
      if (!held) await this.#advance(hold);
      await restUntilDue(device, world, device.cohort.policy.pollIntervalMs);
    }
  }

  /** A device that runs on the new artifact boots into the old one before it tells of its failure. */
  async #backToOldArtifact(): Promise<void> {
    const { device, world } = this.#subject;
    if (!this.#onTrial) return;
    this.#log.add('warning', 'rolling back to the old artifact');
    await withoutPower(device, world, device.behaviour.parameters.rebootMs);
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
    const part = this.#part;
    const state = nextUpdateState(part.state, event);
    this.#log.add('debug', `state ${state}`);
    await reportState(this.#subject, part, state);
    if (isAborted(part)) throw new UpdateAborted('the server answered 409');
  }
}

function isAborted({ state }: DeploymentPart): boolean {
  return state === 'aborted';
}

/** Reboots of one update; no behaviour lets a device boot more often. */
const REBOOTS_MAX = 100;
