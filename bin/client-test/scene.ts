/**
 * The type of a scene: the steps that Fleetbed takes, and the requests that it expects of the
 * client in between. Duties name the scenes that test them; a scene names none.
 */
import type { ClientCapability } from '../../conformance/client-judge/report/client-test-result.ts';
import type { VariationName } from '../../fixtures/contract/variation-names.ts';
import type { TlsDefect } from '../../server/listeners/tls/broken-tls.ts';
import type { ServerOptions } from '../../server/server.ts';
import type { ConditionName } from './conditions.ts';

/** The kind of update that a deployment offers, and its control map. */
export interface OfferedUpdate {
  /**
   * `new`: an artifact with a name of its own; `installed`: the artifact that the client has;
   * `configuration`: a configuration for the client.
   */
  readonly offer: 'new' | 'installed' | 'configuration';
  /** The control map of the deployment: the action by state. */
  readonly states?: Readonly<Record<string, 'pause' | 'continue'>>;
}

/** One step of a scene. */
export type Step =
  /**
   * Waits for a request that ended after the step before. Without `isOptional` its absence ends the
   * scene.
   */
  | { readonly await: ConditionName; readonly intervals?: number; readonly isOptional?: true }
  /** Lets the client go on for this many of its intervals, or seconds. */
  | { readonly idleIntervals: number }
  | { readonly idleSeconds: number }
  | { readonly advanceSeconds: number }
  /** Rules of a fault plan, as `fleetbed faults` takes them. */
  | { readonly faults: readonly object[] }
  | { readonly clear: 'faults' }
  | { readonly vary: readonly VariationName[] }
  /** Sends this on the open WebSocket, or closes it. */
  | { readonly send: 'ping' | 'unknown-message' | 'fragments' | 'close' }
  | { readonly user: 'accept' | 'reject' | 'abort' | 'continueMap' | 'checkUpdate' }
  | { readonly deploy: OfferedUpdate }
  /** Kills the client; starts it; both; or starts it at an address with faulty or no TLS. */
  | { readonly client: 'kill' | 'start' | 'restart' }
  | { readonly startAt: TlsDefect | 'no-tls' }
  /** Stalls at a point, kills the client exactly then, and starts it again. */
  | { readonly cut: CutPoint };

/** A point at which the client loses its process or its power. */
export interface CutPoint {
  readonly name: string;
  /** The fault that holds the exchange at this point; its action is `stall`. */
  readonly hold?: {
    /** The `match` of the fault. */
    readonly match: object;
    readonly when: 'before' | 'after' | 'body';
    /** The part of the file that was sent: 0 is the first byte, 1 all but the last. */
    readonly part?: number;
  };
  /** The request whose end is the point. */
  readonly after?: ConditionName;
}

/** A scene. */
export interface Scene {
  readonly name: string;
  /** The state of the client when the first step begins. */
  readonly start: 'stopped' | 'unknown' | 'accepted';
  readonly steps: readonly Step[];
  /** Settings of the scene's server. */
  readonly server?: Pick<ServerOptions, 'dialects' | 'tokenLifetimeSeconds'>;
  readonly needs?: ClientCapability;
  /** The capability of clients for which the scene is not run. */
  readonly excludedBy?: ClientCapability;
  /** False if the client does not poll at the end. */
  readonly recovers?: false;
}

/** Thrown when a scene cannot go on; the message is a sentence for the report. */
export class SceneStopped extends Error {
  override readonly name = 'SceneStopped';
  /** True if nothing came from the client at all. */
  readonly noRequest: boolean;
  /** True if the client has no such point as the scene is about. */
  readonly pointNotReached: boolean;
  /** True if the client ended with an error, so that it does nothing any more. */
  readonly hasCrashed: boolean;

  constructor(
    sentence: string,
    {
      noRequest = false,
      pointNotReached = false,
      hasCrashed = false,
    }: { noRequest?: boolean; pointNotReached?: boolean; hasCrashed?: boolean } = {},
  ) {
    super(sentence);
    this.noRequest = noRequest;
    this.pointNotReached = pointNotReached;
    this.hasCrashed = hasCrashed;
  }
}

/** Intervals that a step waits for by default. */
const INTERVALS_DEFAULT = 4;
/**
 * Returns the longest time of a step that waits, in milliseconds.
 * @param retryMs additional time for a client that retries at a slower pace than it polls
 */
export function limitMs(
  intervals: number | undefined,
  { intervalMs, retryMs }: { readonly intervalMs: number; readonly retryMs: number },
): number {
  return (intervals ?? INTERVALS_DEFAULT) * intervalMs + retryMs;
}

/** Returns the least real time of a scene for a client with this interval, in milliseconds. */
export function minMs({ start, steps, recovers }: Scene, intervalMs: number): number {
  const sum = steps.reduce((total, step) => total + minOfStep(step, intervalMs), 0);
  const pollsAround = (start === 'stopped' ? 0 : 1) + (recovers === false ? 0 : 1);
  return sum + pollsAround * intervalMs;
}

/**
 * Conditions that a client meets directly after an offer; it meets the others with its next poll.
 */
const promptConditions: ReadonlySet<ConditionName> = new Set([
  'download',
  'whole download',
  'report',
  'log',
]);

/** Connections of a client to an address that it must refuse, and the longest time for them. */
export const REFUSED_CONNECTIONS_MIN = 5;
export const REFUSED_MAX_MS = 20_000;

function minOfStep(step: Step, intervalMs: number): number {
  if ('idleIntervals' in step) return step.idleIntervals * intervalMs;
  if ('idleSeconds' in step) return step.idleSeconds * 1000;
  if ('await' in step) return promptConditions.has(step.await) ? 0 : intervalMs;
  if ('startAt' in step)
    return Math.min((REFUSED_CONNECTIONS_MIN - 1) * intervalMs, REFUSED_MAX_MS);
  return 'cut' in step ? 2 * intervalMs : 0;
}

/** Returns true if a scene waits for longer than the quick test allows, whatever the interval. */
export function isLong({ steps }: Scene): boolean {
  return steps.some((step) => 'idleSeconds' in step && step.idleSeconds > QUICK_WAIT_MAX_SECONDS);
}

const QUICK_WAIT_MAX_SECONDS = 30;
