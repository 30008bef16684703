/** Passes a request of a known operation through its stages, and writes the result. */
import type { Socket } from 'node:net';
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import type { Addresses } from '../http/addresses.ts';
import type { Exchange } from '../http/exchange.ts';
import { Refusal } from '../http/refusal.ts';
import { ResponseWriter } from '../http/response.ts';
import type { Success } from '../http/success.ts';
import type { Watchdog } from '../watchdog.ts';
import { Callers } from './callers.ts';
import { RequestContext } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { internalError, outcomeOfFailure } from './failure.ts';
import { refusalLine, responseLine } from './log.ts';
import type { MountedServer } from './mounted.ts';
import type { ExchangeObserver, ResponseTransform } from './plug-ins.ts';
import { Recorder } from './record.ts';
import type { Services } from './services.ts';
import { type Stage, type StageLists, type StageResult, stagesOf } from './stages.ts';

interface PipelineOptions {
  readonly addresses: Readonly<Addresses>;
  readonly observers: readonly ExchangeObserver[];
  readonly transforms: readonly ResponseTransform[];
  readonly watchdog?: Watchdog | undefined;
  /** True to apply no rate limit: for callers that are not part of the system under test. */
  readonly isUnlimited?: boolean;
}

/** Stages for a request whose client has disconnected. */
const disconnectedStages: readonly Stage[] = [
  (context) => {
    context.throwIfDisconnected();
    return 'response-sent';
  },
];

/** Passes exchanges through the stages to their endpoint and back. */
export class Pipeline {
  /** Creates IDs for requests without one. */
  readonly newRequestId: () => string;
  readonly #services: Services;
  readonly #options: PipelineOptions;
  readonly #callers: Callers;
  readonly #recorder: Recorder;
  readonly #writer: ResponseWriter;
  readonly #lists = new WeakMap<Endpoint, StageLists>();

  constructor(services: Services, options: PipelineOptions) {
    const { headerNames, tenants, random, settings, openFiles, unreadBytes, clock } = services;
    const { addresses, observers, transforms } = options;
    this.#services = services;
    this.#options = options;
    this.#callers = new Callers(services);
    this.#recorder = new Recorder({ clock, tenants, callers: this.#callers, observers });
    const rewriting = transforms.find((transform) => 'rewrite' in transform);
    const explainAddresses = settings.explainHeader ? addresses : undefined;
    const { clock: firstClock } = tenants.first;
    const shared = { headerNames, clock: firstClock, openFiles, unreadBytes };
    this.#writer = new ResponseWriter({
      ...shared,
      rewriter: () => rewriting?.rewrite,
      addresses: explainAddresses,
    });
    const renaming = transforms.find((transform) => transform.newRequestId);
    this.newRequestId = () => renaming?.newRequestId?.(random.uuid()) ?? random.uuid();
  }

  /**
   * Answers the exchange. Never throws: an unexpected exception becomes a 500, with details in the
   * log.
   */
  run(endpoint: Endpoint, exchange: Exchange): void {
    const { transforms } = this.#options;
    for (const transform of transforms) {
      const { operation } = endpoint;
      const parameters = transform.readParameters?.(operation, exchange.parameters);
      if (parameters) exchange.parameters = parameters;
    }
    exchange.record.operation = endpoint.operation.id;
    this.#recorder.begin(exchange);
    const context = new RequestContext(
      { services: this.#services, addresses: this.#options.addresses },
      endpoint,
      exchange,
    );
    const lists = this.#listsOf(endpoint);
    const isTransforming = transforms.some((transform) => transform.isActive);
    // The client may have disconnected while the request waited for its turn.
    if (exchange.request.socket.destroyed) this.#advance(context, disconnectedStages, 0);
    else this.#advance(context, isTransforming ? lists.transformed : lists.default, 0);
  }

  /** Runs the stages from index `from`, until one ends the request or returns a promise. */
  #advance(
    context: RequestContext,
    stages: readonly Stage[],
    from: number,
    waited?: StageResult,
  ): void {
    const { watchdog } = this.#options;
    const startedMs = watchdog?.begin() ?? 0;
    let outcome = waited;
    try {
      for (let at = from; at < stages.length && outcome === undefined; at++) {
        const result = stages[at]?.(context);
        if (result instanceof Promise) {
          result.then(
            (stageResult) => this.#advance(context, stages, at + 1, stageResult),
            (error: unknown) => this.#fail(context, error),
          );
          return;
        }
        outcome = result;
      }
      this.#finish(context, outcome);
    } catch (error) {
      this.#fail(context, error);
    } finally {
      watchdog?.end(startedMs, context.exchange.record);
    }
  }

  #finish(context: RequestContext, outcome: StageResult): void {
    if (outcome === 'response-sent') return;
    const response = outcome ?? context.response;
    if (!response) throw new Error('no stage has given a response');
    if (response instanceof Refusal) this.#refuse(context, response);
    else this.#succeed(context, response);
    this.#recorder.recordResponse(context, response.status);
  }

  #refuse({ exchange, log }: RequestContext, refusal: Refusal): void {
    this.#writer.refuse(exchange, refusal);
    if (refusal !== internalError) log.info(refusalLine(exchange, refusal));
  }

  #succeed(context: RequestContext, response: Success): void {
    const { exchange, endpoint, log } = context;
    if (log.debugOn) log.debug(responseLine(exchange, response));
    if (response.status === 101) {
      upgradeConnection(context, response);
      return;
    }
    const { mediaType } = endpoint.operation.success[response.status] ?? {};
    const bodyWritten = this.#writer.succeed(exchange, response, mediaType);
    // A body that is generated in parts may fail after its beginning was sent.
    bodyWritten?.catch((error: unknown) => this.#fail(context, error));
  }

  #fail(context: RequestContext, error: unknown): void {
    const dependencies = { services: this.#services, recorder: this.#recorder };
    this.#finish(context, outcomeOfFailure(context, error, dependencies));
  }

  #listsOf(endpoint: Endpoint): StageLists {
    const cachedList = this.#lists.get(endpoint);
    if (cachedList) return cachedList;
    const { transforms, isUnlimited = false } = this.#options;
    const lists = stagesOf(endpoint.operation, {
      callers: this.#callers,
      recorder: this.#recorder,
      transforms,
      isUnlimited,
    });
    this.#lists.set(endpoint, lists);
    return lists;
  }

  /**
   * Refuses a request that matches no operation. Under the dialect token-before-routing, an invalid
   * token is refused first.
   */
  refuse(exchange: Exchange, refusal: Refusal): void {
    const { settings } = this.#services;
    const isDisconnected = exchange.request.socket.destroyed;
    const isTokenFirst = settings.dialects.has('token-before-routing') && !isDisconnected;
    const kind = isTokenFirst && callerKindOf(exchange.path);
    const caller = kind && this.#callers.find(exchange, { authorization: kind });
    this.refuseUnmatched(exchange, caller instanceof Refusal ? caller : refusal);
  }

  /** Refuses a request that matches no operation, without a check of its token. */
  refuseUnmatched(exchange: Exchange, refusal: Refusal): void {
    this.#recorder.begin(exchange);
    this.#writer.refuse(exchange, refusal);
    this.#services.log.info(refusalLine(exchange, refusal));
    this.#recorder.end(exchange, refusal.status);
  }

  /** Answers a CORS preflight for a path with these methods. */
  preflight(exchange: Exchange, methods: readonly string[]): void {
    this.#recorder.begin(exchange);
    this.#writer.preflight(exchange, methods);
    this.#recorder.end(exchange, exchange.record.status);
  }

  /** The dialects and listener addresses of the server. */
  get mounts(): MountedServer {
    return { dialects: this.#services.settings.dialects, addresses: this.#options.addresses };
  }

  /** The error text for a user who opens the root of this listener in a browser. */
  get rootHint(): string {
    const { device, management } = apiPrefixes;
    const { console } = this.#options.addresses;
    const consoleText = console === undefined ? '' : `; the console is at ${new URL('/', console)}`;
    return `there is no page at /: devices call ${device}..., users ${management}...${consoleText}`;
  }

  /** Answers with an HTML page; the exchange belongs to no operation. */
  sendPage(exchange: Exchange, page: string): void {
    this.#recorder.begin(exchange);
    void this.#writer.succeed(exchange, { status: 200, body: page }, 'text/html; charset=utf-8');
    this.#recorder.end(exchange, 200);
  }
}

/** Passes the connection to the upgrade function of the endpoint's 101 response. */
function upgradeConnection({ exchange, interception }: RequestContext, success: Success): void {
  const { request, response, requestId, upgrade: pendingUpgrade } = exchange;
  if (!pendingUpgrade || !success.upgrade) throw new Error('101 for a request without an upgrade');
  // Node types the connection as any Duplex; an upgrade of this server always has a TCP socket.
  const socket = pendingUpgrade.socket as Socket;
  response.detachSocket(socket);
  const { head } = pendingUpgrade;
  success.upgrade({ request, socket, head, requestId, ...interception?.onUpgrade() });
}

/** Returns the kind of token that a gateway would require for this path. */
function callerKindOf(path: string): 'device' | 'user' | undefined {
  if (path.startsWith(apiPrefixes.device)) return 'device';
  return path.startsWith(apiPrefixes.management) ? 'user' : undefined;
}
