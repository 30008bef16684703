/** `fleetbed worker`: plays shards of fleets that `fleetbed simulate --redis` cuts. */
import type { Command } from 'commander';
import { systemClock } from '../fixtures/clock.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { createOutput } from './output.ts';
import { authorityIn } from './simulate/certificates.ts';
import { type RedisOptions, redisOptions } from './simulate/redis/address.ts';
import { openRedis } from './simulate/redis/connection.ts';
import { ownSecrets } from './simulate/redis/secrets.ts';
import { stopSignal } from './stop-signal.ts';
import { followRuns } from './worker/follow-runs.ts';

/** Adds the options of `fleetbed worker` and what it does. */
export function configure(command: Command): void {
  for (const option of redisOptions('where the runs are')) command.addOption(option);
  command.action(async (options: RedisOptions) => {
    if (options.redis === undefined) {
      command.error("error: required option '--redis <url>' is not given");
    }
    process.exitCode = await work(options.redis, options.redisCa);
  });
}

async function work(url: string, caFile: string | undefined): Promise<ExitCode> {
  const { progress } = createOutput(false);
  const secrets = await ownSecrets(process.env);
  const caPem = caFile === undefined ? undefined : await authorityIn('--redis-ca', caFile);
  const signal = stopSignal();
  const link = await openRedis({ url, caPem }, systemClock);
  progress(`worker: ready at ${link.shown}; Ctrl-C plays what is underway to its end`);
  try {
    await followRuns({ link, clock: systemClock, secrets, say: progress }, signal);
  } finally {
    link.close();
  }
  return exitCodes.pass;
}
