/** What a run comes to: one plain object that every report renders. All of it can be JSON. */
import type { KeyType, ReportableStatus } from '../../fixtures/contract/vocabulary.ts';
import type { Balance } from '../fleet/balance.ts';
import type { Funnel, Outcome } from '../fleet/funnel.ts';
import type { ErrorCount, OperationCount, OperationLatency } from './ledger.ts';

/** One device at the end of the run. */
export interface DeviceRow {
  readonly index: number;
  /** The server's id, where the device or the operator came to know it. */
  readonly deviceId?: string;
  readonly serial: string;
  readonly keyType: KeyType;
  readonly behaviour: string;
  readonly outcome: Outcome;
  /** The deployment that the outcome is about. */
  readonly deploymentId?: string;
  /** What the device has reported of it and the server has acknowledged, in order. */
  readonly reported: readonly ReportableStatus[];
  /** What is installed now. */
  readonly artifactName: string;
}

/** What was to be done, without any secret. */
export interface PlanSummary {
  readonly baseUrl: string;
  readonly devices: number;
  readonly keys: Readonly<Record<KeyType, number>>;
  readonly behaviours: readonly { readonly name: string; readonly weight: number }[];
  readonly pollIntervalMs: number;
  readonly inventoryIntervalMs: number;
  readonly rampMs: number;
  readonly durationMs?: number;
  readonly until?: 'settled';
  readonly connect: boolean;
  readonly deploy?: string;
  readonly deviceType: string;
}

/** Why the run ended. */
export type Ended = 'settled' | 'duration' | 'interrupted';

/** The outcome of one run. */
export interface FleetResult {
  readonly ended: Ended;
  readonly seed: string;
  readonly plan: PlanSummary;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** The run's own deployment. */
  readonly deploymentId?: string;
  readonly funnel: Funnel;
  readonly balance: Balance;
  /** In milliseconds, from HDR histograms with three significant digits; answered exchanges only. */
  readonly latencies: readonly OperationLatency[];
  readonly operations: readonly OperationCount[];
  readonly errors: readonly ErrorCount[];
  readonly devices: readonly DeviceRow[];
}

/** Where a run stands. */
export interface FleetProgress {
  readonly elapsedMs: number;
  readonly funnel: Funnel;
  /** Requests sent so far, and handshakes. */
  readonly exchanges: number;
  readonly errors: number;
  /** Websockets that are open. */
  readonly socketsOpen: number;
}
