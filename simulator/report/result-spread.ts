/** What became of the players of a run in shards, as it stands in a result. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';

const shard = v.pipe(v.number(), v.integer(), v.minValue(0), v.description('The first is 0.'));

const takeoverShape = v.object({
  shard,
  afterMs: v.pipe(v.number(), v.minValue(0), v.description('Since the start of the run.')),
  from: v.pipe(v.string(), v.description('The player that was lost.')),
  to: v.string(),
  because: v.string(),
  adopted: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.description("Devices that had come to their end before; their outcome is the server's word."),
  ),
});

const lostShardShape = v.object({ shard, because: v.string() });

/** The losses of a run whose shards had players of their own. */
export const spreadShape = v.object({
  takeovers: v.pipe(
    v.array(takeoverShape),
    v.description('Shards that another player began again; figures of the first are lost.'),
  ),
  lost: v.pipe(v.array(lostShardShape), v.description('Shards without a result.')),
});

/** A shard that another player has begun again. */
export type Takeover = Immutable<v.InferOutput<typeof takeoverShape>>;
/** A shard that has no result. */
export type LostShard = Immutable<v.InferOutput<typeof lostShardShape>>;
