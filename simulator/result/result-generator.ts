/** The load generator and the thresholds in a result. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';
import { figuresShape } from './result-figures.ts';

const text = v.string();
const number = v.pipe(v.number(), v.finite(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const process = v.pipe(
  v.object({
    shard: v.pipe(count, v.description('Index of the shard that it run.')),
    durationMs: number,
    cpuUserShare: v.pipe(number, v.description('Of one core, over the whole run.')),
    cpuSystemShare: number,
    loopBusyShare: v.pipe(number, v.description('Of the time, by the event loop.')),
    eventLoopLagP99Ms: number,
    eventLoopLagMaxMs: number,
    collections: v.pipe(count, v.description('Garbage collections.')),
    collectionShare: v.pipe(number, v.description("Of the run's time.")),
    collectionMaxMs: number,
    memoryMaxBytes: count,
    socketsMax: v.pipe(count, v.description('Websockets open at the same time.')),
    connectionsMax: v.pipe(count, v.description('HTTP connections open at the same time.')),
    queuedMax: v.pipe(count, v.description('Requests that waited for a connection together.')),
  }),
  v.description('One process of the generator.'),
);

export const generatorShape = v.object({
  processes: v.array(process),
  schedule: v.pipe(
    v.object({
      due: v.pipe(count, v.description('Cycles of devices that fell due.')),
      sent: v.pipe(count, v.description('Of those, the ones that began.')),
      targetPerSecond: number,
      achievedPerSecond: number,
      lateness: figuresShape,
    }),
    v.description('How late what was due was sent: the error of the schedule.'),
  ),
  reasons: v.pipe(v.array(text), v.description('Why the figures are invalid; else empty.')),
});

export const thresholdShape = v.object({
  threshold: text,
  verdict: v.picklist(['met', 'missed', 'undecided']),
  observed: v.pipe(text, v.description('In the words and the unit of the threshold.')),
});

/** Facts of the generator itself. */
export type GeneratorFacts = Immutable<v.InferOutput<typeof generatorShape>>;
/** Facts of one of its processes. */
export type ProcessFacts = Immutable<v.InferOutput<typeof process>>;
/** The verdict on a threshold. */
export type ThresholdVerdict = Immutable<v.InferOutput<typeof thresholdShape>>;
