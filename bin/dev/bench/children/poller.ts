/**
 * Sends polls at a fixed rate, without waiting for earlier responses. Each device has its own open
 * connection; with fewer, polls would queue in this process. The argument is a `SteadyPolls` as
 * JSON; the output is the p99 of the time from the due time of a poll to its response, in
 * milliseconds.
 */
import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { systemClock } from '../../../../fixtures/base/clock.ts';

/** The argument of this process, as JSON. */
export interface SteadyPolls {
  readonly url: string;
  /** Request headers of each device; the devices take turns. */
  readonly headers: readonly Readonly<Record<string, string>>[];
  readonly perSecond: number;
  readonly seconds: number;
  /** The only status that does not count as an error. */
  readonly status: number;
}

const P99 = 0.99;

const input = JSON.parse(process.argv[2] ?? '') as SteadyPolls;
const agent = new Agent({ keepAlive: true });
await Promise.all(input.headers.map((headers) => poll(systemClock.monotonicMs(), headers)));
const startedMs = systemClock.monotonicMs();
const pollTimes: Promise<number>[] = [];
for (let sentCount = 0; sentCount < input.perSecond * input.seconds; sentCount++) {
  const dueMs = startedMs + (sentCount * 1000) / input.perSecond;
  await systemClock.sleep(Math.max(0, dueMs - systemClock.monotonicMs()));
  pollTimes.push(poll(dueMs, input.headers[sentCount % input.headers.length] ?? {}));
}
const took = (await Promise.all(pollTimes)).sort((one, other) => one - other);
agent.destroy();
process.stdout.write(`${took[Math.floor(took.length * P99)] ?? 0}\n`);

function poll(dueMs: number, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(input.url, { agent, headers }, async (response) => {
      await buffer(response);
      const { statusCode } = response;
      if (statusCode === input.status) resolve(systemClock.monotonicMs() - dueMs);
      else reject(new Error(`a poll was answered with ${statusCode}`));
    })
      .on('error', reject)
      .end();
  });
}
