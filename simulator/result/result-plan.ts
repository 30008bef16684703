/**
 * The plan in a result: what was to be done, without any secret, with every default filled in, so
 * that two results can be held against each other. Paths of files stay out; what is in them counts.
 */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';

const text = v.string();
const number = v.pipe(v.number(), v.finite(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const yesOrNo = v.boolean();
const sha256 = v.pipe(text, v.regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hex'));

const keysShape = v.object({ rsa: number, ecdsa: number, ed25519: number });
const behavioursShape = v.array(v.object({ name: text, weight: number }));

const backOffShape = v.object({
  kind: text,
  leastMs: number,
  mostMs: number,
  obeysRetryAfter: yesOrNo,
});

const cohortShape = v.object({
  name: text,
  weight: number,
  keys: keysShape,
  behaviours: behavioursShape,
  behaviourParameters: v.exactOptional(v.record(text, v.record(text, v.number()))),
  policy: v.object({
    pollIntervalMs: number,
    pollJitterShare: number,
    phase: text,
    inventoryIntervalMs: number,
    connect: yesOrNo,
    download: text,
    backOff: backOffShape,
    link: v.exactOptional(
      v.object({ latencyMs: number, jitterMs: number, lossShare: number, bytesPerSecond: number }),
    ),
  }),
});

const stageShape = v.object({ kind: text, durationMs: number, devices: v.exactOptional(count) });

const sceneShape = v.object({
  name: text,
  atMs: number,
  withinMs: v.exactOptional(number),
  jitter: v.exactOptional(yesOrNo),
  lastingMs: v.exactOptional(number),
  cohort: v.exactOptional(text),
});

/** Parts that results of former versions lack. */
const laterFields = {
  digest: v.exactOptional(
    v.pipe(
      sha256,
      v.description(
        'Of everything else here and the seed, as JSON with its members in order; two plans are ' +
          'the same when this is.',
      ),
    ),
  ),
  cohorts: v.exactOptional(
    v.pipe(v.array(cohortShape), v.description('One called all where the plan names none.')),
  ),
  stages: v.exactOptional(v.array(stageShape)),
  scenes: v.exactOptional(v.array(sceneShape)),
  arrivals: v.exactOptional(v.array(v.object({ event: text, perSecond: number }))),
  iterations: v.exactOptional(count),
  drainMs: v.exactOptional(number),
  abortOnThreshold: v.exactOptional(yesOrNo),
  requestTimeLimitMs: v.exactOptional(number),
  checkShare: v.exactOptional(number),
  headerPrefix: v.exactOptional(text),
  deploymentName: v.exactOptional(text),
  idPrefix: v.exactOptional(text),
  idData: v.exactOptional(text),
  rsaPool: v.exactOptional(
    v.object({ size: v.exactOptional(count), bits: v.exactOptional(count) }),
  ),
  files: v.exactOptional(
    v.pipe(
      v.object({
        behaviours: v.exactOptional(v.array(sha256)),
        idData: v.exactOptional(sha256),
      }),
      v.description('What is in the files that the plan names.'),
    ),
  ),
};

export const planSummaryShape = v.object({
  baseUrl: text,
  devices: v.pipe(count, v.description('Of the whole fleet, all shards together.')),
  keys: keysShape,
  behaviours: behavioursShape,
  pollIntervalMs: number,
  inventoryIntervalMs: number,
  rampMs: number,
  durationMs: v.exactOptional(number),
  until: v.exactOptional(v.literal('settled')),
  connect: yesOrNo,
  deploy: v.exactOptional(text),
  deviceType: text,
  thresholds: v.exactOptional(v.array(text)),
  ...laterFields,
});

/** A contiguous part of a fleet: `index` of `of`, counted from zero. */
export const shardShape = v.object({ index: count, of: count });

/** What was to be done. */
export type PlanSummary = Immutable<v.InferOutput<typeof planSummaryShape>>;
