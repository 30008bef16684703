/** One result from those of the shards of a run. */
import { mergeResults } from '../../simulator/report/merge.ts';
import type { HeadOutcome } from '../../simulator/shards/head.ts';
import type { FleetResult } from '../../simulator/simulator.ts';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';

/** The merged result, with what became of the shards. @throws CommandFault when there is none */
export function mergedResult({ results, spread, kept }: HeadOutcome): FleetResult {
  if (results.length === 0) {
    const because = spread.lost[0]?.because ?? 'no worker ran it';
    const sentence = `no shard of the run came to an end (${because}); there is no result`;
    throw new CommandFault(sentence, exitCodes.undecided);
  }
  return { ...mergeResults(results, kept), spread };
}
