/**
 * The result of a run: one plain object that every report renders, that others can read by a
 * published schema, and that merges exactly with those of other processes. All valid JSON.
 */
import * as v from 'valibot';
import { backoffComparisonShape } from './backoff-comparison.ts';
import type { Immutable } from './immutable.ts';
import { checksShape } from './result-checks.ts';
import { deviceRowShape, type Funnel, funnelShape, reconciliationShape } from './result-devices.ts';
import {
  accountsShape,
  type ErrorCount,
  errorShape,
  measuredShape,
  type OperationLatency,
  phaseShape,
  seriesShape,
  updatesShape,
} from './result-figures.ts';
import { generatorShape, type ProcessFacts, thresholdShape } from './result-generator.ts';
import { machinesShape } from './result-machines.ts';
import { planSummaryShape, shardShape } from './result-plan.ts';
import { spreadShape } from './result-spread.ts';
import { sharedKeysShape } from './shared-keys.ts';

export type { DeviceRow } from './result-devices.ts';
export type { PlanSummary } from './result-plan.ts';

/** The version of the format: fields may be added, none changes its meaning. */
export const fleetSchema = 'fleetbed-fleet/2';

/** Counts of the event stream, in a run that had one. */
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

/** What a run in virtual time has more. */
const virtualShape = v.object({
  startMs: v.pipe(v.number(), v.description('Milliseconds since the Unix epoch.')),
  eventLog: v.object({ sha256: v.string(), lines: v.number() }),
  violations: v.array(v.object({ invariant: v.string(), said: v.string() })),
});

/** Reasons for which a run ends. */
const ends = ['settled', 'duration', 'stages', 'iterations', 'interrupted', 'threshold'] as const;
/** Why a run ended; `threshold`: one can no longer be met. */
export type Ended = (typeof ends)[number];

/** The result of one run, or of several processes' runs of one plan. */
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
  accounts: accountsShape,
  reconciliation: reconciliationShape,
  updates: updatesShape,
  ...measuredShape,
  phases: v.array(phaseShape),
  series: seriesShape,
  errors: v.array(errorShape),
  sharedKeys: v.exactOptional(sharedKeysShape),
  backoffComparison: v.exactOptional(backoffComparisonShape),
  checks: v.exactOptional(checksShape),
  devices: v.array(deviceRowShape),
});
export type FleetResult = Immutable<v.InferOutput<typeof fleetResultShape>>;

/** Durations of the exchanges of one operation so far. */
export type LatencySoFar = Pick<
  OperationLatency,
  'operation' | 'count' | 'p50Ms' | 'p90Ms' | 'p99Ms' | 'maxMs'
>;

/** The progress of a run. */
export interface FleetProgress {
  readonly elapsedMs: number;
  readonly funnel: Funnel;
  /** Requests and handshakes sent so far. */
  readonly exchanges: number;
  readonly errors: number;
  readonly socketsOpen: number;
  /** The run's own deployment, once it exists. */
  readonly deployment?: { readonly deploymentId: string; readonly artifactName: string };
  /** Name of the phase of the plan. */
  readonly phase: string;
  /** Latencies by operation, over the whole run so far. */
  readonly latencies: readonly LatencySoFar[];
  /** State of the generator's processes, each over the whole run so far. */
  readonly generators: readonly ProcessFacts[];
  /** 99th percentile of the lateness of scheduled cycles. */
  readonly latenessP99Ms: number;
  /** Errors by cause, the most frequent first. */
  readonly causes: readonly ErrorCount[];
  /** Requirements that the watched devices have seen broken; absent where none is watched. */
  readonly broken?: readonly string[];
}
