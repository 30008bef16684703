/** The good targets of the self-test: our own server, fresh for each defect, or one that is given. */
import { runConformance } from '../../../../conformance/conformance.ts';
import { HurriedClock } from '../../../../conformance/self-test/hurried-clock.ts';
import type {
  GoodTarget,
  JudgeRequest,
  SelfTestOptions,
} from '../../../../conformance/self-test/self-test.ts';
import { type Clock, systemClock } from '../../../../fixtures/clock.ts';
import { systemRandom } from '../../../../fixtures/random.ts';
import { startServer } from '../../../../server/server.ts';

/** Much of a case is waiting for effects that a defect keeps away. */
const PARALLEL_CASES = 16;
/** An effect for which a case waits five seconds is waited for one second. */
const HASTE = 5;
const CASE_TIME_LIMIT_MS = 20_000;
const REQUEST_TIME_LIMIT_MS = 10_000;

/** A server that the caller opens and closes. */
export type GivenTarget = Omit<GoodTarget, 'close'>;

/** The self-test on a given server, or on our own ones. */
export function selfTestOn(
  given: GivenTarget | 'own',
  { signal }: { readonly signal?: AbortSignal } = {},
): SelfTestOptions {
  const clock = new HurriedClock(systemClock, HASTE);
  return {
    openTarget:
      given === 'own' ? openOwnServer : async () => ({ ...given, close: async () => undefined }),
    judge: (request) => judgeProxied(request, clock),
    clock: systemClock,
    random: systemRandom,
    ...(signal && { signal }),
  };
}

/** Our own server, in this process, with nothing in it yet. */
async function openOwnServer(): Promise<GoodTarget> {
  const server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
  const { baseUrl, headerPrefix, adminToken: userToken, close } = server;
  const control = { url: server.controlUrl, token: server.controlToken };
  return { baseUrl, headerPrefix, userToken, control, close };
}

/** The suite, as the self-test runs it: with the same seed for every defect. */
function judgeProxied({ target, parallel, ...request }: JudgeRequest, clock: Clock) {
  return runConformance({
    ...request,
    headerPrefix: target.headerPrefix,
    credentials: target.userToken === '' ? 'none' : { token: target.userToken },
    ...(target.control && { control: target.control }),
    disruptive: true,
    // A planted 404 must not look like a part that the target does not have.
    probe: false,
    clock,
    random: systemRandom,
    seed: 'self-test',
    jobs: parallel ? PARALLEL_CASES : 1,
    caseTimeLimitMs: CASE_TIME_LIMIT_MS,
    requestTimeLimitMs: REQUEST_TIME_LIMIT_MS,
  });
}
