/**
 * The order of rules for every request that has found its operation: end of life, token, size,
 * media type, input, handler. What comes before (unknown path, wrong method) is in `routes.ts`.
 */
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { ActivityFeed } from '../activity.ts';
import type { Services } from '../services.ts';
import { AnswerCutOff, AnswerWriter } from './answer.ts';
import { BodyCutOff, checkMediaType, readBody } from './body.ts';
import { type Caller, Callers } from './callers.ts';
import { HandlerContext, type Origins, type Visit } from './context.ts';
import { deprecationNotices, retired } from './deprecation.ts';
import type { Endpoint, Success } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { readJson, readQuery } from './input.ts';
import { checkLink } from './links.ts';
import { Refusal, refuse } from './refusal.ts';
import { upgrade } from './upgrade.ts';

const jsonType = 'application/json';

/** Carries exchanges through the rules to their endpoint and back. */
export class Pipeline {
  readonly writer: AnswerWriter;
  readonly #services: Services;
  readonly #callers: Callers;
  readonly #activity: ActivityFeed;
  readonly #origins: Origins;

  constructor(
    services: Services,
    { activity, origins }: { activity: ActivityFeed; origins: Origins },
  ) {
    this.#services = services;
    this.#callers = new Callers(services.tokens, services.tenants);
    this.#activity = activity;
    this.#origins = origins;
    this.writer = new AnswerWriter(services.names, services.clock);
  }

  /** Answers the exchange. Never throws: an unknown fault is a 500 with its detail in the log. */
  run(endpoint: Endpoint, received: Exchange): void {
    const nowMs = this.#services.clock.now();
    const { deprecated } = endpoint.operation;
    const exchange = deprecated
      ? { ...received, notices: deprecationNotices(deprecated, received, nowMs) }
      : received;
    const stranger: Visit = { endpoint, exchange, nowMs, caller: {} };
    try {
      const gone = deprecated && retired(deprecated, nowMs);
      const caller = gone ?? this.#admit(stranger);
      const visit = caller instanceof Refusal ? stranger : { ...stranger, caller };
      if (caller instanceof Refusal) this.#refuse(visit, caller);
      else if (exchange.upgrade && takesBody(endpoint)) this.#refuse(visit, bodyWithUpgrade);
      else if (endpoint.operation.body) void this.#withBody(visit);
      else this.#handle(visit, noBody);
    } catch (fault) {
      this.#fail(stranger, fault);
    }
  }

  /** Refuses what found no operation; under the variant token-before-routing a token comes first. */
  turnAway(exchange: Exchange, refusal: Refusal): void {
    const { settings, clock } = this.#services;
    const kind = settings.variants.has('token-before-routing') && callerKindOf(exchange.path);
    const caller =
      kind && this.#callers.identify(exchange.request, { authorization: kind }, clock.now());
    this.writer.refuse(exchange, caller instanceof Refusal ? caller : refusal);
  }

  #admit({ endpoint, exchange, nowMs }: Visit): Caller | Refusal {
    const { authorization } = endpoint.operation;
    if (authorization === 'link') {
      const search = new URLSearchParams(exchange.search);
      const refusal = checkLink(this.#services, { path: exchange.path, search, nowMs });
      // The signature covers the tenant, so one that is named is one of ours.
      const tenant = this.#services.tenants.find(search.get('tenant_id') ?? '');
      return refusal ?? (tenant ? { tenant } : {});
    }
    return this.#callers.identify(exchange.request, endpoint.operation, nowMs);
  }

  async #withBody(visit: Visit): Promise<void> {
    try {
      const raw = await readBody(visit.exchange.request, limits.bodyMaxBytes);
      const checked = raw instanceof Refusal ? raw : checkBody(visit.endpoint, visit.exchange, raw);
      if (checked instanceof Refusal) this.#refuse(visit, checked);
      else this.#handle(visit, checked);
    } catch (fault) {
      this.#fail(visit, fault);
    }
  }

  #handle(visit: Visit, { body, raw }: CheckedBody): void {
    const { operation, handle } = visit.endpoint;
    const query = checkRest(operation, visit.exchange);
    if (query instanceof Refusal) {
      this.#refuse(visit, query);
      return;
    }
    const input = { parameters: visit.exchange.parameters, query, body };
    const context = new HandlerContext(this.#services, visit, { raw, origins: this.#origins });
    // The row's authorization decides which caller a handler's type may ask for.
    const act = () => handle(input, context as Parameters<Endpoint['handle']>[1]);
    // A GET that writes does so in one verb, so only the others need a transaction of their own.
    const answer = operation.method === 'GET' ? act() : context.store.atomically(act);
    if (answer instanceof Promise) void this.#answerLater(visit, answer);
    else this.#answer(visit, answer);
  }

  async #answerLater(visit: Visit, answer: Promise<Success | Refusal>): Promise<void> {
    try {
      this.#answer(visit, await answer);
    } catch (fault) {
      this.#fail(visit, fault);
    }
  }

  #answer(visit: Visit, answer: Success | Refusal): void {
    if (answer instanceof Refusal) {
      this.#refuse(visit, answer);
      return;
    }
    const { endpoint, exchange } = visit;
    const { status } = answer;
    if (status === 101) upgrade(exchange, answer);
    else {
      const { mediaType } = endpoint.operation.success[status] ?? {};
      const written = this.writer.succeed(exchange, answer, mediaType);
      written?.catch((fault: unknown) => this.#fail(visit, fault));
    }
    this.#observe(visit, status);
  }

  #refuse(visit: Visit, refusal: Refusal): void {
    const { request, requestId, path } = visit.exchange;
    this.writer.refuse(visit.exchange, refusal);
    this.#services.log.info(
      `${refusal.status} ${request.method} ${path}: ${refusal.error} (${requestId})`,
    );
    this.#observe(visit, refusal.status);
  }

  #fail(visit: Visit, fault: unknown): void {
    const { request, requestId, path } = visit.exchange;
    if (fault instanceof BodyCutOff) {
      this.#services.log.debug(`${request.method} ${path}: ${fault.message}`);
      return;
    }
    if (fault instanceof AnswerCutOff) {
      this.#services.log.warn(`${request.method} ${path}: ${fault.message} (${requestId})`);
      visit.exchange.response.destroy();
      return;
    }
    this.#services.log.error(`500 ${request.method} ${path} (${requestId})`, fault);
    this.writer.refuse(visit.exchange, refuse.internal());
    this.#observe(visit, 500);
  }

  #observe({ endpoint, exchange, caller, nowMs }: Visit, status: number): void {
    if (!this.#activity.watched) return;
    this.#activity.publish({
      atMs: nowMs,
      operation: endpoint.operation.id,
      method: endpoint.operation.method,
      status,
      requestId: exchange.requestId,
      ...(caller.device && { deviceId: caller.device.id }),
    });
  }
}

/** Whose token a gateway would ask for below a prefix of the API; nobody's elsewhere. */
function callerKindOf(path: string): 'device' | 'user' | undefined {
  if (path.startsWith(apiPrefixes.device)) return 'device';
  return path.startsWith(apiPrefixes.management) ? 'user' : undefined;
}

/** A body that was read and checked, and its bytes as sent. */
interface CheckedBody {
  readonly body: unknown;
  readonly raw: Buffer;
}

const noBody: CheckedBody = { body: undefined, raw: Buffer.alloc(0) };

/** Node hands over the bare connection of such a request, and reads no body from it. */
const bodyWithUpgrade = refuse.malformed(
  'the Upgrade header cannot come with a body; leave it out here',
);

function takesBody({ operation }: Endpoint): boolean {
  return operation.body !== undefined || operation.mediaType !== undefined;
}

function checkBody(
  { operation }: Endpoint,
  { request }: Exchange,
  raw: Buffer,
): CheckedBody | Refusal {
  if (raw.length === 0) {
    return operation.bodyOptional ? noBody : refuse.malformed('body: is required');
  }
  const wrongType = checkMediaType(request, jsonType);
  if (wrongType) return wrongType;
  const read = operation.body ? readJson(operation.body, raw) : noBody;
  return read instanceof Refusal ? read : { body: read.body, raw };
}

/** What is left to check once the body is in order: another media type, and the query. */
function checkRest(operation: Operation, exchange: Exchange): object | Refusal {
  const { mediaType } = operation;
  const wrongType = mediaType && checkMediaType(exchange.request, mediaType);
  return wrongType || readQuery(operation, exchange.search);
}
