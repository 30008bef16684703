/**
 * `fleetbed run-shard`: runs one shard for its parent process, which is a simulator with
 * `--processes` or a worker. Not for users: the order arrives over the channel to the parent.
 */
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/clock.ts';
import { ParentLine } from '../../../simulator/cluster/parent-line.ts';
import { runShard } from '../../../simulator/cluster/run-shard.ts';
import { CommandError, describeError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { fleetError } from '../../output/fleet-outcome.ts';
import { packageVersion } from '../../output/version.ts';
import { judgeFor } from './checks.ts';

/** Adds the action of `fleetbed run-shard`. */
export function configure(command: Command): void {
  command.action(async () => {
    process.exitCode = await obey();
  });
}

async function obey(): Promise<number> {
  if (process.send === undefined) {
    const sentence = 'run-shard is started by fleetbed simulate --processes and by fleetbed worker';
    throw new CommandError(sentence, exitCodes.usage);
  }
  // Ctrl-C reaches every process of the group, but the parent decides when its shards stop.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  // The result of a shard is lost without its parent.
  process.once('disconnect', () => process.exit(exitCodes.interrupted));
  const line = new ParentLine();
  const order = await line.order;
  await runShard(order, {
    line,
    clock: systemClock,
    version: packageVersion(),
    judge: await judgeFor(order.plan),
    describeError: (error) => describeError(fleetError(error, order.plan)),
  });
  await line.delivered;
  return exitCodes.pass;
}
