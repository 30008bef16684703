/** The stage that calls the operation's handler. */
import { Refusal } from '../http/refusal.ts';
import type { Success } from '../http/success.ts';
import type { RequestContext } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import type { Stage } from './stage.ts';

/** Calls the handler; in a transaction of the caller's tenant unless the handler opens its own. */
export const handle: Stage = (context) => {
  const { operation, ownTransactions } = context.endpoint;
  // A GET that writes does so in one statement, so only the others need a transaction.
  const needsNone = operation.method === 'GET' || operation.method === 'HEAD';
  const answer =
    ownTransactions || needsNone
      ? answerOf(context)
      : context.store.atomically(() => answerOf(context));
  return answer instanceof Promise
    ? answer.then((later) => take(context, later))
    : take(context, answer);
};

function answerOf(context: RequestContext): ReturnType<Endpoint['handle']> {
  const { endpoint, exchange, query, body } = context;
  const input = { parameters: exchange.parameters, query, body };
  // The row's authorization decides which caller a handler's type may require.
  return endpoint.handle(input, context as Parameters<Endpoint['handle']>[1]);
}

function take(context: RequestContext, answer: Success | Refusal): Refusal | undefined {
  if (answer instanceof Refusal) return answer;
  context.answer = answer;
  context.exchange.record.noUpdate = answer.noUpdate;
  return undefined;
}
