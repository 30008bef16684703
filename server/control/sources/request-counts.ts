/** Counts the requests and errors of each second of the last hour, for each tenant. */
import type { Clock } from '../../../fixtures/base/clock.ts';
import { COUNTED_SECONDS_MAX } from '../../../fixtures/control/inputs.ts';
import type { RequestContext } from '../../pipeline/context.ts';
import type { ExchangeObserver } from '../../pipeline/plug-ins.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import type { RequestCountsView } from './source.ts';

/** Counts in one slot for each second of the last hour. A slot is reused an hour later. */
class TenantCounts {
  /** The second that each slot counts, in seconds since the Unix epoch. */
  readonly seconds = new Uint32Array(COUNTED_SECONDS_MAX);
  readonly requests = new Uint32Array(COUNTED_SECONDS_MAX);
  readonly errors = new Uint32Array(COUNTED_SECONDS_MAX);

  add(second: number, isError: boolean): void {
    const slot = second % COUNTED_SECONDS_MAX;
    if (this.seconds[slot] !== second) {
      this.seconds[slot] = second;
      this.requests[slot] = 0;
      this.errors[slot] = 0;
    }
    this.requests[slot] = (this.requests[slot] ?? 0) + 1;
    if (isError) this.errors[slot] = (this.errors[slot] ?? 0) + 1;
  }

  read(second: number): readonly [requests: number, errors: number] {
    const slot = second % COUNTED_SECONDS_MAX;
    if (this.seconds[slot] !== second) return [0, 0];
    return [this.requests[slot] ?? 0, this.errors[slot] ?? 0];
  }
}

/** Counts answered requests by the server's own clock, because tenants' clocks can be changed. */
export class RequestCounts implements Pick<ExchangeObserver, 'onResponse'> {
  readonly #clock: Clock;
  readonly #firstSecond: number;
  readonly #ofTenant = new WeakMap<Tenant, TenantCounts>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#firstSecond = this.#second();
  }

  onResponse({ tenant }: RequestContext, status: number): void {
    let counts = this.#ofTenant.get(tenant);
    if (!counts) {
      counts = new TenantCounts();
      this.#ofTenant.set(tenant, counts);
    }
    counts.add(this.#second(), status === 0 || status >= 400);
  }

  /**
   * Returns the counts of the last `count` whole seconds, oldest first; null for seconds before the
   * server started.
   */
  view(tenant: Tenant, count: number): RequestCountsView {
    const counts = this.#ofTenant.get(tenant);
    const fromSecond = this.#second() - count;
    const rows = Array.from({ length: count }, (_, at) => {
      const second = fromSecond + at;
      if (second < this.#firstSecond) return [null, null] as const;
      return counts?.read(second) ?? ([0, 0] as const);
    });
    return {
      fromSecond,
      requests: rows.map(([requests]) => requests),
      errors: rows.map(([, errors]) => errors),
    };
  }

  #second(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}
