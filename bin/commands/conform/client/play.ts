/** Plays a scene: each step is carried out by the row of its kind. */

import type { ClientVerdict, DutyVerdict } from '../../../../conformance/clients/client-verdict.ts';
import type {
  CutOutcome,
  PlayedScene,
  ShownExchange,
} from '../../../../conformance/clients/report/examination.ts';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { evidenceOf, lastLine } from './evidence.ts';
import { limitMs, type Moment, type Scene, SceneStopped, type Step } from './scene.ts';
import { CUT_FAULT, endOf, type Seen } from './seen-events.ts';
import { measuredIntervalMs, type SightName, sights } from './sights.ts';
import type { Stage } from './stage.ts';
import { verdictSince } from './verdict-since.ts';

/** How a scene ended; `skipped`: the client has no such moment. */
export interface SceneEnd {
  /** `played`: every step was seen; `stopped`: the client did not do what a step waited for. */
  readonly outcome: PlayedScene['outcome'];
  /** Why it stopped or was skipped, as a sentence. */
  readonly because?: string;
  readonly verdict: ClientVerdict | undefined;
  /** The exchanges that show violations, by their sequence numbers, with secrets masked. */
  readonly violations: readonly ShownExchange[];
  /** What followed the cut, for a scene with one. */
  readonly afterCut?: CutOutcome;
}

interface Time {
  /** The client's poll interval; undefined while it is not known. */
  readonly intervalMs: number | undefined;
  /** How long the first request may take, in milliseconds. */
  readonly contactMs: number;
}

type Waits = Time & { readonly intervalMs: number };

/** Plays the scene, and lets the judge decide. Never rejects because of what the client does. */
export async function play(scene: Scene, stage: Stage, time: Time): Promise<SceneEnd> {
  const { contactMs } = time;
  // Until the interval is measured the time of the first request stands for it.
  const known = { intervalMs: time.intervalMs ?? contactMs, contactMs };
  // A client that is started by hand meets all scenes on one stage.
  const before = { verdict: stage.verdict, events: stage.events.all.length };
  let stopped: SceneStopped | undefined;
  try {
    await begin(scene, stage, known);
    stage.act('scene-began', scene.name);
    for (const step of scene.steps) await applyStep(step, stage, known);
    if (scene.recovers !== false) await recover(stage, known.intervalMs);
  } catch (error) {
    if (!(error instanceof SceneStopped)) throw error;
    stopped = error;
  }
  const intervalMs = time.intervalMs ?? measuredIntervalMs(stage.events.all);
  const patienceMs = 3 * (intervalMs ?? 0) + SETTLED_GRACE_MS;
  if (stopped === undefined) await stage.settled(patienceMs);
  // A scene that stopped before its end has shown nothing by what did not happen.
  if (stopped?.message !== INTERRUPTED) {
    stage.act('scene-ended', stopped === undefined ? scene.name : undefined);
    stage.judge.end(systemClock.monotonicMs());
  }
  stage.writeLog();
  const verdict = verdictSince(before.verdict, stage.verdict);
  const seen = stage.events.all.slice(before.events);
  const afterCut = await cutOutcome(scene, stage, { seen, verdict, polls: stopped === undefined });
  const violations = evidenceOf({ verdict, events: stage.events });
  const facts = { verdict, ...(afterCut && { afterCut }), violations };
  if (stopped === undefined) return { outcome: 'played', ...facts };
  const outcome = stopped.isMissed ? 'skipped' : stopped.neverCame ? 'never-came' : 'stopped';
  return { outcome, because: stopped.message, ...facts };
}

const INTERRUPTED = 'the examination was interrupted';
/** What the judge itself adds to three intervals before it misses something. */
const SETTLED_GRACE_MS = 1500;

async function begin(
  { start, needs }: Scene,
  stage: Stage,
  { intervalMs, contactMs }: Waits,
): Promise<void> {
  if (start === 'stopped') return;
  stage.start();
  if ((await stage.sees('request', contactMs)) === undefined) {
    const seconds = Math.round(contactMs / 1000);
    throw new SceneStopped(`nothing came from the client in ${seconds} s`, { neverCame: true });
  }
  if (start === 'unknown') {
    // The first request may already have been the sign-in for which the scene waits.
    stage.rewind();
    return;
  }
  if (!stage.user.isAccepted && (await stage.device(contactMs)) === undefined)
    throw new SceneStopped('the client never signed in', { neverCame: true });
  const withinMs = Math.max(limitMs(undefined, intervalMs), contactMs);
  if (!stage.user.isAccepted) {
    await stage.user.accept();
    stage.mark();
    await require(stage, 'sign-in with a token', withinMs);
  }
  await require(stage, 'poll', withinMs);
  // A client may open its websocket after its first poll.
  if (needs === 'websocket') await stage.connected(withinMs);
}

async function recover(stage: Stage, intervalMs: number): Promise<void> {
  stage.clearFaults();
  await stage.vary([]);
  await require(stage, 'poll with an answer 200 or 204', limitMs(undefined, intervalMs));
}

/** @throws SceneStopped */
async function require(stage: Stage, name: SightName, withinMs: number): Promise<void> {
  const fromMs = systemClock.monotonicMs();
  const before = stage.events.all.length;
  const busyMs = Math.min(withinMs, BUSY_WAIT_MS);
  if ((await stage.sees(name, busyMs)) !== undefined) return;
  // A client that asks on and on, and never for this, will not do so later.
  const isBusy = stage.events.all.length - before > REQUESTS_IN_VAIN_MAX;
  if (!isBusy) {
    if ((await stage.sees(name, withinMs - busyMs)) !== undefined) return;
    // A client whose pauses grow with each failure has twice its longest one before it tries again.
    const endMs = fromMs + withinMs + GROWN_PAUSE_MAX_MS;
    do {
      const nowMs = systemClock.monotonicMs();
      const { pauseMs, longestPauseMs } = stage.events.rhythm(nowMs);
      const grownMs = Math.min(2 * longestPauseMs - pauseMs, endMs - nowMs);
      if (grownMs <= 0) break;
      if ((await stage.sees(name, grownMs)) !== undefined) return;
    } while (stage.events.isFailing);
  }
  const seconds = Math.round((systemClock.monotonicMs() - fromMs) / 1000);
  const last = lastLine(stage.events);
  const instead = last === undefined ? '' : `; its last request was ${last}`;
  throw new SceneStopped(`there was no ${name} within ${seconds} s${instead}`);
}

/** How long a client may do other things, and how many, before what is awaited is missing. */
const BUSY_WAIT_MS = 60_000;
const REQUESTS_IN_VAIN_MAX = 10;
/** The longest further time for a client whose pauses grow. */
const GROWN_PAUSE_MAX_MS = 120_000;

async function applyStep(
  step: Step,
  stage: Stage,
  { intervalMs, contactMs }: Waits,
): Promise<void> {
  if ('await' in step) {
    const withinMs = limitMs(step.intervals, intervalMs);
    if (step.orGoOn) await stage.sees(step.await, withinMs);
    else await require(stage, step.await, withinMs);
  } else if ('idleIntervals' in step) await stage.idle(step.idleIntervals * intervalMs);
  else if ('idleSeconds' in step) await stage.idle(step.idleSeconds * 1000);
  else if ('advanceSeconds' in step) stage.advance(step.advanceSeconds);
  else if ('faults' in step) stage.plan(step.faults);
  else if ('clear' in step) stage.clearFaults();
  else if ('vary' in step) await stage.vary(step.vary);
  else if ('user' in step) {
    await stage.user[step.user]();
    stage.mark();
  } else if ('deploy' in step) {
    stage.mark();
    await stage.user.deploy(step.deploy);
  } else if ('client' in step) await clientActs[step.client](stage);
  else if ('send' in step) stage.events.send(step.send);
  else if ('startAt' in step) await stage.startAt(step.startAt, contactMs);
  else await cut(step.cut, stage, intervalMs);
}

const clientActs: Readonly<
  Record<Extract<Step, { client: unknown }>['client'], (stage: Stage) => Promise<void>>
> = {
  kill: (stage) => stage.kill(),
  start: (stage) => stage.revive(),
  restart: async (stage) => {
    await stage.kill();
    await stage.revive();
  },
};

/** @throws SceneStopped if the moment never came */
async function cut(moment: Moment, stage: Stage, intervalMs: number): Promise<void> {
  const { hold, after } = moment;
  const withinMs = limitMs(undefined, intervalMs);
  if (hold) {
    const { match, when, part } = hold;
    const afterBytes = part === undefined ? {} : { afterBytes: stage.user.bytesOf(part) };
    const act = { kind: 'stall', ...afterBytes };
    stage.plan([{ id: CUT_FAULT, match, when, act }]);
    if (!(await stage.fires(CUT_FAULT, withinMs)))
      throw new SceneStopped('the client has no such moment', { isMissed: true });
    await stage.idle(WRITTEN_MS);
  } else if (after) await require(stage, after, withinMs);
  await stage.kill();
  if (hold) stage.clearFault(CUT_FAULT);
  await stage.revive();
}

/** Time for the bytes before a held one to reach the client. */
const WRITTEN_MS = 100;

/** What is known of a scene once it has ended. */
interface Ended {
  readonly seen: readonly Seen[];
  readonly verdict: ClientVerdict | undefined;
  readonly polls: boolean;
}

async function cutOutcome(
  { steps }: Scene,
  stage: Stage,
  { seen, verdict, polls }: Ended,
): Promise<CutOutcome | undefined> {
  const step = steps.find((each) => 'cut' in each);
  const cutMs = stage.lastAct('client-killed');
  if (step === undefined || !('cut' in step) || cutMs === undefined) return undefined;
  const later = seen.filter(({ event }) => endOf(event) > cutMs);
  const reports = seen.filter(sights['final report']).map(({ report = '' }) => report);
  const finals = [...new Set(reports)];
  const installed = finals.includes('success') ? await stage.installed() : undefined;
  const isOther = installed !== undefined && installed !== stage.user.artifactName;
  const isFalse = isOther || (verdict?.duties.some(isFalseSuccess) ?? false);
  return { moment: step.cut.name, cameBack: later.length > 0, finals, polls, isFalse };
}

/** What the server itself can see of a false success. */
function isFalseSuccess({ duty, state }: DutyVerdict): boolean {
  const seen = ['report.no-false-success-after-cut', 'report.success-only-if-installed'];
  return state === 'broken' && seen.includes(duty);
}
