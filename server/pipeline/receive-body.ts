/** The stage that reads a JSON body completely. */
import { limits } from '../../fixtures/contract/limits.ts';
import { readBody } from '../http/body.ts';
import type { RequestContext } from './context.ts';
import type { Stage } from './stage.ts';

/** Waits for the body; a refusal of it is returned when it is validated. @throws BodyCutOff */
export const receiveBody: Stage = (context) => {
  // Node hands over the raw connection of an upgrade, and reads no body from it.
  return context.exchange.upgrade ? undefined : receive(context);
};

async function receive(context: RequestContext): Promise<undefined> {
  const { request, record } = context.exchange;
  context.received = await readBody(request, limits.bodyMaxBytes, context.underway);
  if (Buffer.isBuffer(context.received)) record.body = context.received;
}
