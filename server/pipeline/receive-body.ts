/** The stage that reads a JSON body completely. */
import { limits } from '../../fixtures/contract/limits.ts';
import { readBody } from '../http/body.ts';
import type { Refusal } from '../http/refusal.ts';
import type { RequestContext } from './context.ts';
import type { Stage } from './stage.ts';

/** Waits for the body; a refusal of it is returned when it is validated. @throws RequestCutOff */
export const receiveBody: Stage = (context) => {
  const read = readBody(context.request, limits.bodyMaxBytes, context.underway);
  if (read instanceof Promise) return read.then((received) => take(context, received));
  return take(context, read);
};

function take(context: RequestContext, received: Buffer | Refusal): undefined {
  context.received = received;
  if (Buffer.isBuffer(received)) context.exchange.record.body = received;
}
