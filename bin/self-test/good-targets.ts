/** The good targets of the self-test: our own server, fresh for each defect, or one that is given. */
import { runConformance } from '../../conformance/conformance.ts';
import type { GoodTarget, JudgeRequest } from '../../conformance/self-test/self-test.ts';
import { systemClock } from '../../fixtures/clock.ts';
import { systemRandom } from '../../fixtures/random.ts';
import { startServer } from '../../server/server.ts';

/** Much of a case is waiting for effects that a defect keeps away. */
const PARALLEL_CASES = 16;
const CASE_TIME_LIMIT_MS = 10_000;
const REQUEST_TIME_LIMIT_MS = 5000;

/** Our own server, in this process, with nothing in it yet. */
export async function openOwnServer(): Promise<GoodTarget> {
  const server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
  const { baseUrl, headerPrefix, adminToken: userToken, close } = server;
  return { baseUrl, headerPrefix, userToken, close };
}

/** The suite, as the self-test runs it: the same seed for every defect. */
export function judgeProxied({ baseUrl, target, ids, parallel, onVerdict }: JudgeRequest) {
  return runConformance({
    baseUrl,
    headerPrefix: target.headerPrefix,
    credentials: target.userToken === '' ? 'none' : { token: target.userToken },
    disruptive: true,
    clock: systemClock,
    random: systemRandom,
    caseTimeLimitMs: CASE_TIME_LIMIT_MS,
    requestTimeLimitMs: REQUEST_TIME_LIMIT_MS,
    seed: 'self-test',
    jobs: parallel ? PARALLEL_CASES : 1,
    ...(ids && { ids }),
    ...(onVerdict && { onVerdict }),
  });
}
