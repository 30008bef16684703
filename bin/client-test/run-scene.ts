/** Runs a scene: each step is carried out by the row of its kind. */
import type { ClientVerdict, DutyVerdict } from '../../conformance/client-judge/client-verdict.ts';
import { DOWNLOAD_RETRY_MS, patienceMs } from '../../conformance/client-judge/exemptions.ts';
import type {
  CutOutcome,
  SceneResult,
  ShownExchange,
} from '../../conformance/client-judge/report/client-test-result.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { ClientTestbed } from './client-testbed.ts';
import { type ConditionName, conditions, measuredIntervalMs } from './conditions.ts';
import { evidenceOf, lastLine } from './evidence.ts';
import { CUT_FAULT, endOfEvent, type ObservedEvent } from './observed-events.ts';
import { type CutPoint, limitMs, type Scene, SceneStopped, type Step } from './scene.ts';
import { verdictSince } from './verdict-since.ts';

/** How a scene ended; `skipped`: the client has no such point. */
export interface SceneEnd {
  /** `completed`: every step was seen; `stopped`: the client did not do what a step waited for. */
  readonly outcome: SceneResult['outcome'];
  /** Why it stopped or was skipped, as a sentence. */
  readonly reason?: string;
  readonly verdict: ClientVerdict | undefined;
  /** The exchanges that show violations, by their sequence numbers, with secrets masked. */
  readonly violations: readonly ShownExchange[];
  /** The client's requests after the cut, for a scene with one. */
  readonly afterCut?: CutOutcome;
}

interface Time {
  /** The client's poll interval; undefined while it is not known. */
  readonly intervalMs: number | undefined;
  /** How long the first request may take, in milliseconds. */
  readonly contactMs: number;
  /** Additional time of a step besides the client's intervals, in milliseconds. */
  readonly retryMs: number;
}

type Waits = Time & { readonly intervalMs: number };

/** Runs the scene, and lets the judge decide. Never rejects because of what the client does. */
export async function runScene(
  scene: Scene,
  testbed: ClientTestbed,
  time: Time,
): Promise<SceneEnd> {
  const { contactMs, retryMs } = time;
  // Until the interval is measured the time of the first request stands for it.
  const timing = { intervalMs: time.intervalMs ?? contactMs, contactMs, retryMs };
  // A client that is started by hand meets all scenes on one testbed.
  const stateBefore = { verdict: testbed.verdict, events: testbed.events.all.length };
  let stop: SceneStopped | undefined;
  try {
    await beginScene(scene, testbed, timing);
    testbed.recordEvent('scene-began', scene.name);
    for (const step of scene.steps) await applyStep(step, testbed, timing);
    if (scene.recovers !== false) await recoverTestbed(testbed, timing);
  } catch (error) {
    if (!(error instanceof SceneStopped)) throw error;
    stop = error;
  }
  const intervalMs = time.intervalMs ?? measuredIntervalMs(testbed.events.all);
  if (stop === undefined)
    await testbed.waitUntilIdle(patienceMs(intervalMs ?? 0, 0) + EXTRA_WAIT_MS);
  // A scene that stopped before its end has shown nothing by what did not happen.
  if (stop?.message !== INTERRUPTED) {
    if (stop?.hasCrashed) testbed.judge.end(systemClock.monotonicMs(), true);
    testbed.recordEvent('scene-ended', stop === undefined ? scene.name : undefined);
    testbed.judge.end(systemClock.monotonicMs());
  }
  testbed.writeLog();
  const verdict = verdictSince(stateBefore.verdict, testbed.verdict);
  const events = testbed.events.all.slice(stateBefore.events);
  const afterCut = await cutOutcome(scene, testbed, {
    events,
    verdict,
    polls: stop === undefined,
  });
  const violations = evidenceOf({ verdict, events: testbed.events });
  const facts = { verdict, ...(afterCut && { afterCut }), violations };
  if (stop === undefined) return { outcome: 'completed', ...facts };
  const outcome = stop.pointNotReached ? 'skipped' : stop.noRequest ? 'no-request' : 'stopped';
  return { outcome, reason: stop.message, ...facts };
}

const INTERRUPTED = 'the client test was interrupted';
/** The verdict is read a little later than it allows. */
const EXTRA_WAIT_MS = 500;

async function beginScene(
  { start, needs }: Scene,
  testbed: ClientTestbed,
  waits: Waits,
): Promise<void> {
  const { contactMs } = waits;
  if (start === 'stopped') return;
  testbed.start();
  if ((await testbed.waitFor('request', contactMs)) === undefined) {
    const seconds = Math.round(contactMs / 1000);
    throw new SceneStopped(`nothing came from the client in ${seconds} s`, { noRequest: true });
  }
  if (start === 'unknown') {
    // The first request may already have been the authentication request for which the scene waits.
    testbed.rewind();
    return;
  }
  if (!testbed.user.isAccepted && (await testbed.waitForAuthRequest(contactMs)) === undefined)
    throw new SceneStopped('the client never sent an authentication request', { noRequest: true });
  const withinMs = Math.max(limitMs(undefined, waits), contactMs);
  if (!testbed.user.isAccepted) {
    await testbed.user.accept();
    testbed.mark();
    await waitOrStop(testbed, 'authentication request with a token', withinMs);
  }
  await waitOrStop(testbed, 'poll', withinMs);
  // A client may open its WebSocket after its first poll.
  if (needs === 'websocket') await testbed.waitForSocket(withinMs);
}

async function recoverTestbed(testbed: ClientTestbed, waits: Waits): Promise<void> {
  testbed.clearFaults();
  await testbed.vary([]);
  await waitOrStop(testbed, 'poll with a response 200 or 204', limitMs(undefined, waits));
}

/** @throws SceneStopped */
async function waitOrStop(
  testbed: ClientTestbed,
  name: ConditionName,
  withinMs: number,
): Promise<void> {
  const fromMs = systemClock.monotonicMs();
  const eventsBefore = testbed.events.all.length;
  const busyMs = Math.min(withinMs, BUSY_WAIT_MS);
  if ((await testbed.waitFor(name, busyMs)) !== undefined) return;
  // A client that polls on and on, and never for this, will not do so later.
  const isBusy = testbed.events.all.length - eventsBefore > REQUESTS_IN_VAIN_MAX;
  if (!isBusy) {
    if ((await testbed.waitFor(name, withinMs - busyMs)) !== undefined) return;
    const endMs = fromMs + withinMs + GROWN_PAUSE_MAX_MS;
    do {
      const nowMs = systemClock.monotonicMs();
      const { pauseMs, longestPauseMs } = testbed.events.pauses(nowMs);
      const { failedDownloadMs = Number.NEGATIVE_INFINITY } = testbed.events;
      const ownMs = patienceMs(0, longestPauseMs) - pauseMs;
      const downloadMs = failedDownloadMs + DOWNLOAD_RETRY_MS - nowMs;
      const extraMs = Math.min(Math.max(ownMs, downloadMs), endMs - nowMs);
      if (extraMs <= 0) break;
      if ((await testbed.waitFor(name, extraMs)) !== undefined) return;
    } while (testbed.events.isFailing || testbed.events.failedDownloadMs !== undefined);
  }
  const seconds = Math.round((systemClock.monotonicMs() - fromMs) / 1000);
  const last = lastLine(testbed.events);
  const instead = last === undefined ? '' : `; its last request was ${last}`;
  throw new SceneStopped(`there was no ${name} within ${seconds} s${instead}`);
}

/** How long a client may do other things, and how many, before what is awaited is missing. */
const BUSY_WAIT_MS = 60_000;
const REQUESTS_IN_VAIN_MAX = 10;
/** The longest further time for a client whose pauses grow. */
const GROWN_PAUSE_MAX_MS = 120_000;

async function applyStep(step: Step, testbed: ClientTestbed, waits: Waits): Promise<void> {
  const { intervalMs, contactMs } = waits;
  if ('await' in step) {
    const withinMs = limitMs(step.intervals, waits);
    if (step.isOptional) await testbed.waitFor(step.await, withinMs);
    else await waitOrStop(testbed, step.await, withinMs);
  } else if ('idleIntervals' in step) await testbed.idle(step.idleIntervals * intervalMs);
  else if ('idleSeconds' in step) await testbed.idle(step.idleSeconds * 1000);
  else if ('advanceSeconds' in step) testbed.advance(step.advanceSeconds);
  else if ('faults' in step) testbed.planFaults(step.faults);
  else if ('clear' in step) testbed.clearFaults();
  else if ('vary' in step) await testbed.vary(step.vary);
  else if ('user' in step) {
    await testbed.user[step.user]();
    // A client that did not pause has ended its deployment before.
    if (step.user !== 'continueMap') testbed.mark();
  } else if ('deploy' in step) {
    testbed.mark();
    await testbed.user.deploy(step.deploy);
  } else if ('client' in step) await clientActions[step.client](testbed);
  else if ('send' in step) testbed.events.send(step.send);
  else if ('startAt' in step) await testbed.startAt(step.startAt, contactMs);
  else await cutConnection(step.cut, testbed, waits);
}

const clientActions: Readonly<
  Record<Extract<Step, { client: unknown }>['client'], (testbed: ClientTestbed) => Promise<void>>
> = {
  kill: (testbed) => testbed.kill(),
  start: (testbed) => testbed.startAgain(),
  restart: async (testbed) => {
    await testbed.kill();
    await testbed.startAgain();
  },
};

/** @throws SceneStopped if the point was never reached */
async function cutConnection(point: CutPoint, testbed: ClientTestbed, waits: Waits): Promise<void> {
  const { hold, after } = point;
  const withinMs = limitMs(undefined, waits);
  if (hold) {
    const { match, when, part } = hold;
    const afterBytes = part === undefined ? {} : { afterBytes: testbed.user.bytesOf(part) };
    const act = { kind: 'stall', ...afterBytes };
    testbed.planFaults([{ id: CUT_FAULT, match, when, act }]);
    if (!(await testbed.waitForFault(CUT_FAULT, withinMs)))
      throw new SceneStopped('the client has no such point', { pointNotReached: true });
    await testbed.idle(WRITTEN_MS);
  } else if (after) await waitOrStop(testbed, after, withinMs);
  await testbed.kill();
  if (hold) testbed.clearFault(CUT_FAULT);
  await testbed.startAgain();
}

/** Time for the bytes before a held one to reach the client. */
const WRITTEN_MS = 100;

/** Facts about a scene that has ended. */
interface Ended {
  readonly events: readonly ObservedEvent[];
  readonly verdict: ClientVerdict | undefined;
  readonly polls: boolean;
}

async function cutOutcome(
  { steps }: Scene,
  testbed: ClientTestbed,
  { events, verdict, polls: polledAgain }: Ended,
): Promise<CutOutcome | undefined> {
  const step = steps.find((each) => 'cut' in each);
  const cutMs = testbed.lastEventMs('client-killed');
  if (step === undefined || !('cut' in step) || cutMs === undefined) return undefined;
  const laterEvents = events.filter(({ event }) => endOfEvent(event) > cutMs);
  // Without its response a report may have been stored all the same.
  const isStored = (event: ObservedEvent): boolean =>
    conditions['final report'](event) ||
    (step.cut.hold?.when === 'after' && event.status === 0 && event.report === 'success');
  const reports = events.filter(isStored).map(({ report = '' }) => report);
  const finalStatuses = [...new Set(reports)];
  const installedName = finalStatuses.includes('success')
    ? await testbed.readInstalledName()
    : undefined;
  const isOther = installedName !== undefined && installedName !== testbed.user.artifactName;
  const reportedFalseSuccess = isOther || (verdict?.duties.some(isFalseSuccess) ?? false);
  return {
    point: step.cut.name,
    sentRequestAgain: laterEvents.length > 0,
    finalStatuses,
    polledAgain,
    reportedFalseSuccess,
  };
}

/** Returns true for a broken duty that shows a false success to the server itself. */
function isFalseSuccess({ duty, state }: DutyVerdict): boolean {
  const falseSuccessDuties = [
    'report.no-false-success-after-cut',
    'report.success-only-if-installed',
  ];
  return state === 'broken' && falseSuccessDuties.includes(duty);
}
