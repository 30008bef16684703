/** Losses and restarts of workers in a run in shards, as a result contains them. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';

const shard = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.description('Index of the shard; the first is 0.'),
);

const keptShape = v.pipe(
  v.object({
    exchanges: v.pipe(v.number(), v.integer(), v.minValue(0)),
    untilMs: v.pipe(
      v.number(),
      v.minValue(0),
      v.description('Milliseconds since the start of the run.'),
    ),
  }),
  v.description(
    'Figures of the lost worker up to its last message; they are included in the latencies, ' +
      'operations, updates and errors of this result and in a separate stage, but not in series.',
  ),
);

const takeoverShape = v.object({
  shard,
  afterMs: v.pipe(
    v.number(),
    v.minValue(0),
    v.description('Milliseconds since the start of the run.'),
  ),
  from: v.pipe(v.string(), v.description('The worker that was lost.')),
  to: v.string(),
  reason: v.string(),
  adopted: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.description(
      'Devices that had already finished; their outcome is the one that the server lists.',
    ),
  ),
  kept: v.exactOptional(keptShape),
});

const lostShardShape = v.object({
  shard,
  reason: v.string(),
  kept: v.exactOptional(keptShape),
});

/** Schema of the restarted and lost shards of a run on workers. */
export const spreadShape = v.object({
  takeovers: v.pipe(v.array(takeoverShape), v.description('Shards that another worker restarted.')),
  lost: v.pipe(v.array(lostShardShape), v.description('Shards without a result.')),
  missingDeviceMs: v.exactOptional(
    v.pipe(
      v.number(),
      v.minValue(0),
      v.description(
        'Unmeasured part of the device time (devices times duration): from the last message ' +
          'of a lost worker to the start of the next worker, or to the end of the run.',
      ),
    ),
  ),
});

/** The restarted and lost shards of a run. */
export type ShardSpread = Immutable<v.InferOutput<typeof spreadShape>>;
/** A shard that another worker has restarted. */
export type RestartedShard = Immutable<v.InferOutput<typeof takeoverShape>>;
/** The measurements that were kept of a failed worker. */
export type FailedWorkerFigures = Immutable<v.InferOutput<typeof keptShape>>;
