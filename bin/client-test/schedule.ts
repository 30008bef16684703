/** The schedule of a client test: which scenes are run, and why others are not. */
import type { ClientCapability } from '../../conformance/client-judge/report/client-test-result.ts';
import type { ClientTestOptions } from './client-test-options.ts';
import { usesTls } from './client-testbed.ts';
import type { ObservedEvent } from './observed-events.ts';
import { isLong, minMs, type Scene } from './scene.ts';

/** Why a scene is not run that `--scene` did not name. */
export const NOT_SELECTED = 'not selected by --scene';

/** A scene with its least real time, or with the reason why it is not run. */
export interface PlannedScene {
  readonly scene: Scene;
  readonly minMs: number;
  readonly reason?: string;
}

interface Schedule {
  readonly options: Pick<
    ClientTestOptions,
    'selection' | 'skips' | 'timeMs' | 'parallel' | 'command' | 'powerOff'
  >;
  readonly intervalMs: number;
  /** Undefined if they are not known, as for a list. */
  readonly capabilities: readonly ClientCapability[] | undefined;
  readonly spentMs?: number;
}

/** Returns every scene with its least time, and the reason why it is not part of the schedule. */
export function scheduleOf(
  scenes: readonly Scene[],
  { options, intervalMs, capabilities, spentMs = 0 }: Schedule,
): readonly PlannedScene[] {
  let leftMs = options.timeMs === undefined ? Number.POSITIVE_INFINITY : options.timeMs - spentMs;
  const workers = parallelScenes(options);
  return scenes.map((scene) => {
    const least = minMs(scene, intervalMs);
    const reason = omissionOf(scene, options, capabilities);
    if (reason !== undefined) return { scene, minMs: least, reason };
    if (least / workers <= leftMs) {
      leftMs -= least / workers;
      return { scene, minMs: least };
    }
    return { scene, minMs: least, reason: 'no time is left; give a longer --time' };
  });
}

/**
 * Returns the number of scenes that run at the same time: 1 for one board whose power is switched,
 * and for one client that is started by hand.
 */
export function parallelScenes({
  parallel,
  command,
  powerOff,
}: Pick<ClientTestOptions, 'parallel' | 'command' | 'powerOff'>): number {
  return command === undefined || powerOff !== undefined ? 1 : parallel;
}

function omissionOf(
  scene: Scene,
  { selection, skips, timeMs, command, powerOff }: Schedule['options'],
  capabilities: readonly ClientCapability[] | undefined,
): string | undefined {
  const { name, needs, excludedBy, server, start, steps } = scene;
  if (selection.length > 0 && !selection.includes(name)) return NOT_SELECTED;
  const skip = skips.get(name);
  if (skip !== undefined) return skip;
  if (needs && capabilities && !capabilities.includes(needs)) return capabilitySentences[needs];
  if (excludedBy && capabilities?.includes(excludedBy))
    return `it is for clients without ${excludedBy}`;
  if (isLong(scene) && timeMs === undefined && selection.length === 0)
    return 'it takes longer than the quick client test; give --time, or --scene';
  if (command !== undefined) return undefined;
  const needsNewClient = start !== 'accepted' || server !== undefined;
  const needsRestart = steps.some((step) => 'client' in step || 'cut' in step);
  return needsNewClient || (needsRestart && powerOff === undefined)
    ? 'it restarts the client; give --command'
    : undefined;
}

const capabilitySentences: Readonly<Record<ClientCapability, string>> = {
  tls: 'the client is started without TLS; use {ca} in --command',
  websocket: 'the client opened no websocket; if it can, give --capability websocket',
  'control-map': 'the client requests no control map; if it can, give --capability control-map',
};

const capabilityEvidence: Readonly<
  Record<Exclude<ClientCapability, 'tls'>, (seen: ObservedEvent) => boolean>
> = {
  websocket: ({ operation }) => operation === 'connect',
  'control-map': ({ event }) =>
    event.kind === 'exchange' && (event.requestBody?.includes('"update_control_map"') ?? false),
};

/** Returns what the client has shown that it can do, and what its author says. */
export function capabilitiesOf(
  events: readonly ObservedEvent[],
  options: ClientTestOptions,
): readonly ClientCapability[] {
  const shownCapabilities = Object.entries(capabilityEvidence).filter(([, isEvidence]) =>
    events.some(isEvidence),
  );
  const names = shownCapabilities.map(([name]) => name as ClientCapability);
  return [
    ...new Set([...options.capabilities, ...names, ...(usesTls(options) ? ['tls' as const] : [])]),
  ];
}
