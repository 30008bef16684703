/**
 * What a device does after a restart with an update that the restart cut short: of the device, whose
 * power went, or of the simulator. What it had not begun to install it asks for again, and goes on
 * with what it had of the file; what it was installing is lost, so it rolls back and says so; a
 * reboot is what it was waiting for anyway; and a last report without an answer is made again.
 */
import { UpdateFailure } from '../behaviours/behaviour.ts';
import { ClientError } from '../client/errors.ts';
import { ControlMap } from './control-map.ts';
import { type DeploymentPart, isSettled } from './device.ts';
import { ownTimeMs } from './own-clock.ts';
import { persistently } from './persistence.ts';
import { UpdateLog } from './update-log.ts';
import { ownUpToAbort, reportState, rollBack, settle, type UpdateSubject } from './update-run.ts';
import { nextUpdateState, type UpdateState } from './update-states.ts';

type Recovery = (subject: UpdateSubject, part: DeploymentPart) => Promise<void>;

const askAgain: Recovery = async () => undefined;

const recoveries: Readonly<Record<UpdateState, Recovery>> = {
  offered: askAgain,
  downloading: askAgain,
  pause_before_installing: askAgain,
  installing: fail,
  // Installed but not yet booted into, or not committed: the boot loader goes back to the old one.
  pause_before_rebooting: fail,
  rebooting: comeUp,
  pause_before_committing: fail,
  success: reportAgain,
  failure: reportAgain,
  'already-installed': reportAgain,
  aborted: askAgain,
};

/**
 * Deals with every update that a restart cut short. To be called before the device asks for its
 * next deployment, again after a fault.
 * @throws ClientError when a report could not be made; FleetStopped
 */
export async function resumeUpdates(subject: UpdateSubject): Promise<void> {
  const { device } = subject;
  for (const part of device.parts) {
    if (!part.cutShort) continue;
    await recoveries[part.state](subject, part);
    ownUpToAbort(subject, part);
    part.cutShort = false;
    if (isSettled(part)) settle(subject, part);
  }
}

async function fail(subject: UpdateSubject, part: DeploymentPart): Promise<void> {
  const { device, world } = subject;
  const log = new UpdateLog(() => ownTimeMs(device, world));
  log.add('error', `the device restarted while the update was ${part.state}; it is rolled back`);
  await uploadLog(subject, part, log);
  rollBack(subject, part);
  await reportState(subject, part, nextUpdateState(part.state, 'fail'));
}

/** The device comes up into what it has installed, and commits it unless it is to wait. */
async function comeUp(subject: UpdateSubject, part: DeploymentPart): Promise<void> {
  const { device } = subject;
  const { after } = part;
  if (after === undefined) return fail(subject, part);
  if (part.unanswered) await reportState(subject, part, part.state);
  const action = await commitAction(subject, part);
  if (action === 'fail') return fail(subject, part);
  if (action === 'continue') {
    device.provides = after.provides;
    device.configuration = after.configuration;
    // The operator is to see what is new.
    device.inventoryDueMs = Number.NEGATIVE_INFINITY;
    await reportState(subject, part, nextUpdateState(part.state, 'commit'));
  }
  if (part.state === 'aborted') rollBack(subject, part);
}

async function reportAgain(subject: UpdateSubject, part: DeploymentPart): Promise<void> {
  await reportState(subject, part, part.state);
  if (part.state === 'aborted') rollBack(subject, part);
}

/** What the control map says once it no longer says pause; `stop` when the server does. */
async function commitAction(
  subject: UpdateSubject,
  part: DeploymentPart,
): Promise<'continue' | 'fail' | 'stop'> {
  const { device, world } = subject;
  const controlMap = ControlMap.afterRestart(subject, part);
  try {
    while (part.state !== 'aborted') {
      if (!(await controlMap.holdsAt('ArtifactCommit_Enter'))) return 'continue';
      if (part.state === 'rebooting') {
        await reportState(subject, part, nextUpdateState(part.state, 'hold-commit'));
      }
      await world.rest(device.cohort.policy.pollIntervalMs);
    }
    return 'stop';
  } catch (error) {
    if (!(error instanceof UpdateFailure)) throw error;
    return 'fail';
  }
}

/** A log that cannot be uploaded must not keep the failure from being reported. */
async function uploadLog(
  { device, session, world }: UpdateSubject,
  { deploymentId }: DeploymentPart,
  log: UpdateLog,
): Promise<void> {
  try {
    await persistently(device, world, () =>
      world.client.uploadLog(session, deploymentId, log.body()),
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    world.ledger.fault(error);
  }
}
