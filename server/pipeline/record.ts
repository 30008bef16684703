/** Notifies observers of each exchange: when it was answered, and when it is over. */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Tenant, Tenants } from '../tenants/tenants.ts';
import type { Callers } from './callers.ts';
import type { RequestContext } from './context.ts';
import type { ExchangeObserver } from './plug-ins.ts';

interface RecorderOptions {
  readonly clock: Clock;
  readonly tenants: Tenants;
  readonly callers: Callers;
  readonly observers: readonly ExchangeObserver[];
}

export class Recorder {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  begin(exchange: Exchange): void {
    exchange.record.startedMs = this.#options.clock.monotonicMs();
  }

  /** Called when an operation was answered with this status. */
  recordResponse(context: RequestContext, status: number): void {
    const { interception, exchange } = context;
    interception?.recordResponse(status);
    // A transform that holds back the response reports later which status the caller saw.
    if (!interception?.isHolding) this.end(exchange, status, context.knownTenant);
    for (const observer of this.#options.observers) observer.onResponse?.(context, status);
  }

  /** Completes the record; for a file or stream after its last byte was sent. */
  end(exchange: Exchange, status: number, tenant?: Tenant): void {
    const { record, response } = exchange;
    record.tookMs = this.#options.clock.monotonicMs() - record.startedMs;
    const isOver = !record.isStreamed || response.destroyed || status === 0;
    if (isOver) this.#complete(exchange, status, tenant);
    else response.once('close', () => this.#complete(exchange, response.statusCode, tenant));
  }

  #complete(exchange: Exchange, status: number, knownTenant: Tenant | undefined): void {
    const { record, request, response } = exchange;
    // An exchange that fails while it is answered is completed twice.
    if (record.isComplete) return;
    record.isComplete = true;
    const { clock, tenants, callers, observers } = this.#options;
    const tenant = knownTenant ?? callers.tenantOf(request) ?? tenants.first;
    record.status = status;
    record.atMs = tenant.clock.now();
    if (record.isStreamed) {
      record.streamedMs = clock.monotonicMs() - record.startedMs;
      record.isIncomplete = !response.writableFinished;
      const sentHeaders = Object.entries(response.getHeaders());
      if (record.responseHeaders.length === 0)
        record.responseHeaders = sentHeaders.flatMap(([name, value]) => [name, headerText(value)]);
    }
    for (const observer of observers) observer.onEnd?.(record, tenant);
  }
}

function headerText(
  value: number | string | readonly string[] | undefined,
): string | readonly string[] {
  return typeof value === 'number' ? String(value) : (value ?? '');
}
