/**
 * Plan-file values of a policy: how devices poll, back off after faults, and what network they
 * have.
 */
import * as v from 'valibot';
import { milliseconds, oneOf, share, wholeNumber, yesOrNo } from './plan-values.ts';

export const backOffKinds = ['fixed', 'exponential', 'equal-jitter', 'full-jitter'] as const;
export type BackOffKind = (typeof backOffKinds)[number];
export const phases = ['even', 'random', 'lockstep'] as const;
export const downloads = ['full', 'head', 'none'] as const;
const BYTES_PER_SECOND_MAX = 10_000_000_000;

/** Back-off after faults; the defaults are in `cohort.ts`. */
export const backOffFields = v.strictObject(
  {
    kind: v.optional(oneOf(backOffKinds)),
    leastMs: v.optional(milliseconds(1)),
    mostMs: v.optional(milliseconds(1)),
    obeysRetryAfter: v.optional(yesOrNo),
  },
  'must be an object of kind, least, most and obeysRetryAfter',
);

/** A network simulated in this process. */
export const linkFields = v.strictObject(
  {
    latencyMs: v.optional(milliseconds(0)),
    jitterMs: v.optional(milliseconds(0)),
    lossShare: v.optional(share),
    bytesPerSecond: v.optional(wholeNumber(0, BYTES_PER_SECOND_MAX)),
  },
  'must be an object of latency, jitter, loss and bytesPerSecond',
);

/** Properties of a simulated network. */
export interface LinkShape {
  /** From device to server, and the same again on the way back. */
  readonly latencyMs: number;
  /** Largest random deviation from the latency, up or down. */
  readonly jitterMs: number;
  /** Share of the exchanges that are lost: 0 to 1. */
  readonly lossShare: number;
  /** Bandwidth for bodies in each direction; 0 means unlimited. */
  readonly bytesPerSecond: number;
}
