/**
 * The values of a policy: back-off after errors, spread of polls, downloads, and simulated network.
 */
import * as v from 'valibot';
import {
  duration,
  networkDuration,
  oneOf,
  share,
  wholeNumber,
  withoutUndefined,
  yesOrNo,
} from './plan-values.ts';

export const backOffKinds = ['fixed', 'exponential', 'equal-jitter', 'full-jitter'] as const;
export type BackOffKind = (typeof backOffKinds)[number];
export const pollSpreads = ['even', 'random', 'lockstep'] as const;
export const downloadParts = ['full', 'head', 'none'] as const;
const BYTES_PER_SECOND_MAX = 10_000_000_000;

/** Schema of a back-off after errors; `cohort.ts` has the defaults. */
export const backOff = v.pipe(
  v.strictObject({
    kind: v.optional(oneOf(backOffKinds)),
    min: v.optional(duration(1)),
    max: v.optional(duration(1)),
    obeysRetryAfter: v.optional(yesOrNo),
  }),
  v.transform(({ min, max, ...same }) => withoutUndefined({ ...same, minMs: min, maxMs: max })),
);

/** Schema of the plan member `network`: the network that this process simulates for a device. */
export const network = v.pipe(
  v.strictObject({
    latency: v.optional(networkDuration),
    jitter: v.optional(networkDuration),
    /** Share of the exchanges that are lost, from 0 to 1. */
    loss: v.optional(share),
    bytesPerSecond: v.optional(wholeNumber(0, BYTES_PER_SECOND_MAX)),
  }),
  v.transform(({ latency, jitter, loss, bytesPerSecond }) =>
    withoutUndefined({ latencyMs: latency, jitterMs: jitter, lossShare: loss, bytesPerSecond }),
  ),
);

/** The properties of a simulated network. */
export interface NetworkShape {
  /** Delay from device to server in milliseconds; the way back has the same delay. */
  readonly latencyMs: number;
  /** Largest random deviation from the latency, up or down. */
  readonly jitterMs: number;
  /** Share of the exchanges that are lost: 0 to 1. */
  readonly lossShare: number;
  /**
   * Bandwidth for bodies and messages in each direction, in bytes per second; 0 means unlimited.
   */
  readonly bytesPerSecond: number;
}
