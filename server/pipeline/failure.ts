/** Handles exceptions thrown by a stage. */
import { PasswordsBusy } from '../crypto/passwords.ts';
import { AnswerCutOff } from '../http/answer.ts';
import { RequestCutOff } from '../http/body.ts';
import { refuse } from '../http/refusal.ts';
import { StateFault } from '../store/engine/state-fault.ts';
import type { RequestContext } from './context.ts';
import type { Recorder } from './record.ts';
import type { Services } from './services.ts';
import type { StageOutcome } from './stages.ts';

/** A failure that was requested: it is answered like any other, but needs no investigation. */
export class DeliberateFailure extends Error {
  override readonly name = 'DeliberateFailure';
}

/** Answers a failure that was logged where it was recognised. */
export const internalError = refuse.internal();

const passwordsBusy = refuse.tooManyRequests(1, undefined, {
  expected: 'fewer sign-ins with a password at a time',
});
const droppedTenant = refuse.unauthorized('the tenant of this token no longer exists', {
  path: 'header.Authorization',
  expected: 'a token of an existing tenant',
  actual: 'one of a tenant that was removed during the request',
});

interface Around {
  readonly services: Pick<Services, 'storageFaults'>;
  readonly recorder: Recorder;
}

/** Returns the refusal of a failed request; `answered` when the caller has disconnected. */
export function outcomeOfFailure(
  context: RequestContext,
  fault: unknown,
  { services, recorder }: Around,
): Exclude<StageOutcome, undefined> {
  const { exchange, log, tenants, knownTenant } = context;
  const { request, requestId, path, record } = exchange;
  if (fault instanceof RequestCutOff) {
    log.debug(`${request.method} ${path}: ${fault.message}`);
    record.isCut = true;
    recorder.end(exchange, 0, knownTenant);
    return 'answered';
  }
  if (fault instanceof AnswerCutOff) {
    log.warn(`${request.method} ${path}: ${fault.message} (${requestId})`);
    exchange.response.destroy();
    return 'answered';
  }
  if (fault instanceof PasswordsBusy) return passwordsBusy;
  // The tenant was removed during the request: that is not a fault of the server.
  if (knownTenant && tenants.find(knownTenant.id) !== knownTenant) return droppedTenant;
  const noRoom = services.storageFaults.refusalOf(fault);
  if (noRoom) return noRoom;
  const told = `500 ${request.method} ${path} (${requestId})`;
  if (fault instanceof DeliberateFailure) log.info(`${told}: ${fault.message}`);
  else if (fault instanceof StateFault) log.error(`${told}: ${fault.what}`);
  else log.error(told, fault);
  return internalError;
}
