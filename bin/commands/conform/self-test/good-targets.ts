/**
 * The good servers of the self-test: a new reference server for each defect, or the server of
 * `--url`.
 */
import { runConformance } from '../../../../conformance/conformance.ts';
import { FastClock } from '../../../../conformance/self-test/fast-clock.ts';
import type {
  GoodTarget,
  RunRequest,
  SelfTestOptions,
} from '../../../../conformance/self-test/self-test.ts';
import { type Clock, systemClock } from '../../../../fixtures/base/clock.ts';
import { systemRandom } from '../../../../fixtures/base/random.ts';
import { startServer } from '../../../../server/server.ts';

/** Cases run in parallel because a case mostly waits for effects that the defect suppresses. */
const PARALLEL_CASES = 16;
/** Factor by which the waits of a case are shortened: 5 s becomes 1 s. */
const HASTE = 5;
const CASE_TIME_LIMIT_MS = 20_000;
const REQUEST_TIME_LIMIT_MS = 10_000;

/** A target that the caller opens and closes. */
export type CallerTarget = Omit<GoodTarget, 'close'>;

/** Returns the options of a self-test on the given server, or on reference servers of its own. */
export function selfTestOn(
  target: CallerTarget | 'own',
  { signal }: { readonly signal?: AbortSignal } = {},
): SelfTestOptions {
  const clock = new FastClock(systemClock, HASTE);
  return {
    openTarget:
      target === 'own' ? openOwnServer : async () => ({ ...target, close: async () => undefined }),
    runSuite: (request) => runProxied(request, clock),
    clock: systemClock,
    random: systemRandom,
    ...(signal && { signal }),
  };
}

/** Starts an empty reference server in this process. */
async function openOwnServer(): Promise<GoodTarget> {
  const server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
  const { baseUrl, headerPrefix, adminToken: userToken, close } = server;
  const control = { url: server.controlUrl, token: server.controlToken };
  return { baseUrl, headerPrefix, userToken, control, close };
}

/** Runs the suite on a proxied target, with the same seed for every defect. */
function runProxied({ target, parallel, ...request }: RunRequest, clock: Clock) {
  return runConformance({
    ...request,
    headerPrefix: target.headerPrefix,
    credentials: target.userToken === '' ? 'none' : { token: target.userToken },
    ...(target.control && { control: target.control }),
    disruptive: true,
    // With probing, a planted 404 would look like a feature that the target does not have.
    probe: false,
    clock,
    random: systemRandom,
    seed: 'self-test',
    jobs: parallel ? PARALLEL_CASES : 1,
    caseTimeLimitMs: CASE_TIME_LIMIT_MS,
    requestTimeLimitMs: REQUEST_TIME_LIMIT_MS,
  });
}
