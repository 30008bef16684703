/** Turns exceptions of a stage into responses. */
import { TooManyLogins } from '../crypto/passwords.ts';
import { ClientDisconnected } from '../http/body.ts';
import { refuse } from '../http/refusal.ts';
import { ResponseAborted } from '../http/response.ts';
import { StateError } from '../store/engine/state-error.ts';
import type { RequestContext } from './context.ts';
import type { Recorder } from './record.ts';
import type { Services } from './services.ts';
import type { StageResult } from './stages.ts';

/** An injected failure: it is answered as any failure, but needs no investigation. */
export class DeliberateFailure extends Error {
  override readonly name = 'DeliberateFailure';
}

/** The response to a failure that is logged where it occurs. */
export const internalError = refuse.internal();

const passwordsBusy = refuse.tooManyRequests(1, {
  expected: 'fewer logins by password at a time',
});
const droppedTenant = refuse.unauthorized('the tenant of this token no longer exists', {
  path: 'header.Authorization',
  expected: 'a token of an existing tenant',
  actual: 'a token of a tenant that was removed during the request',
});

interface FailureServices {
  readonly services: Pick<Services, 'storageErrors'>;
  readonly recorder: Recorder;
}

/**
 * Returns the refusal of a failed request; `response-sent` when no response can be sent any more.
 */
export function outcomeOfFailure(
  context: RequestContext,
  error: unknown,
  { services, recorder }: FailureServices,
): Exclude<StageResult, undefined> {
  const { exchange, log, tenants, knownTenant } = context;
  const { request, requestId, path, record } = exchange;
  if (error instanceof ClientDisconnected) {
    log.debug(`${request.method} ${path}: ${error.message}`);
    record.isIncomplete = true;
    recorder.end(exchange, 0, knownTenant);
    return 'response-sent';
  }
  if (error instanceof ResponseAborted) {
    log.warn(`${request.method} ${path}: ${error.message} (${requestId})`);
    exchange.response.destroy();
    return 'response-sent';
  }
  if (error instanceof TooManyLogins) return passwordsBusy;
  // The tenant was removed during the request, which is not an error of the server.
  if (knownTenant && tenants.find(knownTenant.id) !== knownTenant) return droppedTenant;
  const noRoom = services.storageErrors.refusalOf(error);
  if (noRoom) return noRoom;
  const line = `500 ${request.method} ${path} (${requestId})`;
  if (error instanceof DeliberateFailure) log.info(`${line}: ${error.message}`);
  else if (error instanceof StateError) log.error(`${line}: ${error.problem}`);
  else log.error(line, error);
  return internalError;
}
