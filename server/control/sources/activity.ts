/** Publishes the requests that the API listener has answered. Nothing is stored. */
import {
  type OnSubscriptionEnd,
  type Subscriber,
  Subscribers,
} from '../../../fixtures/base/subscribers.ts';
import type { RequestContext } from '../../pipeline/context.ts';
import type { ExchangeObserver } from '../../pipeline/plug-ins.ts';

/** An answered request, as subscribers receive it. */
export interface Activity {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  readonly tenantId?: string;
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly requestId: string;
  readonly deviceId?: string;
}

/** Publishes answered requests to subscribers. */
export class ActivityFeed implements Pick<ExchangeObserver, 'onResponse'> {
  readonly #subscribers = new Subscribers<Activity>();

  /** True if there is at least one subscriber. */
  get watched(): boolean {
    return !this.#subscribers.isEmpty;
  }

  onResponse({ endpoint, exchange, nowMs, device, tenant }: RequestContext, status: number): void {
    // This runs for every request, so the object is not built without subscribers.
    if (this.#subscribers.isEmpty) return;
    const { id: operation, method } = endpoint.operation;
    this.publish({
      atMs: nowMs,
      tenantId: tenant.id,
      operation,
      method,
      status,
      requestId: exchange.requestId,
      ...(device && { deviceId: device.id }),
    });
  }

  publish(activity: Activity): void {
    this.#subscribers.publish(activity);
  }

  /** Adds a subscriber. Returns a function that ends the subscription. */
  subscribe(subscriber: Subscriber<Activity>, ended: OnSubscriptionEnd): () => void {
    return this.#subscribers.add(subscriber, ended);
  }
}
