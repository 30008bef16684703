/** The parts of a result about the load generator and the thresholds. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';
import { figuresShape } from './result-figures.ts';

const text = v.string();
const number = v.pipe(v.number(), v.finite(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const process = v.pipe(
  v.object({
    shard: v.pipe(count, v.description('Index of the shard that the process ran.')),
    durationMs: number,
    cpuUserShare: v.pipe(
      number,
      v.description('User CPU time as a share of one core, over the whole run.'),
    ),
    cpuSystemShare: number,
    loopBusyShare: v.pipe(
      number,
      v.description('Share of the time during which the event loop was busy.'),
    ),
    eventLoopLagP99Ms: number,
    eventLoopLagMaxMs: number,
    collections: v.pipe(count, v.description('Number of garbage collections.')),
    collectionShare: v.pipe(number, v.description('Share of the run spent in garbage collection.')),
    collectionMaxMs: number,
    memoryMaxBytes: count,
    socketsMax: v.pipe(count, v.description('Most WebSockets open at the same time.')),
    connectionsMax: v.pipe(count, v.description('Most HTTP connections open at the same time.')),
    queuedMax: v.pipe(
      count,
      v.description('Most requests waiting for a connection at the same time.'),
    ),
  }),
  v.description('One process of the load generator.'),
);

export const generatorShape = v.object({
  processes: v.array(process),
  schedule: v.pipe(
    v.object({
      due: v.pipe(count, v.description('Device cycles that fell due.')),
      sent: v.pipe(count, v.description('Due cycles that began.')),
      targetPerSecond: number,
      achievedPerSecond: number,
      lateness: figuresShape,
    }),
    v.description('Delay from when a device cycle was due to when it was sent.'),
  ),
  reasons: v.pipe(
    v.array(text),
    v.description('Why the figures are invalid; empty if they are valid.'),
  ),
});

export const thresholdShape = v.object({
  threshold: text,
  verdict: v.picklist(['met', 'missed', 'inconclusive']),
  observed: v.pipe(text, v.description('Observed value, in the terms and unit of the threshold.')),
});

/** Facts about the load generator. */
export type GeneratorFacts = Immutable<v.InferOutput<typeof generatorShape>>;
/** Facts about one process of the load generator. */
export type ProcessFacts = Immutable<v.InferOutput<typeof process>>;
/** The verdict on a threshold. */
export type ThresholdVerdict = Immutable<v.InferOutput<typeof thresholdShape>>;
