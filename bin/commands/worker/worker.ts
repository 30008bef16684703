/** `fleetbed worker`: runs shards of fleets that `fleetbed simulate --redis` distributes. */
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { ValuesOf } from '../../../fixtures/base/option-row.ts';
import { systemRandom } from '../../../fixtures/base/random.ts';
import { openRedis } from '../../../simulator/cluster/redis/connection.ts';
import { followRuns } from '../../../simulator/cluster/redis/follow-runs.ts';
import type { OwnPlan } from '../../../simulator/plan/divided-plan.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { fleetError } from '../../output/fleet-outcome.ts';
import { createOutput } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { packageVersion } from '../../output/version.ts';
import { authorityIn } from '../simulate/certificates.ts';
import { redisRows, workerSecret } from '../simulate/redis-options.ts';
import { addOwnOptions, type OwnOptions, ownPlan } from './own-options.ts';

const coordinatorRows = redisRows('Coordinator', 'Redis that distributes the runs');

type WorkerOptions = ValuesOf<typeof coordinatorRows> & OwnOptions;

const codes = exitCodeHelp({
  pass: 'ended by Ctrl-C',
  setUp: 'Redis or the server cannot be reached, or a file is unusable',
});

/** Adds the options and the action of `fleetbed worker`. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addOwnOptions(addOptionRows(command, coordinatorRows));
  addExamples(
    command,
    '# Redis in FLEETBED_REDIS, its shared secret in FLEETBED_WORKER_SECRET, the password in FLEETBED_PASSWORD',
    'fleetbed worker --url https://staging.example.com',
    '# A second machine, with its own copy of the behaviours that the plan names',
    'fleetbed worker --url https://staging.example.com --behaviour-file behaviours.mjs',
  );
  command.action(async ({ redis, ...options }: WorkerOptions) => {
    if (redis === undefined) {
      command.error("required option '--redis <url>' (env: FLEETBED_REDIS) is not given");
    }
    process.exitCode = await work(redis, options);
  });
}

async function work(url: string, options: Omit<WorkerOptions, 'redis'>): Promise<ExitCode> {
  const workerPlan = await ownPlan(options);
  try {
    return await followedRuns(url, workerPlan, options);
  } catch (error) {
    throw fleetError(error, { ...workerPlan, baseUrl: workerPlan.url });
  }
}

async function followedRuns(
  url: string,
  workerPlan: OwnPlan,
  options: Omit<WorkerOptions, 'redis'>,
): Promise<ExitCode> {
  const { progress } = createOutput(false);
  const { redisCa } = options;
  const secret = workerSecret(options.workerSecret);
  const caPem = redisCa === undefined ? undefined : await authorityIn('--redis-ca', redisCa);
  const signal = stopSignal();
  const connection = await openRedis({ url, caPem }, systemClock);
  progress(
    `worker: ready for runs against ${workerPlan.url} at ${connection.displayUrl}; Ctrl-C ends it after the current run`,
  );
  try {
    const random = systemRandom;
    const version = packageVersion();
    await followRuns(
      {
        redis: connection,
        clock: systemClock,
        random,
        secret,
        workerPlan,
        version,
        print: progress,
      },
      signal,
    );
  } finally {
    connection.close();
  }
  return exitCodes.pass;
}
