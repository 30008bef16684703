/**
 * The life of one device: it signs in, does its duties, sends its inventory, asks for its next
 * deployment, and waits; over and over until the run ends.
 */
import { ClientError } from '../client/errors.ts';
import { deviceCaller, newSession, tokenSubject } from '../client/session.ts';
import { idDataOf } from '../identity/identity.ts';
import { beginPart, type Device } from './device.ts';
import { duties } from './duties.ts';
import { inventoryOf } from './inventory.ts';
import { type LifeEvent, nextLifeState } from './life-states.ts';
import { isRefusedContact, waitAfterMs } from './persistence.ts';
import { enterUpdateState, runUpdate, type UpdateSubject } from './update-run.ts';
import type { Target, World } from './world.ts';

/**
 * Lives until the run ends.
 * @param startsAfterMs wait before the first contact
 * @throws FleetStopped, always, unless the simulator itself is at fault
 */
export async function live(device: Device, world: World, startsAfterMs: number): Promise<never> {
  const { clock } = world;
  const dueMs = clock.monotonicMs() + startsAfterMs;
  await world.rest(startsAfterMs);
  const lateMs = clock.monotonicMs() - dueMs;
  const key = await world.keyFor(device);
  const session = newSession(deviceCaller(device.index), idDataOf(device.idData), key);
  device.session = session;
  // Making a key takes the simulator's time, not the device's.
  session.plannedMs = clock.monotonicMs() - lateMs;
  for (;;) {
    const waitMs = await oneCycle({ device, session, world });
    session.plannedMs = clock.monotonicMs() + waitMs;
    await world.rest(waitMs, device);
  }
}

/** One round of everything; returns how long to wait before the next, in milliseconds. */
async function oneCycle(subject: UpdateSubject): Promise<number> {
  const { device, world } = subject;
  try {
    await signInIfNeeded(subject);
    await doDuties(subject);
    await sendDueInventory(subject);
    await updateIfDue(subject);
    device.failuresInRow = 0;
    return world.untilNextPollMs(device);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return afterFault(error, subject);
  }
}

async function signInIfNeeded(subject: UpdateSubject): Promise<void> {
  const { device, session, world } = subject;
  if (session.token !== undefined) return;
  await world.client.signIn(session);
  enter(subject, 'answered');
  device.id ??= tokenSubject(session.token ?? '');
  world.changed(device);
}

async function doDuties(subject: UpdateSubject): Promise<void> {
  const { device, session, world } = subject;
  for (const duty of duties.slice(device.dutiesDone)) {
    await asChore(subject, () => duty(device, session, world));
    device.dutiesDone++;
    world.changed(device);
  }
}

async function sendDueInventory(subject: UpdateSubject): Promise<void> {
  const { device, world } = subject;
  if (world.clock.now() < device.inventoryDueMs) return;
  await sendInventory(subject);
  device.inventoryDueMs = world.clock.now() + device.cohort.policy.inventoryIntervalMs;
}

function sendInventory(subject: UpdateSubject): Promise<void> {
  const { device, session, world } = subject;
  return asChore(subject, () => world.client.sendInventory(session, inventoryOf(device)));
}

/**
 * Does something that the update does not depend on: a refusal is counted and left at that. A
 * server that cannot be reached, or asks for quiet, stops the whole cycle.
 */
async function asChore({ world }: UpdateSubject, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const refused = error instanceof ClientError && !error.passing && !isRefusedContact(error);
    if (!refused) throw error;
    world.ledger.fault(error);
  }
}

async function updateIfDue(subject: UpdateSubject): Promise<void> {
  const { device, session, world } = subject;
  const target = world.target();
  const instructions = await world.client.nextDeployment(session, device.provides);
  enter(subject, 'answered');
  if (instructions === undefined) return noteNothingDue(subject, target);
  enter(subject, 'offered');
  try {
    const settings = device.configuration;
    if (await runUpdate(subject, instructions)) await tellWhatIsNew(subject, settings);
  } finally {
    enter(subject, 'ended');
  }
}

/**
 * A device that has the deployed artifact is offered nothing: the server marks it as already
 * installed. Only a deployment that stood when the device asked can have been answered so.
 */
function noteNothingDue({ device, world }: UpdateSubject, target: Target | undefined): void {
  if (target === undefined || device.provides.artifact_name !== target.artifactName) return;
  if (device.parts.some((part) => part.deploymentId === target.deploymentId)) return;
  const part = beginPart(device, target.deploymentId, target.artifactName);
  enterUpdateState({ device, world }, part, 'already-installed');
  world.changed(device, part);
  world.settled(device, part);
}

async function tellWhatIsNew(
  subject: UpdateSubject,
  settings: Device['configuration'],
): Promise<void> {
  const { device, session, world } = subject;
  await sendInventory(subject);
  if (device.configuration === settings) return;
  await asChore(subject, () => world.client.reportConfiguration(session, device.configuration));
}

function afterFault(error: ClientError, subject: UpdateSubject): number {
  const { device, world } = subject;
  if (isRefusedContact(error)) {
    enter(subject, 'refused');
    device.failuresInRow = 0;
    return world.untilNextPollMs(device);
  }
  world.ledger.fault(error);
  if (error.code === 'transport' || error.code === 'timeout') {
    enter(subject, 'unanswered');
  }
  if (!error.passing) return world.untilNextPollMs(device);
  device.failuresInRow++;
  return waitAfterMs(error, device.failuresInRow, { device, world });
}

function enter({ device, world }: UpdateSubject, event: LifeEvent): void {
  const from = device.life;
  device.life = nextLifeState(from, event);
  if (device.life === from) return;
  world.events.emit({ kind: 'life', device: device.index, from, state: device.life });
}
