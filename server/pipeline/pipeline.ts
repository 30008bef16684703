/**
 * The order of rules for every request that has found its operation: end of life, token, size,
 * media type, input, handler. What comes before (unknown path, wrong method) is in `routes.ts`.
 */
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { ActivityFeed } from '../control/activity.ts';
import { answerLine, refusalLine } from '../control/explain/log-line.ts';
import { PlannedFault } from '../control/faults/actions/states.ts';
import { FaultGate } from '../control/faults/gate.ts';
import { openVariation, type Variation } from '../control/variation/variation.ts';
import { PasswordsBusy } from '../crypto/passwords.ts';
import { AnswerCutOff, AnswerWriter } from '../http/answer.ts';
import { BodyCutOff, checkMediaType, readBody } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import { upgrade } from '../http/upgrade.ts';
import { StateFault } from '../store/state-fault.ts';
import { type Caller, Callers } from './callers.ts';
import { HandlerContext, type Origins, type Visit } from './context.ts';
import { deprecationNotices, retired } from './deprecation.ts';
import type { Endpoint, Success } from './endpoint.ts';
import { readJson, readQuery } from './input.ts';
import { checkLink } from './links.ts';
import type { Services } from './services.ts';
import type { Watchdog } from './watchdog.ts';

const jsonType = 'application/json';

/** Carries exchanges through the rules to their endpoint and back. */
export class Pipeline {
  readonly writer: AnswerWriter;
  /** Makes ids of requests that came without one. */
  readonly newRequestId: () => string;
  readonly #variation: Variation | undefined;
  readonly #services: Services;
  readonly #callers: Callers;
  readonly #activity: ActivityFeed;
  readonly #origins: Origins;
  readonly #faults: FaultGate;
  readonly #watchdog: Watchdog | undefined;

  constructor(
    services: Services,
    rest: { activity: ActivityFeed; origins: Origins; watchdog?: Watchdog | undefined },
  ) {
    const { activity, origins, watchdog } = rest;
    this.#watchdog = watchdog;
    this.#services = services;
    this.#callers = new Callers(services);
    this.#activity = activity;
    this.#origins = origins;
    this.#faults = new FaultGate(services);
    const { names, tenants, random, settings, openFiles } = services;
    const { varySeed } = settings;
    const variation = varySeed === undefined ? undefined : openVariation(varySeed);
    this.#variation = variation;
    this.writer = new AnswerWriter({ names, clock: tenants.first.clock, openFiles }, variation);
    if (settings.explainHeader) this.writer.consoleUrl = origins.consoleUrl;
    this.newRequestId = variation
      ? () => variation.newRequestId(random.uuid())
      : () => random.uuid();
  }

  /** Answers the exchange. Never throws: an unknown fault is a 500 with its detail in the log. */
  run(endpoint: Endpoint, received: Exchange): void {
    const begunMs = this.#watchdog?.begin() ?? 0;
    this.#run(endpoint, received);
    this.#watchdog?.end(begunMs, received.record);
  }

  #run(endpoint: Endpoint, received: Exchange): void {
    const { operation } = endpoint;
    const parameters = this.#variation?.readParameters(operation, received.parameters);
    const stranger = this.#arrive(endpoint, parameters ? { ...received, parameters } : received);
    try {
      const caller = this.#admit(stranger);
      const known = caller instanceof Refusal ? nobody : caller;
      if (this.#faults.isArmedFor(known)) void this.#meetFaults(stranger, caller);
      else this.#proceed(stranger, caller);
    } catch (fault) {
      this.#fail(stranger, fault);
    }
  }

  /** Runs into the planned faults of the world, and on if these let it. */
  async #meetFaults(stranger: Visit, caller: Caller | Refusal): Promise<void> {
    const { exchange, endpoint } = stranger;
    const { operation } = endpoint;
    try {
      const takesJson = operation.body && !exchange.upgrade;
      const raw = takesJson ? await this.#readBody(exchange) : undefined;
      if (raw && !(raw instanceof Refusal)) exchange.record.body = raw;
      const injection = this.#faults.choose({
        operation,
        exchange,
        caller: caller instanceof Refusal ? this.#strangerOf(exchange) : caller,
        raw: raw instanceof Refusal ? undefined : raw,
        settled: (status) => this.#file(exchange, status),
      });
      if (injection) {
        exchange.injection = injection;
        if ((await injection.begin()) === 'answered') return;
        exchange.notices = [...(exchange.notices ?? []), ...injection.notices];
      }
      // The fault may have ended the caller's token.
      this.#proceed(stranger, injection ? this.#admit(stranger) : caller, raw);
    } catch (fault) {
      this.#fail(stranger, fault);
    }
  }

  /** A caller of whom no more is known than the world that his token names. */
  #strangerOf({ request }: Exchange): Caller {
    const tenant = this.#callers.worldOf(request);
    return tenant ? { tenant } : nobody;
  }

  /** Goes on with a caller, and with the body where that was read already. */
  #proceed(stranger: Visit, caller: Caller | Refusal, raw?: Buffer | Refusal): void {
    const { endpoint, exchange } = stranger;
    const visit = caller instanceof Refusal ? stranger : this.#recognise(stranger, caller);
    const refusal = caller instanceof Refusal ? caller : this.#refuseHaste(visit);
    if (refusal) this.#refuse(visit, refusal);
    else if (exchange.upgrade && takesBody(endpoint)) this.#refuse(visit, bodyWithUpgrade);
    else if (raw) this.#takeBody(visit, raw);
    else if (endpoint.operation.body) void this.#withBody(visit);
    else this.#handle(visit, noBody);
  }

  /** The exchange before its caller is known: in the first world, or where a world's day counts in the token's. */
  #arrive(endpoint: Endpoint, received: Exchange): Visit {
    const { deprecated, id } = endpoint.operation;
    const { tenants, clock } = this.#services;
    const { record } = received;
    record.operation = id;
    record.startedMs = clock.monotonicMs();
    if (!deprecated) {
      return { endpoint, exchange: received, nowMs: tenants.first.clock.now(), caller: nobody };
    }
    const world = this.#callers.worldOf(received.request) ?? tenants.first;
    const nowMs = world.clock.now();
    const notices = deprecationNotices(deprecated, received, nowMs);
    return { endpoint, exchange: { ...received, notices, world }, nowMs, caller: nobody };
  }

  #recognise({ endpoint, exchange }: Visit, caller: Caller): Visit {
    const world = caller.tenant ?? this.#services.tenants.first;
    exchange.world = world;
    exchange.record.deviceId = caller.device?.id;
    exchange.record.userId = caller.user?.id;
    return { endpoint, exchange, nowMs: world.clock.now(), caller };
  }

  /** 429 for a caller who asks more often than the world allows. Spec: Rate limits */
  #refuseHaste({ endpoint, exchange, caller, nowMs }: Visit): Refusal | undefined {
    const { rates } = exchange.world ?? this.#services.tenants.first;
    if (!rates.limit) return undefined;
    const { authorization } = endpoint.operation;
    if (authorization === 'link') return undefined;
    const subject = caller.device ?? caller.user;
    const address = exchange.request.socket.remoteAddress ?? '';
    const waitSeconds = rates.ask(subject ? subject.id : `from ${address}`, nowMs);
    return waitSeconds === undefined ? undefined : refuse.tooManyRequests(waitSeconds);
  }

  /** Refuses what found no operation; under the variant token-before-routing a token comes first. */
  turnAway(exchange: Exchange, refusal: Refusal): void {
    const { settings } = this.#services;
    const kind = settings.variants.has('token-before-routing') && callerKindOf(exchange.path);
    const caller = kind && this.#callers.identify(exchange.request, { authorization: kind });
    const told = caller instanceof Refusal ? caller : refusal;
    this.refuseUnmatched(exchange, told);
  }

  /** Refuses what found no operation, whoever asks. */
  refuseUnmatched(exchange: Exchange, refusal: Refusal): void {
    exchange.record.startedMs = this.#services.clock.monotonicMs();
    this.writer.refuse(exchange, refusal);
    this.#services.log.info(refusalLine(exchange, refusal));
    this.#file(exchange, refusal.status);
  }

  /** Answers a preflight of a path that takes these methods. */
  preflight(exchange: Exchange, methods: readonly string[]): void {
    exchange.record.startedMs = this.#services.clock.monotonicMs();
    this.writer.preflight(exchange, methods);
    this.#file(exchange, exchange.record.status);
  }

  /** What somebody is told who opens the root of this listener. */
  get whatLivesWhere(): string {
    const { device, management } = apiPrefixes;
    const console = this.#origins.consoleUrl?.();
    const there = console === undefined ? '' : `; the console is at ${new URL('/', console)}`;
    return `there is no page at /: devices call ${device}..., users ${management}...${there}`;
  }

  /** Answers with a page for people, which no operation is. */
  show(exchange: Exchange, page: string): void {
    exchange.record.startedMs = this.#services.clock.monotonicMs();
    void this.writer.succeed(exchange, { status: 200, body: page }, 'text/html; charset=utf-8');
    this.#file(exchange, 200);
  }

  #admit({ endpoint, exchange, nowMs: arrivedMs }: Visit): Caller | Refusal {
    const { authorization, deprecated } = endpoint.operation;
    const gone = deprecated && retired(deprecated, arrivedMs);
    if (gone) return gone;
    if (authorization === 'link') {
      const search = new URLSearchParams(exchange.search);
      const { tenants } = this.#services;
      const named = search.get('tenant_id') ?? '';
      const tenant = named === '' ? tenants.first : tenants.find(named);
      const nowMs = (tenant ?? tenants.first).clock.now();
      const wrong = checkLink(this.#services, { path: exchange.path, search, nowMs });
      return wrong ?? (tenant ? { tenant } : linkOfNoTenant);
    }
    return this.#callers.identify(exchange.request, endpoint.operation);
  }

  async #withBody(visit: Visit): Promise<void> {
    try {
      const raw = await this.#readBody(visit.exchange);
      const begunMs = this.#watchdog?.begin() ?? 0;
      this.#takeBody(visit, raw);
      this.#watchdog?.end(begunMs, visit.exchange.record);
    } catch (fault) {
      this.#fail(visit, fault);
    }
  }

  #readBody({ request }: Exchange): Promise<Buffer | Refusal> {
    return readBody(request, limits.bodyMaxBytes, this.#services.underway);
  }

  #takeBody(visit: Visit, raw: Buffer | Refusal): void {
    if (!(raw instanceof Refusal)) visit.exchange.record.body = raw;
    const checked = raw instanceof Refusal ? raw : checkBody(visit.endpoint, visit.exchange, raw);
    if (checked instanceof Refusal) this.#refuse(visit, checked);
    else this.#handle(visit, checked);
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
    exchange.record.noUpdate = answer.noUpdate;
    if (status === 101) upgrade(exchange, answer);
    else {
      const { mediaType } = endpoint.operation.success[status] ?? {};
      const written = this.writer.succeed(exchange, answer, mediaType);
      written?.catch((fault: unknown) => this.#fail(visit, fault));
    }
    if (this.#services.log.debugOn) this.#services.log.debug(answerLine(exchange, answer));
    this.#observe(visit, status);
  }

  #refuse(visit: Visit, refusal: Refusal): void {
    this.writer.refuse(visit.exchange, refusal);
    this.#services.log.info(refusalLine(visit.exchange, refusal));
    this.#observe(visit, refusal.status);
  }

  #fail(visit: Visit, fault: unknown): void {
    const { request, requestId, path } = visit.exchange;
    if (fault instanceof BodyCutOff) {
      this.#services.log.debug(`${request.method} ${path}: ${fault.message}`);
      visit.exchange.record.isCut = true;
      this.#file(visit.exchange, 0);
      return;
    }
    if (fault instanceof AnswerCutOff) {
      this.#services.log.warn(`${request.method} ${path}: ${fault.message} (${requestId})`);
      visit.exchange.response.destroy();
      return;
    }
    if (fault instanceof PasswordsBusy) {
      this.#refuse(visit, passwordsBusy);
      return;
    }
    const { world } = visit.exchange;
    if (world && this.#services.tenants.find(world.id) !== world) {
      // It was dropped while it was asked: what no longer exists cannot be our fault.
      this.#refuse(visit, droppedTenant);
      return;
    }
    const noRoom = this.#services.storageFaults.refusalOf(fault);
    if (noRoom) {
      this.#refuse(visit, noRoom);
      return;
    }
    const told = `500 ${request.method} ${path} (${requestId})`;
    if (fault instanceof PlannedFault) this.#services.log.info(`${told}: ${fault.message}`);
    else if (fault instanceof StateFault) this.#services.log.error(`${told}: ${fault.what}`);
    else this.#services.log.error(told, fault);
    this.writer.refuse(visit.exchange, refuse.internal());
    this.#observe(visit, 500);
  }

  #observe({ endpoint, exchange, caller, nowMs }: Visit, status: number): void {
    exchange.injection?.answered(status);
    // A fault that holds the answer files what the caller gets to see.
    if (!exchange.injection?.isHolding) this.#file(exchange, status);
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

  /** Puts the exchange into the journal of its world: a file or a stream once its last byte has left. */
  #file(exchange: Exchange, status: number): void {
    const { record, response } = exchange;
    record.tookMs = this.#services.clock.monotonicMs() - record.startedMs;
    const isOver = !record.isStreamed || response.destroyed || status === 0;
    if (isOver) this.#keep(exchange, status);
    else response.once('close', () => this.#keep(exchange, response.statusCode));
  }

  #keep(exchange: Exchange, status: number): void {
    const { record, request, response } = exchange;
    // What fails while it is answered comes here twice.
    if (record.sequence > 0) return;
    const { clock, tenants } = this.#services;
    const world = exchange.world ?? this.#callers.worldOf(request) ?? tenants.first;
    record.status = status;
    record.atMs = world.clock.now();
    if (record.isStreamed) {
      record.streamedMs = clock.monotonicMs() - record.startedMs;
      record.isCut = !response.writableFinished;
      const sent = Object.entries(response.getHeaders());
      if (record.answerHeaders.length === 0)
        record.answerHeaders = sent.flatMap(([name, value]) => [name, headerText(value)]);
    }
    world.journal.add(record);
  }
}

const linkOfNoTenant = refuse.forbidden('the tenant of this link no longer exists');
const passwordsBusy = refuse.tooManyRequests(1);
const droppedTenant = refuse.unauthorized('the tenant of this token no longer exists');

function headerText(
  value: number | string | readonly string[] | undefined,
): string | readonly string[] {
  return typeof value === 'number' ? String(value) : (value ?? '');
}

const nobody: Caller = {};

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
  'a request with a body cannot have an Upgrade header; leave the header out',
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
