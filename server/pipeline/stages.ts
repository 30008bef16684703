/**
 * The stages of a request, in the order that this server chose (open point
 * `errors.order-of-rules`): caller, rate, form of the input; the handler then decides about IDs and
 * states. Unknown paths and methods are refused earlier, in `routes.ts`.
 * Spec: Errors
 */
import type { IncomingMessage } from 'node:http';
import type { DeprecatedApi } from '../../fixtures/contract/deprecations.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { checkCoding, checkMediaType, readBody, tooManyBytes } from '../http/body.ts';
import { ParseFailure } from '../http/parse-failure.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import type { Success } from '../http/success.ts';
import type { Callers } from './callers.ts';
import type { RequestContext } from './context.ts';
import { deprecationHeaders, refusalOfRetired } from './deprecation.ts';
import type { Endpoint } from './endpoint.ts';
import { readJson, readQuery } from './input.ts';
import type { ResponseTransform } from './plug-ins.ts';
import type { Recorder } from './record.ts';

/**
 * The result of a stage: undefined to continue, a refusal, or `response-sent` when the response is
 * already written.
 */
export type StageResult = Refusal | 'response-sent' | undefined;

/** One step in processing a request. Returns a promise only when it has to wait. */
export type Stage = (context: RequestContext) => StageResult | Promise<StageResult>;

/** The stages of one operation: `transformed` applies while a response transform is active. */
export interface StageLists {
  readonly default: readonly Stage[];
  readonly transformed: readonly Stage[];
}

/** The dependencies of the stages. */
export interface StageOptions {
  readonly callers: Callers;
  readonly recorder: Recorder;
  readonly transforms: readonly ResponseTransform[];
  /** True to apply no rate limit: for callers that are not part of the system under test. */
  readonly isUnlimited: boolean;
}

/** Returns the stages of an operation in order, without those that do nothing for it. */
export function stagesOf(operation: Operation, options: StageOptions): StageLists {
  const { deprecated, body, authorization } = operation;
  // Anyone may use a link, so its requests are not counted for a caller.
  const isLimited = !options.isUnlimited && authorization !== 'link';

  const announce = deprecated && announceDeprecation(deprecated, options.callers);
  const retire = deprecated && refuseRetiredOperation(deprecated);
  const admit = hasCaller(operation) ? authenticate(options.callers) : admitAnyone;
  const limit = isLimited ? limitRate : undefined;
  const receive = body && receiveBody;
  const turn = body && takeTurn;
  const transform = transformResponse(options);

  return {
    default:
      authorization === 'signature'
        ? // An authentication request has no token, so its caller is unknown before the body is read.
          listOf(announce, receive, turn, retire, admit, limit, validate, handle)
        : listOf(announce, retire, admit, limit, receive, turn, validate, handle),
    // A transform may depend on the body, and may invalidate the token, so it runs before
    // authentication.
    transformed: listOf(announce, receive, turn, transform, retire, admit, limit, validate, handle),
  };
}

function listOf(...stages: readonly (Stage | undefined)[]): readonly Stage[] {
  return stages.filter((stage) => stage !== undefined);
}

/** Announces a deprecation by the clock of the tenant named in the token, valid or not. */
function announceDeprecation(row: DeprecatedApi, callers: Callers): Stage {
  return (context) => {
    const { exchange, tenants } = context;
    context.switchTo(callers.tenantOf(exchange.request) ?? tenants.first);
    exchange.addedHeaders = deprecationHeaders(row, exchange, context.nowMs);
    return undefined;
  };
}

/** Refuses an operation after its end of life. */
function refuseRetiredOperation(row: DeprecatedApi): Stage {
  return ({ nowMs }) => refusalOfRetired(row, nowMs);
}

/**
 * Returns true when a token or link identifies the caller. Authentication requests and logins
 * authenticate by their content.
 */
function hasCaller({ authorization }: Operation): boolean {
  return ['device', 'user', 'socket', 'link'].includes(authorization);
}

/** Starts in the first tenant; the handler switches to another one that the input names. */
const admitAnyone: Stage = (context) => {
  context.switchTo(context.tenants.first);
  return undefined;
};

/**
 * Identifies the caller, and switches the request to the caller's tenant, or to the first one.
 * Spec: Authentication
 */
function authenticate(callers: Callers): Stage {
  return (context) => {
    const { exchange, endpoint } = context;
    const { record } = exchange;
    const caller = callers.find(exchange, endpoint.operation);
    if (caller instanceof Refusal) {
      // The refusal shows the time of the tenant by whose clock the token or link was judged.
      const tenant = callers.named(exchange, endpoint.operation);
      if (tenant) context.switchTo(tenant);
      record.deviceId = callers.deviceIn(endpoint.operation, exchange);
      return caller;
    }
    const { tenant = context.tenants.first, device, user, linkedDeviceId } = caller;
    context.switchTo(tenant);
    context.device = device;
    context.user = user;
    record.deviceId = device?.id ?? linkedDeviceId;
    record.userId = user?.id;
    return undefined;
  };
}

/**
 * Refuses with 429 above the tenant's rate limit. Counts by device or user; by address for requests
 * without either.
 * Spec: Limits
 */
const limitRate: Stage = ({ tenant, device, user, exchange, nowMs }) => {
  const { rates } = tenant;
  if (!rates.limit) return undefined;
  const address = exchange.request.socket.remoteAddress ?? '';
  const rateLimitKey = (device ?? user)?.id ?? `from ${address}`;
  const waitSeconds = rates.count(rateLimitKey, nowMs);
  if (waitSeconds === undefined) return undefined;
  const { requests, windowSeconds } = rates.limit;
  return refuse.tooManyRequests(waitSeconds, {
    expected: `at most ${requests} requests of one caller in ${windowSeconds} s`,
    actual: 'one more',
  });
};

/**
 * Reads the whole body. A refusal of the body is kept until validation.
 * @throws ClientDisconnected when the connection closes before the end of the body
 */
const receiveBody: Stage = (context) => {
  const bodyBytes = readBody(context.request, limits.bodyMaxBytes, context.incompleteTransfers);
  if (bodyBytes instanceof Promise)
    return bodyBytes.then((received) => keepBody(context, received));
  return keepBody(context, bodyBytes);
};

function keepBody(context: RequestContext, received: Buffer | Refusal): undefined {
  context.received = received;
  const { record } = context.exchange;
  if (Buffer.isBuffer(received)) record.body = received;
  else {
    const { evidence } = received.detail ?? {};
    record.isIncomplete = evidence instanceof ParseFailure && evidence.endsEarly;
  }
}

/**
 * JSON bytes that fill one iteration of the event loop. Measured with slow input: one member in
 * every ten bytes.
 */
const ITERATION_BYTES = 131_072;

/**
 * Waits until an iteration of the event loop has time to parse the body: otherwise all bodies that
 * arrived together would be parsed in one iteration.
 * @throws ClientDisconnected when the connection closes while waiting
 */
const takeTurn: Stage = (context) => {
  const { received, exchange, turns } = context;
  // A caller in this process takes its turns itself.
  if (exchange.response.socket === null) return undefined;
  const bytes = Buffer.isBuffer(received) ? received.length : 0;
  const start = turns.next(context.turnKey, bytes / ITERATION_BYTES);
  if (!start) return undefined;
  const release = countBody(context);
  return start.then(() => {
    release();
    // A stopping server closes its stores before it aborts requests, so a closed connection must
    // end here.
    context.throwIfDisconnected();
    return undefined;
  });
};

/**
 * Counts the body in the byte budget until it is released; the budget may drop it. Returns the
 * release.
 */
function countBody(context: RequestContext): () => void {
  const { received, incompleteTransfers, exchange } = context;
  if (!Buffer.isBuffer(received)) return () => undefined;
  const transfer = incompleteTransfers.open(() => {
    context.received = tooManyBytes;
    exchange.record.body = undefined;
  });
  transfer.set(received.length);
  return () => transfer.set(0);
}

/**
 * Passes the request to the first response transform that accepts it. Runs before authentication,
 * because a transform may invalidate the caller's token; the transform receives the caller as
 * identified before that.
 */
function transformResponse({ transforms, callers, recorder }: StageOptions): Stage {
  return async (context) => {
    const { exchange, endpoint } = context;
    const foundCaller = callers.find(exchange, endpoint.operation);
    const caller =
      foundCaller instanceof Refusal
        ? callers.unauthenticated(exchange, endpoint.operation)
        : foundCaller;
    const onStatusSent = (status: number): void =>
      recorder.end(exchange, status, context.knownTenant);
    for (const transform of transforms) {
      const interception = transform.intercept?.(context, caller, onStatusSent);
      if (!interception) continue;
      context.interception = interception;
      if ((await interception.begin()) === 'response-sent') return 'response-sent';
      exchange.addedHeaders = [...(exchange.addedHeaders ?? []), ...interception.addedHeaders];
      return undefined;
    }
    return undefined;
  };
}

const jsonMediaType = 'application/json';

const bodyRequired = refuse.malformed('body: is required', {
  path: 'body',
  expected: 'a JSON body',
  actual: 'nothing',
});

const lengthRequired = refuse.malformed(
  'body: is required; the request has neither Content-Length nor Transfer-Encoding, so nothing after its headers is its body',
  {
    path: 'body',
    expected: 'a JSON body, and Content-Length with its length in bytes',
    actual: 'no Content-Length',
  },
);

/** Refuses input that is too large, has the wrong media type, or the wrong shape. */
const validate: Stage = (context) => {
  const { operation } = context.endpoint;
  const { request, search } = context.exchange;
  const { body, mediaType } = operation;
  const wrongBody = body && checkBody(context, operation);
  if (wrongBody) return wrongBody;
  const wrongType = mediaType && (checkCoding(request) ?? checkMediaType(request, mediaType));
  if (wrongType) return wrongType;
  const query = readQuery(operation, search);
  if (query instanceof Refusal) return query;
  context.query = query;
  return undefined;
};

function checkBody(context: RequestContext, operation: Operation): Refusal | undefined {
  const { received } = context;
  if (received instanceof Refusal) return received;
  if (!received || received.length === 0)
    return operation.bodyOptional ? undefined : missingBody(context.request);
  const wrongType = checkCoding(context.request) ?? checkMediaType(context.request, jsonMediaType);
  if (wrongType) return wrongType;
  context.rawBody = received;
  const parsedBody = operation.body && readJson(operation.body, received, operation.bodyValuesMax);
  if (parsedBody instanceof Refusal) return parsedBody;
  context.body = parsedBody?.body;
  return undefined;
}

function missingBody({ headers }: IncomingMessage): Refusal {
  const isAnnounced = 'content-length' in headers || 'transfer-encoding' in headers;
  return isAnnounced ? bodyRequired : lengthRequired;
}

/** Calls the handler, in a transaction of the caller's tenant unless the handler opens its own. */
const handle: Stage = (context) => {
  const { operation, ownTransactions } = context.endpoint;
  // A GET writes in one statement at most, so only other methods need a transaction.
  const needsNone = operation.method === 'GET' || operation.method === 'HEAD';
  const response =
    ownTransactions || needsNone
      ? responseOf(context)
      : context.store.atomically(() => responseOf(context));
  return response instanceof Promise
    ? response.then((resolvedResponse) => keepResponse(context, resolvedResponse))
    : keepResponse(context, response);
};

function responseOf(context: RequestContext): ReturnType<Endpoint['handle']> {
  const { endpoint, exchange, query, body } = context;
  const input = { parameters: exchange.parameters, query, body };
  // The authorization in the operation's row guarantees the caller that the handler's type
  // requires.
  return endpoint.handle(input, context as Parameters<Endpoint['handle']>[1]);
}

function keepResponse(context: RequestContext, response: Success | Refusal): Refusal | undefined {
  if (response instanceof Refusal) return response;
  context.response = response;
  context.exchange.record.noUpdate = response.noUpdate;
  return undefined;
}
