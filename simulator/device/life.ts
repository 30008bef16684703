/**
 * The life of one device: it signs in, does its duties, sends its inventory, asks for its next
 * deployment, and waits; over and over until the run ends.
 */

import type { Target } from '../client/management.ts';
import { deviceCaller, newSession, type Session, tokenSubject } from '../client/session.ts';
import { idDataOf } from '../identity/identity.ts';
import { ClientError, PowerLoss } from '../network/errors.ts';
import { Link } from '../network/link.ts';
import { beginPart, type Device } from './device.ts';
import type { UpdateSubject, World } from './environment.ts';
import { DeviceMoment } from './hook-context.ts';
import { BetweenPolls } from './hook-contexts.ts';
import { inventoryOf } from './inventory.ts';
import { type LifeEvent, nextLifeState } from './life-states.ts';
import { duties } from './onboarding.ts';
import { ownTimeMs } from './own-clock.ts';
import { asChore, isRefusedContact, WAIT_LEAST_MS, waitAfterMs } from './persistence.ts';
import { losePower, powerlessForMs, withoutPower } from './power.ts';
import { renewalAtMs } from './renewal.ts';
import { resumeUpdates } from './resume-update.ts';
import { enterUpdateState, runUpdate } from './update-run.ts';

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
  const session = await sessionFor(device, world);
  device.session = session;
  world.changed(device);
  // Making a key takes the simulator's time, not the device's.
  session.plannedMs = clock.monotonicMs() - lateMs;
  for (;;) {
    const waitMs = await oneCycle({ device, session, world });
    session.plannedMs = clock.monotonicMs() + waitMs;
    await world.rest(waitMs, device);
  }
}

async function sessionFor(device: Device, world: World): Promise<Session> {
  const { hooks, parameters } = device.behaviour;
  const key = await world.keyFor(device, device.keyGeneration);
  const session = newSession(deviceCaller(device.index), idDataOf(device.idData), key);
  session.renewsToken = hooks.renewsToken?.(parameters) ?? true;
  session.link = linkOf(device, world);
  session.lookout = world.lookout?.(device);
  Object.assign(session, device.remembered);
  return session;
}

/** The behaviour's own network, else that of its cohort, else none. */
function linkOf(device: Device, world: World): Link | undefined {
  const { hooks, parameters } = device.behaviour;
  const shape = hooks.link?.(parameters) ?? device.cohort.policy.link;
  if (shape === undefined) return undefined;
  const { clock, random, transport } = world;
  const { requestTimeLimitMs } = transport;
  const chance = random.stream(`device/${device.index}/link`);
  const rest = (waitMs: number): Promise<void> => world.rest(waitMs);
  return new Link(shape, { clock, random: chance, rest, requestTimeLimitMs });
}

/** One round of everything; returns how long to wait before the next, in milliseconds. */
async function oneCycle(subject: UpdateSubject): Promise<number> {
  const { device } = subject;
  try {
    await sleepWhileOff(subject);
    await signInIfNeeded(subject);
    await goOnWithUpdates(subject);
    await doDuties(subject);
    await sendDueInventory(subject);
    await updateIfDue(subject);
    await device.behaviour.hooks.eachCycle?.(new BetweenPolls(subject));
    device.failuresInRow = 0;
    return untilNextCycleMs(subject);
  } catch (error) {
    if (error instanceof PowerLoss) return afterPowerLoss(error, subject);
    if (!(error instanceof ClientError)) throw error;
    return afterFault(error, subject);
  }
}

async function sleepWhileOff(subject: UpdateSubject): Promise<void> {
  const { device, world } = subject;
  const { hooks } = device.behaviour;
  const ownOffMs = hooks.offForMs?.(new DeviceMoment(device, world)) ?? 0;
  const offMs = Math.max(ownOffMs, world.offForMs(device), powerlessForMs(device, world));
  if (offMs <= 0) return;
  enter(subject, 'switched-off');
  await withoutPower(device, world, offMs);
}

async function afterPowerLoss({ offMs }: PowerLoss, subject: UpdateSubject): Promise<number> {
  enter(subject, 'switched-off');
  await losePower(subject.device, subject.world, offMs);
  return 0;
}

function untilNextCycleMs({ device, world }: UpdateSubject): number {
  const usualMs = world.untilNextPollMs(device);
  const { hooks } = device.behaviour;
  if (hooks.nextCycleMs === undefined) return usualMs;
  return Math.max(WAIT_LEAST_MS, hooks.nextCycleMs(new DeviceMoment(device, world), usualMs));
}

async function signInIfNeeded(subject: UpdateSubject): Promise<void> {
  const { device, session, world } = subject;
  if (session.token !== undefined && !isRenewalDue(subject, session.token)) return;
  const held = session.token;
  try {
    await world.client.signIn(session);
  } catch (error) {
    const passing = error instanceof ClientError && error.passing;
    if (held === undefined || !passing) throw error;
    // The old token is good for a while yet; the next cycle tries again.
    world.ledger.fault(error);
    return;
  }
  enter(subject, 'answered');
  device.id ??= tokenSubject(session.token ?? '');
  world.changed(device);
}

function isRenewalDue({ device, session, world }: UpdateSubject, token: string): boolean {
  if (!session.renewsToken) return false;
  const nowMs = ownTimeMs(device, world);
  session.renewAtMs ??= renewalAtMs(
    token,
    nowMs,
    world.random.stream(`device/${device.index}/renewal`),
  );
  return nowMs >= session.renewAtMs;
}

/** What a restart, of the device or of the simulator, has cut short comes before anything else. */
async function goOnWithUpdates(subject: UpdateSubject): Promise<void> {
  const { device } = subject;
  if (!device.parts.some(({ cutShort }) => cutShort !== undefined)) return;
  const settings = device.configuration;
  enter(subject, 'answered');
  enter(subject, 'offered');
  try {
    if (await resumeUpdates(subject)) await tellWhatIsNew(subject, settings);
  } finally {
    enter(subject, 'ended');
  }
}

async function doDuties(subject: UpdateSubject): Promise<void> {
  const { device, session, world } = subject;
  for (const duty of duties.slice(device.dutiesDone)) {
    await asChore(world, () => duty(device, session, world));
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

function sendInventory({ device, session, world }: UpdateSubject): Promise<void> {
  return asChore(world, () => world.client.sendInventory(session, inventoryOf(device)));
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
  await asChore(world, () => world.client.reportConfiguration(session, device.configuration));
}

function afterFault(error: ClientError, subject: UpdateSubject): number {
  const { device, world } = subject;
  if (isRefusedContact(error)) {
    enter(subject, 'refused');
    device.failuresInRow++;
    const backOffMs = waitAfterMs(error, device.failuresInRow, { device, world });
    // Whoever waits to be accepted asks at every poll at least.
    return Math.min(backOffMs, world.untilNextPollMs(device));
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
