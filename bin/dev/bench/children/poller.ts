/**
 * Sends polls at a fixed rate, whether or not earlier ones have been answered, over a connection for
 * each device that was opened before: with fewer, a poll would wait for another one here. Its
 * argument is a `SteadyPolls` as JSON; it prints the p99 of the time from when one was due to its
 * answer, in milliseconds.
 */
import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { systemClock } from '../../../../fixtures/clock.ts';

/** The argument of this process, as JSON. */
export interface SteadyPolls {
  readonly url: string;
  /** Request headers of each device; the devices take turns. */
  readonly headers: readonly Readonly<Record<string, string>>[];
  readonly perSecond: number;
  readonly seconds: number;
  /** The only status that is no error. */
  readonly status: number;
}

const P99 = 0.99;

const asked = JSON.parse(process.argv[2] ?? '') as SteadyPolls;
const agent = new Agent({ keepAlive: true });
await Promise.all(asked.headers.map((headers) => poll(systemClock.monotonicMs(), headers)));
const startedMs = systemClock.monotonicMs();
const answered: Promise<number>[] = [];
for (let sent = 0; sent < asked.perSecond * asked.seconds; sent++) {
  const dueMs = startedMs + (sent * 1000) / asked.perSecond;
  await systemClock.sleep(Math.max(0, dueMs - systemClock.monotonicMs()));
  answered.push(poll(dueMs, asked.headers[sent % asked.headers.length] ?? {}));
}
const took = (await Promise.all(answered)).sort((one, other) => one - other);
agent.destroy();
process.stdout.write(`${took[Math.floor(took.length * P99)] ?? 0}\n`);

function poll(dueMs: number, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(asked.url, { agent, headers }, async (response) => {
      await buffer(response);
      const { statusCode } = response;
      if (statusCode === asked.status) resolve(systemClock.monotonicMs() - dueMs);
      else reject(new Error(`a poll was answered ${statusCode}`));
    })
      .on('error', reject)
      .end();
  });
}
