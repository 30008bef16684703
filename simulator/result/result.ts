/**
 * The result of a run: one plain JSON object with a published schema. Every report renders it, and
 * the results of several processes merge exactly.
 */
import * as v from 'valibot';
import { backoffComparisonShape } from './backoff-comparison.ts';
import { type FixedRatePolls, fixedRatePollsShape } from './fixed-rate-polls.ts';
import type { Immutable } from './immutable.ts';
import { checksShape } from './result-checks.ts';
import { deviceRowShape, type Funnel, funnelShape, reconciliationShape } from './result-devices.ts';
import {
  deviceCountsShape,
  type ErrorCount,
  errorShape,
  measuredShape,
  type OperationLatency,
  seriesShape,
  stageShape,
  updatesShape,
} from './result-figures.ts';
import { generatorShape, type ProcessFacts, thresholdShape } from './result-generator.ts';
import { machinesShape } from './result-machines.ts';
import { planSummaryShape, shardShape } from './result-plan.ts';
import { spreadShape } from './result-spread.ts';
import { scopesShape } from './scopes.ts';
import { sharedKeysShape } from './shared-keys.ts';
import { type Traffic, trafficShape } from './traffic.ts';

export type { DeviceRow } from './result-devices.ts';
export type { PlanSummary } from './result-plan.ts';

/**
 * Version of the format. Within a version, fields may be added, but no field changes its meaning.
 */
export const fleetSchema = 'fleetbed-fleet/2';

/** Schema of the counts of the event stream, in a run that wrote one. */
const eventsShape = v.object({
  written: v.pipe(v.number(), v.integer(), v.minValue(0)),
  lost: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.description(
      'Events left out because their reader or the coordinator was too slow, or writing failed.',
    ),
  ),
  error: v.exactOptional(
    v.pipe(v.string(), v.description('Code of the write error, such as ENOSPC.')),
  ),
});

/** Schema of the additional facts of a run in virtual time. */
const virtualShape = v.object({
  startMs: v.pipe(v.number(), v.description('Milliseconds since the Unix epoch.')),
  eventLog: v.object({ sha256: v.string(), lines: v.number() }),
  violations: v.array(v.object({ invariant: v.string(), message: v.string() })),
});

/** All reasons why a run ends. */
const ends = ['settled', 'duration', 'stages', 'iterations', 'interrupted', 'threshold'] as const;
/** Why a run ended. `threshold`: a threshold could no longer be met. */
export type EndReason = (typeof ends)[number];

/** Schema of the result of one run, or of the merged results of several processes. */
export const fleetResultShape = v.object({
  schema: v.literal(fleetSchema),
  ended: v.picklist(ends),
  seed: v.string(),
  plan: planSummaryShape,
  shards: v.pipe(
    v.array(shardShape),
    v.description('Shards of the fleet in this result; shard 0 of 1 is the whole fleet.'),
  ),
  spread: v.exactOptional(spreadShape),
  startedAt: v.pipe(v.string(), v.description('Start of the run in ISO 8601, UTC.')),
  durationMs: v.pipe(v.number(), v.finite(), v.minValue(0)),
  validity: v.pipe(
    v.picklist(['valid', 'invalid', 'not-judged']),
    v.description(
      'Invalid: the generator was the limit; see generator.reasons. Not judged: too few polls were due.',
    ),
  ),
  generator: generatorShape,
  machines: v.exactOptional(machinesShape),
  events: v.exactOptional(eventsShape),
  virtual: v.exactOptional(virtualShape),
  thresholds: v.array(thresholdShape),
  deploymentId: v.exactOptional(
    v.pipe(v.string(), v.description('ID of the deployment that the run created.')),
  ),
  deployedMs: v.exactOptional(
    v.pipe(
      v.number(),
      v.description('Creation of the deployment, in milliseconds since the Unix epoch.'),
    ),
  ),
  funnel: funnelShape,
  deviceCounts: deviceCountsShape,
  reconciliation: reconciliationShape,
  updates: updatesShape,
  traffic: v.exactOptional(trafficShape),
  fixedRatePolls: v.exactOptional(fixedRatePollsShape),
  ...measuredShape,
  stages: v.array(stageShape),
  scopes: v.exactOptional(scopesShape),
  series: seriesShape,
  errors: v.array(errorShape),
  sharedKeys: v.exactOptional(sharedKeysShape),
  backoffComparison: v.exactOptional(backoffComparisonShape),
  checks: v.exactOptional(checksShape),
  devices: v.array(deviceRowShape),
});
/** The result of a run: what `--report json` writes. Durations are in milliseconds. */
export type FleetResult = Immutable<v.InferOutput<typeof fleetResultShape>>;

/** Latencies of one operation since the start of the run. */
export type CurrentLatency = Pick<
  OperationLatency,
  'operation' | 'count' | 'p50Ms' | 'p90Ms' | 'p99Ms' | 'maxMs'
>;

/** The progress of a run. */
export interface FleetProgress {
  readonly elapsedMs: number;
  readonly funnel: Funnel;
  /** Number of requests and WebSocket handshakes sent so far. */
  readonly exchanges: number;
  readonly errors: number;
  readonly socketsOpen: number;
  /** The deployment of the run, once it has been created. */
  readonly deployment?: { readonly deploymentId: string; readonly artifactName: string };
  /** Name of the current stage of the plan. */
  readonly stage: string;
  /** Latencies by operation since the start of the run. */
  readonly latencies: readonly CurrentLatency[];
  /** Load of the generator's processes since the start of the run. */
  readonly generators: readonly ProcessFacts[];
  /** 99th percentile of the lateness of scheduled cycles. */
  readonly latenessP99Ms: number;
  /** Bytes since the start of the run; absent before the first exchange. */
  readonly traffic?: Traffic;
  /** Polls at the fixed rate of the plan, if it has one. */
  readonly fixedRatePolls?: FixedRatePolls;
  /** Errors by cause, the most frequent first. */
  readonly causes: readonly ErrorCount[];
  /**
   * Requirements that the server violated towards watched devices; absent when no device is
   * watched.
   */
  readonly violated?: readonly string[];
}
