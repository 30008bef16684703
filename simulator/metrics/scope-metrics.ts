/** The metrics of the parts of a run to which its thresholds apply: cohorts, stages, or both. */
import type { AnsweredExchange, UnansweredExchange } from '../network/transport.ts';
import type { ScopeFigures, ThresholdScope } from '../result/scopes.ts';
import { OperationMetrics } from './operation-metrics.ts';

/** Returns the name of the cohort of a caller; undefined when it is not a device of the fleet. */
export type CohortOf = (caller: string) => string | undefined;

interface Scoped {
  readonly scope: ThresholdScope;
  readonly operations: OperationMetrics;
}

/** Counts exchanges in each scope that a threshold of the plan names. */
export class ScopeMetrics {
  readonly #rows: readonly Scoped[];
  readonly #cohortOf: CohortOf;

  constructor(scopes: readonly ThresholdScope[], cohortOf: CohortOf) {
    this.#rows = scopes.map((scope) => ({ scope, operations: new OperationMetrics() }));
    this.#cohortOf = cohortOf;
  }

  recordResponse(exchange: AnsweredExchange, stage: string): void {
    for (const { operations } of this.#matching(exchange, stage))
      operations.recordResponse(exchange);
  }

  recordNoResponse(exchange: UnansweredExchange, stage: string): void {
    for (const { operations } of this.#matching(exchange, stage))
      operations.recordNoResponse(exchange);
  }

  /** @param durationMsOf returns the time that a scope has lasted, in milliseconds */
  figures(durationMsOf: (scope: ThresholdScope) => number): ScopeFigures[] {
    return this.#rows.map(({ scope, operations }) => ({
      ...scope,
      durationMs: durationMsOf(scope),
      latencies: operations.latencySums(),
      operations: operations.counts(),
    }));
  }

  #matching({ caller = '' }: { readonly caller?: string }, stage: string): readonly Scoped[] {
    if (this.#rows.length === 0) return this.#rows;
    const cohort = this.#cohortOf(caller);
    return this.#rows.filter(
      ({ scope }) => (scope.cohort ?? cohort) === cohort && (scope.stage ?? stage) === stage,
    );
  }
}
