/** The way to the server of a plan; the same for its devices and for the head of its shards. */
import type { Clock } from '../../fixtures/clock.ts';
import { type EndedExchange, type ExchangeObserver, Transport } from '../client/transport.ts';
import type { FleetPlan } from './plan.ts';

/** What a transport is given beside its plan. */
export interface PlanTransportOptions {
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  readonly onExchange?: (ended: EndedExchange) => void;
  readonly connectionsMax: number;
}

/** Reaches the server as the plan says; close it when done. */
export function planTransport(plan: FleetPlan, options: PlanTransportOptions): Transport {
  const { baseUrl, requestTimeLimitMs, tls } = plan;
  return new Transport({ ...options, baseUrl, requestTimeLimitMs, caPem: tls?.caPem });
}
