/** Writes the outcome of the stages. */
import type { Socket } from 'node:net';
import type { AnswerWriter } from '../http/answer.ts';
import { Refusal } from '../http/refusal.ts';
import type { Success } from '../http/success.ts';
import type { RequestContext } from './context.ts';
import { internalError } from './failure.ts';
import { answerLine, refusalLine } from './log-line.ts';

/**
 * Returns a promise for a body generated in parts, which rejects when a part cannot be generated.
 */
export function respond(
  context: RequestContext,
  answer: Success | Refusal,
  writer: AnswerWriter,
): Promise<void> | undefined {
  const { exchange, endpoint, log } = context;
  if (answer instanceof Refusal) {
    writer.refuse(exchange, answer);
    if (answer !== internalError) log.info(refusalLine(exchange, answer));
    return undefined;
  }
  if (log.debugOn) log.debug(answerLine(exchange, answer));
  if (answer.status === 101) {
    upgrade(context, answer);
    return undefined;
  }
  const { mediaType } = endpoint.operation.success[answer.status] ?? {};
  return writer.succeed(exchange, answer, mediaType);
}

/** Passes the connection to the handler in the endpoint's 101 answer. */
function upgrade({ exchange, interception }: RequestContext, answer: Success): void {
  const { request, response, requestId, upgrade: bare } = exchange;
  if (!bare || !answer.upgrade) throw new Error('101 for a request that asked for no upgrade');
  // An upgrade uses TCP; node types it as any stream, since its own users may emit others.
  const socket = bare.socket as Socket;
  response.detachSocket(socket);
  const { head } = bare;
  answer.upgrade({ request, socket, head, requestId, ...interception?.onUpgrade() });
}
