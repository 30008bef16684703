/** The plan in a result: what was to be done, without any secret. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';

const text = v.string();
const number = v.pipe(v.number(), v.finite(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const planSummaryShape = v.object({
  baseUrl: text,
  devices: v.pipe(count, v.description('Of the whole fleet, all shards together.')),
  keys: v.object({ rsa: number, ecdsa: number, ed25519: number }),
  behaviours: v.array(v.object({ name: text, weight: number })),
  pollIntervalMs: number,
  inventoryIntervalMs: number,
  rampMs: number,
  durationMs: v.exactOptional(number),
  until: v.exactOptional(v.literal('settled')),
  connect: v.boolean(),
  deploy: v.exactOptional(text),
  deviceType: text,
  thresholds: v.exactOptional(v.array(text)),
});

/** A contiguous part of a fleet: `index` of `of`, counted from zero. */
export const shardShape = v.object({ index: count, of: count });

/** What was to be done. */
export type PlanSummary = Immutable<v.InferOutput<typeof planSummaryShape>>;
