/** The stage that checks body and query against the operation's shapes. */
import type { Operation } from '../../fixtures/contract/operation.ts';
import { checkMediaType } from '../http/body.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import type { RequestContext } from './context.ts';
import { readJson, readQuery } from './input.ts';
import type { Stage } from './stage.ts';

const jsonType = 'application/json';

const bodyRequired = refuse.malformed('body: is required', {
  path: 'body',
  expected: 'a body in JSON',
  actual: 'nothing',
});

/** Refuses input that is too large, of the wrong media type, or of the wrong shape. */
export const validate: Stage = (context) => {
  const { operation } = context.endpoint;
  const { request, search } = context.exchange;
  const { body, mediaType } = operation;
  const wrongBody = body && checkBody(context, operation);
  if (wrongBody) return wrongBody;
  const wrongType = mediaType && checkMediaType(request, mediaType);
  if (wrongType) return wrongType;
  const query = readQuery(operation, search);
  if (query instanceof Refusal) return query;
  context.query = query;
  return undefined;
};

function checkBody(context: RequestContext, operation: Operation): Refusal | undefined {
  const { received } = context;
  if (received instanceof Refusal) return received;
  if (!received || received.length === 0) return operation.bodyOptional ? undefined : bodyRequired;
  const wrongType = checkMediaType(context.request, jsonType);
  if (wrongType) return wrongType;
  context.rawBody = received;
  const read = operation.body && readJson(operation.body, received);
  if (read instanceof Refusal) return read;
  context.body = read?.body;
  return undefined;
}
