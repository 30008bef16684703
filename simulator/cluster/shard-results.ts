/** One result from those of the shards of a run. */

import type { FleetResult } from '../engine/simulate-fleet.ts';
import { mergeResults } from '../result/merge.ts';
import { ClusterError } from './cluster-error.ts';
import type { ClusterOutcome } from './coordinator.ts';

/** The merged result, with what became of the shards. @throws ClusterError when there is none */
export function mergedResult({ results, spread, kept }: ClusterOutcome): FleetResult {
  if (results.length === 0) {
    const because = spread.lost[0]?.because ?? 'no worker ran it';
    const sentence = `no shard of the run came to an end (${because}); there is no result`;
    throw new ClusterError(sentence, 'no-result');
  }
  return { ...mergeResults(results, kept), spread };
}
