/**
 * The life of one device, repeated until the run ends: authenticate, run the onboarding steps, send
 * the inventory, request the next deployment, and wait.
 */
import type { RunDeployment } from '../api-client/management.ts';
import {
  type ClientSession,
  deviceCaller,
  newSession,
  tokenSubject,
} from '../api-client/session.ts';
import { idDataOf } from '../identity/identity.ts';
import { ClientError, PowerLoss } from '../network/errors.ts';
import { SimulatedNetwork } from '../network/simulated-network.ts';
import { beginDeployment, type SimulatedDevice } from './device.ts';
import { deviceTimeMs } from './device-time.ts';
import type { DeviceEnvironment, DeviceInRun } from './environment.ts';
import { DeviceHookContext } from './hook-context.ts';
import { BetweenPollsContext } from './hook-contexts.ts';
import { inventoryOf } from './inventory.ts';
import { type LifeEvent, nextLifeState } from './life-states.ts';
import { onboardingSteps } from './onboarding.ts';
import { keepOff, losePower, powerOffRemainingMs } from './power.ts';
import { renewalAtMs } from './renewal.ts';
import { resumeUpdates } from './resume-update.ts';
import { isRefusedContact, runInBackground, WAIT_MIN_MS, waitAfterMs } from './retries.ts';
import { enterUpdateState, runUpdate } from './update-run.ts';

/**
 * Runs the device until the run ends.
 * @param startsAfterMs wait before the first contact
 * @throws FleetStopped at the end of the run; any other error is a bug in the simulator
 */
export async function runDevice(
  device: SimulatedDevice,
  environment: DeviceEnvironment,
  startsAfterMs: number,
): Promise<never> {
  const { clock } = environment;
  const dueMs = clock.monotonicMs() + startsAfterMs;
  await environment.sleep(startsAfterMs);
  const lateMs = clock.monotonicMs() - dueMs;
  const session = await sessionFor(device, environment);
  device.session = session;
  environment.recordChange(device);
  // The time to create the key is the simulator's, so it does not count as lateness of the device.
  session.dueMs = clock.monotonicMs() - lateMs;
  for (;;) {
    const waitMs = await oneCycle({ device, session, environment });
    session.dueMs = clock.monotonicMs() + waitMs;
    await environment.sleep(waitMs, device);
  }
}

async function sessionFor(
  device: SimulatedDevice,
  environment: DeviceEnvironment,
): Promise<ClientSession> {
  const { hooks, parameters } = device.behaviour;
  const key = await environment.keyFor(device, device.keyGeneration);
  const session = newSession(deviceCaller(device.index), idDataOf(device.idData), key);
  session.renewsToken = hooks.renewsToken?.(parameters) ?? true;
  session.network = networkOf(device, environment);
  session.tap = environment.exchangeTap?.(device);
  Object.assign(session, device.storedSession);
  return session;
}

/**
 * Returns the network that the behaviour defines, or else the network of the cohort. Returns
 * undefined when neither simulates a network.
 */
function networkOf(
  device: SimulatedDevice,
  environment: DeviceEnvironment,
): SimulatedNetwork | undefined {
  const { hooks, parameters } = device.behaviour;
  const shape = hooks.network?.(parameters) ?? device.cohort.policy.network;
  if (shape === undefined) return undefined;
  const { clock, random, transport } = environment;
  const { requestTimeLimitMs } = transport;
  const chance = random.stream(`device/${device.index}/link`);
  const sleep = (waitMs: number): Promise<void> => environment.sleep(waitMs);
  return new SimulatedNetwork(shape, { clock, random: chance, sleep, requestTimeLimitMs });
}

/**
 * Runs one cycle and returns the wait until the next one, in milliseconds. Most cycles only poll,
 * so each other step is awaited only when it is due.
 */
async function oneCycle(subject: DeviceInRun): Promise<number> {
  const { device } = subject;
  const { hooks } = device.behaviour;
  try {
    const offMs = offForMs(subject);
    if (offMs > 0) await sleepWhileOff(subject, offMs);
    if (isAuthenticationDue(subject)) await authenticateDevice(subject);
    if (device.deployments.some(({ interruptedBy }) => interruptedBy !== undefined))
      await resumeInterruptedUpdates(subject);
    if (device.onboardingDone < onboardingSteps.length) await onboard(subject);
    if (isInventoryDue(subject)) await sendDueInventory(subject);
    await updateDevice(subject);
    if (hooks.eachCycle) await hooks.eachCycle(new BetweenPollsContext(subject));
    device.failuresInRow = 0;
    return untilNextCycleMs(subject);
  } catch (error) {
    if (error instanceof PowerLoss) return handlePowerLoss(error, subject);
    if (!(error instanceof ClientError)) throw error;
    return handleError(error, subject);
  }
}

function offForMs({ device, environment }: DeviceInRun): number {
  const { hooks } = device.behaviour;
  const ownOffMs = hooks.offForMs?.(new DeviceHookContext(device, environment)) ?? 0;
  return Math.max(ownOffMs, environment.offForMs(device), powerOffRemainingMs(device, environment));
}

async function sleepWhileOff(subject: DeviceInRun, offMs: number): Promise<void> {
  enter(subject, 'switched-off');
  await keepOff(subject.device, subject.environment, offMs);
}

async function handlePowerLoss({ offMs }: PowerLoss, subject: DeviceInRun): Promise<number> {
  enter(subject, 'switched-off');
  await losePower(subject.device, subject.environment, offMs);
  return 0;
}

function untilNextCycleMs({ device, environment }: DeviceInRun): number {
  const defaultMs = environment.untilNextPollMs(device);
  const { hooks } = device.behaviour;
  if (hooks.nextCycleMs === undefined) return defaultMs;
  return Math.max(
    WAIT_MIN_MS,
    hooks.nextCycleMs(new DeviceHookContext(device, environment), defaultMs),
  );
}

function isAuthenticationDue(subject: DeviceInRun): boolean {
  const { token } = subject.session;
  return token === undefined || isRenewalDue(subject, token);
}

async function authenticateDevice(subject: DeviceInRun): Promise<void> {
  const { device, session, environment } = subject;
  const currentToken = session.token;
  try {
    await environment.client.authenticate(session);
  } catch (error) {
    const passing = error instanceof ClientError && error.isTransient;
    if (currentToken === undefined || !passing) throw error;
    // The held token is still valid for a while, so the device keeps it and retries in the next
    // cycle.
    environment.metrics.countError(error);
    return;
  }
  enter(subject, 'authenticated');
  device.id ??= tokenSubject(session.token ?? '');
  environment.recordChange(device);
}

function isRenewalDue({ device, session, environment }: DeviceInRun, token: string): boolean {
  if (!session.renewsToken) return false;
  const nowMs = deviceTimeMs(device, environment);
  session.renewAtMs ??= renewalAtMs(
    token,
    nowMs,
    environment.random.stream(`device/${device.index}/renewal`),
  );
  return nowMs >= session.renewAtMs;
}

/**
 * Continues the updates that a restart of the device or of the simulator interrupted, before the
 * device does anything else.
 */
async function resumeInterruptedUpdates(subject: DeviceInRun): Promise<void> {
  const { device } = subject;
  const earlierConfiguration = device.configuration;
  enter(subject, 'authenticated');
  enter(subject, 'offered');
  try {
    if (await resumeUpdates(subject)) await reportChanges(subject, earlierConfiguration);
  } finally {
    enter(subject, 'ended');
  }
}

async function onboard(subject: DeviceInRun): Promise<void> {
  const { device, session, environment } = subject;
  for (const step of onboardingSteps.slice(device.onboardingDone)) {
    await runInBackground(environment, () => step(device, session, environment));
    device.onboardingDone++;
    environment.recordChange(device);
  }
}

function isInventoryDue({ device, environment }: DeviceInRun): boolean {
  return environment.clock.now() >= device.inventoryDueMs;
}

async function sendDueInventory(subject: DeviceInRun): Promise<void> {
  const { device, environment } = subject;
  // Set before sending, because a user may request another inventory while this one is being sent.
  device.inventoryDueMs = environment.clock.now() + device.cohort.policy.inventoryIntervalMs;
  try {
    await sendInventory(subject);
  } catch (error) {
    device.inventoryDueMs = Number.NEGATIVE_INFINITY;
    throw error;
  }
}

function sendInventory({ device, session, environment }: DeviceInRun): Promise<void> {
  return runInBackground(environment, () =>
    environment.client.sendInventory(session, inventoryOf(device)),
  );
}

async function updateDevice(subject: DeviceInRun): Promise<void> {
  const { device, session, environment } = subject;
  const runDeployment = environment.runDeployment();
  device.polls++;
  const instructions = await environment.client.nextDeployment(session, device.provides);
  enter(subject, 'authenticated');
  if (instructions === undefined) return recordAlreadyInstalled(subject, runDeployment);
  enter(subject, 'offered');
  try {
    const earlierConfiguration = device.configuration;
    if (await runUpdate(subject, instructions)) await reportChanges(subject, earlierConfiguration);
  } finally {
    enter(subject, 'ended');
  }
}

/**
 * Records a deployment as already installed when the server offers nothing to a device that has the
 * deployed artifact. `runDeployment` is the deployment that existed before the poll, because the
 * server cannot have considered a later one.
 */
function recordAlreadyInstalled(
  { device, environment }: DeviceInRun,
  runDeployment: RunDeployment | undefined,
): void {
  if (runDeployment === undefined || device.provides.artifact_name !== runDeployment.artifactName)
    return;
  if (
    device.deployments.some((deployment) => deployment.deploymentId === runDeployment.deploymentId)
  )
    return;
  const deployment = beginDeployment(
    device,
    runDeployment.deploymentId,
    runDeployment.artifactName,
  );
  enterUpdateState({ device, environment }, deployment, 'already-installed');
  environment.recordChange(device, deployment);
  environment.recordSettled(device, deployment);
}

async function reportChanges(
  subject: DeviceInRun,
  earlierConfiguration: SimulatedDevice['configuration'],
): Promise<void> {
  const { device, session, environment } = subject;
  await sendInventory(subject);
  if (device.configuration === earlierConfiguration) return;
  await runInBackground(environment, () =>
    environment.client.reportConfiguration(session, device.configuration),
  );
}

function handleError(error: ClientError, subject: DeviceInRun): number {
  const { device, environment } = subject;
  if (isRefusedContact(error)) {
    enter(subject, 'refused');
    device.failuresInRow++;
    const backOffMs = waitAfterMs(error, device.failuresInRow, { device, environment });
    // A device that waits to be accepted authenticates at least once per poll interval.
    return Math.min(backOffMs, environment.untilNextPollMs(device));
  }
  environment.metrics.countError(error);
  if (error.code === 'transport' || error.code === 'timeout') {
    enter(subject, 'unanswered');
  }
  if (!error.isTransient) return environment.untilNextPollMs(device);
  device.failuresInRow++;
  return waitAfterMs(error, device.failuresInRow, { device, environment });
}

function enter({ device, environment }: DeviceInRun, event: LifeEvent): void {
  const from = device.life;
  device.life = nextLifeState(from, event);
  if (device.life === from) return;
  environment.events.emit({ kind: 'life', device: device.index, from, state: device.life });
}
