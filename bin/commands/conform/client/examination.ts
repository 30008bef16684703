/** An examination: measures the client, plays the programme of scenes, and joins their verdicts. */

import type { DutyState, DutyVerdict } from '../../../../conformance/clients/client-verdict.ts';
import { duties } from '../../../../conformance/clients/duties/duties.ts';
import type { DutyLevel } from '../../../../conformance/clients/duty.ts';
import { nextStep, type SceneName } from '../../../../conformance/clients/scenes.ts';
import { systemClock } from '../../../../fixtures/clock.ts';
import type { CutOutcome, SceneEnd } from './play.ts';
import { play } from './play.ts';
import { type Capability, isLong, minMs, type Scene } from './scene.ts';
import { allScenes, cutScenes, notRun } from './scenes.ts';
import type { Seen } from './seen-events.ts';
import { measuredIntervalMs } from './sights.ts';
import { type ClientPlan, Stage, usesTls } from './stage.ts';

/** The scene in which the interval is measured and the capabilities are found. */
const FIRST = 'ordinary-traffic';

/** What to examine. */
export interface ExaminationPlan extends ClientPlan {
  /** Names of the scenes to play; all of the programme if empty. */
  readonly selection: readonly string[];
  /** Reasons of scenes that are not played, by name. */
  readonly skips: ReadonlyMap<string, string>;
  /** Real time for everything, in milliseconds; without it the quick programme is played. */
  readonly timeMs?: number | undefined;
  readonly parallel: number;
  /** How long the first request may take, in milliseconds. */
  readonly contactMs: number;
  readonly isCut: boolean;
  /** Capabilities besides those that the client shows. */
  readonly capabilities: readonly Capability[];
}

/** A scene in a report. */
interface PlayedScene {
  readonly scene: string;
  readonly outcome: SceneEnd['outcome'] | 'skipped';
  readonly because?: string;
  readonly durationMs: number;
}

/** A duty in a report, joined from all scenes. */
export interface ExaminedDuty extends Omit<DutyVerdict, 'violations'> {
  readonly level: DutyLevel;
  readonly sentence: string;
  readonly source: string;
  readonly wayOut: string;
  /** The scenes that decided it. */
  readonly scenes: readonly string[];
  readonly violations: readonly (DutyVerdict['violations'][number] & {
    readonly scene: string;
    /** The exchange that shows it, as one line; absent if a silence does. */
    readonly request?: string;
    readonly exchanges: SceneEnd['violations'];
  })[];
  /** Why nothing exercised it; absent for a duty that was. */
  readonly because?: string;
}

/** The result of an examination. */
export interface Examination {
  readonly schema: 'fleetbed.client-examination/1';
  /** The worst that was found: `never-came` if nothing came from the client in any scene. */
  readonly outcome: 'broken' | 'undecided' | 'kept' | 'never-came' | 'interrupted';
  readonly seed: string;
  readonly command?: string;
  /** The client's poll interval as measured, in milliseconds. */
  readonly intervalMs?: number;
  readonly capabilities: readonly Capability[];
  readonly scenes: readonly PlayedScene[];
  /** What followed the cuts, and how the client was cut. */
  readonly cuts: readonly CutOutcome[];
  readonly cutBy: 'process killed' | 'power cut';
  readonly duties: readonly ExaminedDuty[];
}

/** Notified of the address of a server that all scenes share, and as scenes end. */
export interface SceneWatch {
  opened(url: string): void;
  ended(scene: PlayedScene, left: number): void;
}

interface EndedScene extends SceneEnd {
  readonly scene: string;
  readonly durationMs: number;
  readonly seen: readonly Seen[];
}

/** A scene with its least real time, or with the reason why it is not played. */
export interface PlannedScene {
  readonly scene: Scene;
  readonly minMs: number;
  readonly because?: string;
}

/** Examines the client. Rejects only if a server cannot be started. */
export async function examine(
  plan: ExaminationPlan,
  signal: AbortSignal,
  watch: SceneWatch,
): Promise<Examination> {
  const startedMs = systemClock.monotonicMs();
  const ended: EndedScene[] = [];
  const skipped: PlayedScene[] = [];
  const first = allScenes.find(({ name }) => name === FIRST);
  if (first === undefined) throw new Error(`there is no scene ${FIRST}`);
  const shared = plan.command === undefined ? await Stage.open(plan, first, { signal }) : undefined;
  if (shared) watch.opened(shared.url);
  const runOne = async (scene: Scene, intervalMs: number | undefined, left: number) => {
    const end = await playScene(scene, { plan, intervalMs, signal, shared });
    ended.push(end);
    watch.ended(end, left);
    return end;
  };
  try {
    const measured = await runOne(first, undefined, 0);
    const intervalMs = measuredIntervalMs(measured.seen);
    const capabilities = capabilitiesOf(measured.seen, plan);
    const facts = { plan, capabilities, cutBy: cutOf(plan) };
    if (intervalMs === undefined) return joined({ ...facts, ended, skipped, signal });
    const spentMs = systemClock.monotonicMs() - startedMs;
    const rest = allScenes.filter((scene) => scene !== first);
    const programme = programmeOf(rest, { plan, intervalMs, capabilities, spentMs });
    for (const { scene, because } of programme) {
      if (because !== undefined)
        skipped.push({ scene: scene.name, outcome: 'skipped', because, durationMs: 0 });
    }
    const chosen = programme.filter(({ because }) => because === undefined);
    await inParallel(plan, chosen, signal, ({ scene }, left) => runOne(scene, intervalMs, left));
    if (plan.isCut) {
      const update = ended.find(({ scene }) => scene === 'update');
      const cuts = cutScenes(reportsOf(update?.seen ?? [])).map((scene) => ({ scene }));
      await inParallel(plan, cuts, signal, ({ scene }, left) => runOne(scene, intervalMs, left));
    }
    return joined({ ...facts, intervalMs, ended, skipped, signal });
  } finally {
    await shared?.close();
  }
}

function cutOf({ powerOff }: ClientPlan): Examination['cutBy'] {
  return powerOff === undefined ? 'process killed' : 'power cut';
}

interface Playing {
  readonly plan: ExaminationPlan;
  readonly intervalMs: number | undefined;
  readonly signal: AbortSignal;
  readonly shared: Stage | undefined;
}

async function playScene(
  scene: Scene,
  { plan, intervalMs, signal, shared }: Playing,
): Promise<EndedScene> {
  const startedMs = systemClock.monotonicMs();
  const stage = shared ?? (await Stage.open(plan, scene, { signal, intervalMs }));
  try {
    const end = await play(scene, stage, { intervalMs, contactMs: plan.contactMs });
    const durationMs = Math.round(systemClock.monotonicMs() - startedMs);
    return { ...end, scene: scene.name, durationMs, seen: stage.events.all };
  } finally {
    if (stage !== shared) await stage.close();
  }
}

/** Calls `act` for each item, several at a time, until the signal aborts. */
async function inParallel<Item>(
  { parallel, command }: ExaminationPlan,
  items: readonly Item[],
  signal: AbortSignal,
  act: (item: Item, left: number) => Promise<unknown>,
): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      if (signal.aborted) return;
      await act(item, queue.length);
    }
  };
  const workers = command === undefined ? 1 : Math.min(parallel, items.length);
  await Promise.all(Array.from({ length: workers }, worker));
}

interface Programme {
  readonly plan: Pick<
    ExaminationPlan,
    'selection' | 'skips' | 'timeMs' | 'parallel' | 'command' | 'powerOff'
  >;
  readonly intervalMs: number;
  /** Undefined if they are not known, as for a list. */
  readonly capabilities: readonly Capability[] | undefined;
  readonly spentMs?: number;
}

/** Returns every scene with its least time, and the reason why it is not part of the programme. */
export function programmeOf(
  scenes: readonly Scene[],
  { plan, intervalMs, capabilities, spentMs = 0 }: Programme,
): readonly PlannedScene[] {
  let leftMs = plan.timeMs === undefined ? Number.POSITIVE_INFINITY : plan.timeMs - spentMs;
  const workers = plan.command === undefined ? 1 : plan.parallel;
  return scenes.map((scene) => {
    const least = minMs(scene, intervalMs);
    const because = omissionOf(scene, plan, capabilities);
    if (because !== undefined) return { scene, minMs: least, because };
    leftMs -= least / workers;
    if (leftMs >= 0) return { scene, minMs: least };
    return { scene, minMs: least, because: 'there is no time left; give more by --time' };
  });
}

function omissionOf(
  scene: Scene,
  { selection, skips, timeMs, command, powerOff }: Programme['plan'],
  capabilities: readonly Capability[] | undefined,
): string | undefined {
  const { name, needs, lacks, server, start, steps } = scene;
  if (selection.length > 0 && !selection.includes(name)) return 'not selected by --scene';
  const skip = skips.get(name);
  if (skip !== undefined) return skip;
  if (needs && capabilities && !capabilities.includes(needs)) return needSentences[needs];
  if (lacks && capabilities?.includes(lacks)) return `it is for clients without ${lacks}`;
  if (isLong(scene) && timeMs === undefined && selection.length === 0)
    return 'it waits for longer than the quick programme; give --time, or --scene';
  if (command !== undefined) return undefined;
  const isByHand = start !== 'accepted' || server !== undefined;
  const isRestarted = steps.some((step) => 'client' in step || 'cut' in step);
  return isByHand || (isRestarted && powerOff === undefined)
    ? 'it starts the client anew; give --command'
    : undefined;
}

const needSentences: Readonly<Record<Capability, string>> = {
  tls: 'the client is started without TLS; use {ca} in --command',
  websocket: 'the client opened no websocket; if it can, give --capability websocket',
  'control-map': 'the client asks for no control map; if it can, give --capability control-map',
  configuration:
    'the client read and reported no configuration; if it can, give --capability configuration',
};

const signs: Readonly<Record<Exclude<Capability, 'tls'>, (seen: Seen) => boolean>> = {
  websocket: ({ operation }) => operation === 'connect',
  'control-map': ({ event }) =>
    event.kind === 'exchange' && (event.requestBody?.includes('"update_control_map"') ?? false),
  configuration: ({ operation }) => /^(get|put)-configuration$/.test(operation),
};

function capabilitiesOf(seen: readonly Seen[], plan: ExaminationPlan): readonly Capability[] {
  const shown = Object.entries(signs).filter(([, isSign]) => seen.some(isSign));
  const names = shown.map(([name]) => name as Capability);
  return [...new Set([...plan.capabilities, ...names, ...(usesTls(plan) ? ['tls' as const] : [])])];
}

/** Returns the statuses that a client reported, each once, in their order. */
function reportsOf(seen: readonly Seen[]): readonly string[] {
  return [
    ...new Set(
      seen.flatMap(({ report, operation }) =>
        operation === 'put-deployment-status' ? (report ?? []) : [],
      ),
    ),
  ];
}

interface Joining {
  readonly plan: ExaminationPlan;
  readonly capabilities: readonly Capability[];
  readonly cutBy: Examination['cutBy'];
  readonly intervalMs?: number;
  readonly ended: readonly EndedScene[];
  readonly skipped: readonly PlayedScene[];
  readonly signal: AbortSignal;
}

function joined(joining: Joining): Examination {
  const { plan, ended, skipped, capabilities, cutBy, intervalMs } = joining;
  const examined = duties.map((duty) => joinedDuty(duty, joining));
  return {
    schema: 'fleetbed.client-examination/1',
    outcome: outcomeOf(joining, examined),
    seed: plan.seed,
    ...(plan.command !== undefined && { command: plan.command }),
    ...(intervalMs !== undefined && { intervalMs }),
    ...{ capabilities, cutBy },
    scenes: [
      ...ended.map(({ scene, outcome, because, durationMs }) => ({
        ...{ scene, outcome, durationMs, ...(because !== undefined && { because }) },
      })),
      ...skipped,
    ],
    cuts: ended.flatMap(({ afterCut, scene }) =>
      afterCut && scene.startsWith('cut ') ? [afterCut] : [],
    ),
    duties: examined,
  };
}

function outcomeOf(
  { ended, signal }: Joining,
  examined: readonly ExaminedDuty[],
): Examination['outcome'] {
  if (signal.aborted) return 'interrupted';
  if (ended.every(({ outcome }) => outcome === 'never-came')) return 'never-came';
  const isBroken = examined.some(({ level, state }) => level === 'must' && state === 'broken');
  if (isBroken || ended.some(({ afterCut }) => afterCut?.isFalse)) return 'broken';
  return ended.some(({ outcome }) => !['played', 'skipped'].includes(outcome))
    ? 'undecided'
    : 'kept';
}

/** States from the one that counts most. What one scene shows, no other one takes back. */
const order: readonly DutyState[] = [
  ...(['broken', 'kept', 'observed', 'open', 'not-judged', 'not-met'] as const),
  ...(['not-observable', 'not-applicable'] as const),
];

function joinedDuty(duty: (typeof duties)[number], joining: Joining): ExaminedDuty {
  const { id, level, sentence, source, wayOut, scene } = duty;
  const rows = joining.ended.flatMap(({ scene: name, verdict, violations: exchanges }) => {
    const row = verdict?.duties.find((each) => each.duty === id);
    return row ? [{ name, row, exchanges }] : [];
  });
  const state = order.find((each) => rows.some(({ row }) => row.state === each)) ?? 'not-met';
  const deciding = rows.filter(({ row }) => row.state === state);
  const { observation } = deciding[0]?.row ?? {};
  const isMet = state === 'broken' || state === 'kept' || state === 'observed';
  return {
    ...{ duty: id, level, sentence, source, wayOut, state },
    judged: rows.reduce((sum, { row }) => sum + row.judged, 0),
    scenes: isMet ? deciding.map(({ name }) => name) : [],
    violationCount: rows.reduce((sum, { row }) => sum + row.violationCount, 0),
    violations: deciding.flatMap(({ name, row, exchanges }) =>
      row.violations.map((violation) => {
        const { sequence, against } = violation;
        const line = exchanges.find((each) => each.sequence === sequence)?.line;
        return {
          ...{ ...violation, scene: name, ...(line !== undefined && { request: line }) },
          exchanges: exchanges.filter((each) => [sequence, against].includes(each.sequence)),
        };
      }),
    ),
    ...(observation !== undefined && { observation }),
    ...(!isMet && { next: nextStep(scene), because: unmetBecause(scene, state, joining) }),
  };
}

function unmetBecause(
  scene: SceneName = FIRST,
  state: DutyState,
  { ended, skipped }: Joining,
): string {
  if (state === 'not-applicable') return 'the client does not use this part of the API';
  if (state === 'not-observable') return 'only the client itself could show it';
  const reasons: Readonly<Record<string, string>> = notRun;
  const end = ended.find((each) => each.scene === scene);
  const because =
    reasons[scene] ?? skipped.find((each) => each.scene === scene)?.because ?? end?.because;
  if (because !== undefined) return because;
  return end === undefined
    ? 'its scene was not played'
    : `its scene ${scene} was played, and the client did not show it`;
}
