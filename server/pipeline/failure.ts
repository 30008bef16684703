/** What an exception becomes that a stage has thrown. */
import { PasswordsBusy } from '../crypto/passwords.ts';
import { AnswerCutOff } from '../http/answer.ts';
import { BodyCutOff } from '../http/body.ts';
import { refuse } from '../http/refusal.ts';
import { StateFault } from '../store/state-fault.ts';
import type { RequestContext } from './context.ts';
import type { Recorder } from './record.ts';
import type { Services } from './services.ts';
import type { StageOutcome } from './stage.ts';

/** A failure that somebody has asked for: it is answered like any other, but nobody has to look into it. */
export class DeliberateFailure extends Error {
  override readonly name = 'DeliberateFailure';
}

/** Answers a failure that was logged where it was recognised. */
export const internalError = refuse.internal();

const passwordsBusy = refuse.tooManyRequests(1);
const droppedTenant = refuse.unauthorized('the tenant of this token no longer exists');

interface Around {
  readonly services: Pick<Services, 'storageFaults'>;
  readonly recorder: Recorder;
}

/** The refusal of a request that failed; `answered` when there is nobody left to answer. */
export function outcomeOfFailure(
  context: RequestContext,
  fault: unknown,
  { services, recorder }: Around,
): Exclude<StageOutcome, undefined> {
  const { exchange, log, tenants, knownTenant } = context;
  const { request, requestId, path, record } = exchange;
  if (fault instanceof BodyCutOff) {
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
  // It was dropped while it was asked: what no longer exists cannot be our fault.
  if (knownTenant && tenants.find(knownTenant.id) !== knownTenant) return droppedTenant;
  const noRoom = services.storageFaults.refusalOf(fault);
  if (noRoom) return noRoom;
  const told = `500 ${request.method} ${path} (${requestId})`;
  if (fault instanceof DeliberateFailure) log.info(`${told}: ${fault.message}`);
  else if (fault instanceof StateFault) log.error(`${told}: ${fault.what}`);
  else log.error(told, fault);
  return internalError;
}
