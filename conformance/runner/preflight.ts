/**
 * Checks at the start of a run that a server of this API answers at the base URL. It sends two
 * requests that change nothing and that such a server refuses. One refusal is enough, since the
 * cases judge everything else. Spec: Device authentication; Errors
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import { redirectRemedy } from '../../fixtures/base/redirect.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { ApiCaller } from '../target/call.ts';
import { describeValue } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import { certificateError } from '../target/setup.ts';
import {
  gatewayErrors,
  NotStartedError,
  SetupError,
  UnreachableError,
  UnresponsiveTargetError,
  WrongTargetError,
} from '../target/setup-error.ts';
import type { Target, TargetClient } from '../target/target.ts';
import { TransportFailure } from '../target/transport-failure.ts';
import { describeResponse, isMarkup } from '../target/unexpected-response.ts';

const RESPONSE_MAX_MS = 5000;
/** The statuses with which a server of this API refuses a request without token and signature. */
const refusals: readonly number[] = [400, 401, 403, 415, 422, 429];
/** Pause before the next attempt to reach a target that is starting. */
const PAUSE_MS = 1000;

/**
 * Resolves when a server of this API answers, or when the run is interrupted.
 * @param isStarting true to let no gateway error pass, since a part of the target may still start
 * @throws SetupError that describes the response or the failure
 */
export async function preflight(
  target: Target,
  signal?: AbortSignal,
  isStarting = false,
): Promise<void> {
  const { baseUrl, clock } = target.options;
  const limit = new AbortController();
  const timer = clock.after(RESPONSE_MAX_MS, () => {
    const text = `no response within ${RESPONSE_MAX_MS / 1000} s`;
    limit.abort(new TransportFailure('request-time-limit', text));
  });
  const client = target.newClient({
    signal: AbortSignal.any([limit.signal, ...(signal ? [signal] : [])]),
    noRateWait: true,
  });
  try {
    const responses = await refusedRequests(new ApiCaller(client), isStarting);
    const [firstResponse] = responses;
    const down = isStarting ? responses.find(isGatewayError) : undefined;
    if (down) throw wrongTarget(baseUrl, down);
    if (firstResponse && !responses.some(comesFromThisApi))
      throw wrongTarget(baseUrl, firstResponse);
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    if (error.code !== 'interrupted') throw await setupErrorOf(error, client, baseUrl);
  } finally {
    timer.cancel();
  }
}

interface Wait {
  /** How long to wait in all; undefined for a single attempt. */
  readonly limitMs: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Called after each attempt that failed. */
  readonly onWait: ((error: SetupError) => void) | undefined;
}

/**
 * Returns what `attempt` returns, and repeats it while the target is starting.
 * @throws SetupError of the attempt; a NotStartedError when the time is over
 */
export async function whenStarted<Started>(
  attempt: () => Promise<Started>,
  { limitMs, clock, signal, onWait }: Wait,
): Promise<Started> {
  const startedMs = clock.monotonicMs();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isStarting = error instanceof SetupError && error.isStarting;
      if (limitMs === undefined || !isStarting) throw error;
      const leftMs = limitMs - (clock.monotonicMs() - startedMs);
      if (leftMs <= 0) throw new NotStartedError(limitMs, error);
      onWait?.(error);
      await clock.sleep(Math.min(PAUSE_MS, leftMs), signal);
      if (signal?.aborted) throw error;
    }
  }
}

async function refusedRequests(caller: ApiCaller, both: boolean): Promise<readonly HttpResponse[]> {
  const response = await caller.call('post-auth-request', { body: {} });
  if (comesFromThisApi(response) && !both) return [response];
  return [response, await caller.call('get-next-deployment')];
}

function isGatewayError({ status }: HttpResponse): boolean {
  return gatewayErrors.includes(status);
}

function comesFromThisApi(response: HttpResponse): boolean {
  return refusals.includes(response.status) && !isMarkup(response);
}

function wrongTarget(baseUrl: string, response: HttpResponse): WrongTargetError {
  const { status, headers } = response;
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined) {
    const remedy = redirectRemedy(
      { baseUrl, path: pathOf(operations['post-auth-request']) },
      location,
    );
    return new WrongTargetError(
      baseUrl,
      `${status}, a redirect to ${describeValue(location)}`,
      remedy,
    );
  }
  const isDown = isGatewayError(response);
  return new WrongTargetError(baseUrl, describeResponse(response), remedy(response), isDown);
}

function remedy(response: HttpResponse): string {
  if (isGatewayError(response))
    return 'wait until the server is up (--wait-for-target), or check --url';
  const isLocked = refusals.includes(response.status) && 'www-authenticate' in response.headers;
  if (isLocked) return 'a gateway requires a login of its own; let the run past it, or check --url';
  return 'this is not the device API; check --url';
}

async function setupErrorOf(failure: TransportFailure, client: TargetClient, baseUrl: string) {
  if (failure.code === 'unreachable') return new UnreachableError(baseUrl, failure);
  const certificate = certificateError(failure, baseUrl);
  if (certificate) return certificate;
  if (baseUrl.startsWith('http:') && (await speaksTls(client, baseUrl))) {
    const url = baseUrl.replace('http:', 'https:');
    return new WrongTargetError(baseUrl, 'with TLS instead of HTTP', `try ${url}`);
  }
  return new UnresponsiveTargetError(baseUrl, failure);
}

/** Returns true if the same port answers with TLS, even with an untrusted certificate. */
async function speaksTls(client: TargetClient, baseUrl: string): Promise<boolean> {
  try {
    await client.send({ method: 'GET', url: baseUrl.replace('http:', 'https:') });
    return true;
  } catch (error) {
    return error instanceof TransportFailure && error.code === 'certificate-not-trusted';
  }
}
