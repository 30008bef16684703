/**
 * `node build/bin/dev/bench/embedding.js`: measures in one process how long it takes to start, stop
 * and reset a testbed, and to create and delete another tenant.
 */
import { systemClock } from '../../../fixtures/base/clock.ts';
import { startTestbed, type Testbed } from '../../../server/testbed.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import { machine } from './environment.ts';
import { median } from './row.ts';

const ROUNDS = 30;
const EACH_MAX_MS = 60;

const output = createOutput(false);
const times = { start: [], stop: [], reset: [], 'a server made and dropped': [] } as Record<
  string,
  number[]
>;

async function recordTime<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  const startedMs = systemClock.monotonicMs();
  const result = await run();
  times[name]?.push(systemClock.monotonicMs() - startedMs);
  return result;
}

async function round(start: () => Promise<Testbed>): Promise<void> {
  const testbed = await start();
  await recordTime('reset', () => testbed.reset());
  await recordTime('a server made and dropped', async () => {
    await testbed.tenants.drop(await testbed.tenants.create('another'));
  });
  await recordTime('stop', () => testbed.close());
}

// The first start also loads the modules that all further starts share.
const firstMs = systemClock.monotonicMs();
await (await startTestbed()).close();
output.line(`first start and stop  ${millisecondsText(systemClock.monotonicMs() - firstMs)}`);
for (let count = 0; count < ROUNDS; count++) {
  await round(() => recordTime('start', () => startTestbed()));
}
output.line(`then, medians of ${ROUNDS} rounds (and the fastest)`);
for (const [name, all] of Object.entries(times)) {
  output.line(
    `  ${name.padEnd(26)} ${millisecondsText(median(all))} (${millisecondsText(Math.min(...all))})`,
  );
}
output.line(`  node ${process.versions.node}, ${machine()}`);
const slowest = Math.max(median(times.start ?? []), median(times.stop ?? []));
process.exitCode = slowest > EACH_MAX_MS ? exitCodes.failed : exitCodes.pass;

function millisecondsText(ms: number): string {
  return `${ms.toFixed(1).padStart(6)} ms`;
}
