/**
 * `fleetbed run-shard`: runs one shard for its parent process, which is a simulator with
 * `--processes` or a worker. Not for users: the assignment arrives over the channel to the parent.
 */
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { ParentChannel } from '../../../simulator/cluster/parent-channel.ts';
import { runShard } from '../../../simulator/cluster/run-shard.ts';
import { CommandError, describeError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { fleetError } from '../../output/fleet-outcome.ts';
import { packageVersion } from '../../output/version.ts';
import { judgeFor } from './checks.ts';

/** Adds the action of `fleetbed run-shard`. */
export function configure(command: Command): void {
  command.action(async () => {
    process.exitCode = await runAssignedShard();
  });
}

async function runAssignedShard(): Promise<number> {
  if (process.send === undefined) {
    const sentence = 'run-shard is started by fleetbed simulate --processes and by fleetbed worker';
    throw new CommandError(sentence, exitCodes.usage);
  }
  // Ctrl-C reaches every process of the group, but the parent decides when its shards stop.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  // The result of a shard is lost without its parent.
  process.once('disconnect', () => process.exit(exitCodes.interrupted));
  const channel = new ParentChannel();
  const assignment = await channel.assignment;
  await runShard(assignment, {
    channel,
    clock: systemClock,
    version: packageVersion(),
    judge: await judgeFor(assignment.plan),
    describeError: (error) => describeError(fleetError(error, assignment.plan)),
  });
  await channel.delivered;
  return exitCodes.pass;
}
