/** A client test: measures the client, runs the schedule of scenes, and joins their verdicts. */
import type {
  ClientTestResult,
  SceneResult,
} from '../../conformance/client-judge/report/client-test-result.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { ClientTestOptions } from './client-test-options.ts';
import { type ClientStartOptions, ClientTestbed } from './client-testbed.ts';
import { measuredIntervalMs } from './conditions.ts';
import { type EndedScene, joinResults } from './join-results.ts';
import type { ObservedEvent } from './observed-events.ts';
import { runScene } from './run-scene.ts';
import type { Scene } from './scene.ts';
import { cutScenes } from './scenes/cuts.ts';
import { allScenes, MEASURING_SCENE } from './scenes.ts';
import { capabilitiesOf, parallelScenes, scheduleOf } from './schedule.ts';

/** Notified of the address of a server that all scenes share, and as scenes end. */
export interface SceneWatch {
  onOpen(url: string): void;
  onSceneEnd(scene: SceneResult, left: number): void;
}

/** Tests the client. Rejects only if a server cannot be started. */
export async function runClientTest(
  options: ClientTestOptions,
  signal: AbortSignal,
  watch: SceneWatch,
): Promise<ClientTestResult> {
  const startedMs = systemClock.monotonicMs();
  const watchedScenes: WatchedScene[] = [];
  const skippedScenes: SceneResult[] = [];
  const first = allScenes.find(({ name }) => name === MEASURING_SCENE);
  if (first === undefined) throw new Error(`there is no scene ${MEASURING_SCENE}`);
  const sharedTestbed =
    options.command === undefined
      ? await ClientTestbed.open(options, first, { signal })
      : undefined;
  if (sharedTestbed) watch.onOpen(sharedTestbed.url);
  const runOne = async (scene: Scene, intervalMs: number | undefined, left: number) => {
    const end = await runWithServer(scene, { options, intervalMs, signal, shared: sharedTestbed });
    watchedScenes.push(end);
    watch.onSceneEnd(end, left);
    return end;
  };
  try {
    const firstScene = await runOne(first, undefined, 0);
    const intervalMs = measuredIntervalMs(firstScene.observed);
    const capabilities = capabilitiesOf(firstScene.observed, options);
    const today = new Date(systemClock.now()).toISOString().slice(0, 10);
    const facts = { options, capabilities, cutBy: cutOf(options), today };
    if (intervalMs === undefined)
      return joinResults({ ...facts, ended: watchedScenes, skipped: skippedScenes, signal });
    const spentMs = systemClock.monotonicMs() - startedMs;
    const otherScenes = allScenes.filter((scene) => scene !== first);
    const schedule = scheduleOf(otherScenes, { options, intervalMs, capabilities, spentMs });
    for (const { scene, reason } of schedule) {
      if (reason !== undefined)
        skippedScenes.push({ scene: scene.name, outcome: 'skipped', reason, durationMs: 0 });
    }
    const chosenScenes = schedule.filter(({ reason }) => reason === undefined);
    await runInParallel(options, chosenScenes, signal, ({ scene }, left) =>
      runOne(scene, intervalMs, left),
    );
    if (options.isCut) {
      const update = watchedScenes.find(({ scene }) => scene === 'update');
      const cuts = cutScenes(reportsOf(update?.observed ?? [])).map((scene) => ({ scene }));
      await runInParallel(options, cuts, signal, ({ scene }, left) =>
        runOne(scene, intervalMs, left),
      );
    }
    return joinResults({
      ...facts,
      intervalMs,
      ended: watchedScenes,
      skipped: skippedScenes,
      signal,
    });
  } finally {
    await sharedTestbed?.close();
  }
}

function cutOf({ powerOff }: ClientStartOptions): ClientTestResult['cutBy'] {
  return powerOff === undefined ? 'process killed' : 'power cut';
}

/** A scene that was run, with everything that the client did in it. */
interface WatchedScene extends EndedScene {
  readonly observed: readonly ObservedEvent[];
}

interface RunContext {
  readonly options: ClientTestOptions;
  readonly intervalMs: number | undefined;
  readonly signal: AbortSignal;
  readonly shared: ClientTestbed | undefined;
}

async function runWithServer(
  scene: Scene,
  { options, intervalMs, signal, shared }: RunContext,
): Promise<WatchedScene> {
  const startedMs = systemClock.monotonicMs();
  const testbed = shared ?? (await ClientTestbed.open(options, scene, { signal, intervalMs }));
  try {
    const end = await runScene(scene, testbed, {
      intervalMs,
      contactMs: options.contactMs,
      retryMs: options.retryMs,
    });
    const durationMs = Math.round(systemClock.monotonicMs() - startedMs);
    const { session, events } = testbed;
    return { ...end, scene: scene.name, durationMs, session, observed: events.all };
  } finally {
    if (testbed !== shared) await testbed.close();
  }
}

/** Calls `act` for each item, several at a time, until the signal aborts. */
async function runInParallel<Item>(
  options: ClientTestOptions,
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
  const workers = Math.min(parallelScenes(options), items.length);
  await Promise.all(Array.from({ length: workers }, worker));
}

/** Returns the statuses that a client reported, each once, in their order. */
function reportsOf(events: readonly ObservedEvent[]): readonly string[] {
  return [
    ...new Set(
      events.flatMap(({ report, operation }) =>
        operation === 'put-deployment-status' ? (report ?? []) : [],
      ),
    ),
  ];
}
