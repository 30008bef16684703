/** The way to the server of a plan; the same for its devices and for the head of its shards. */
import type { Clock } from '../../fixtures/clock.ts';
import type { FleetPlan } from '../plan/plan.ts';
import type { Wiring } from './connections.ts';
import {
  type EndedExchange,
  type ExchangeObserver,
  type ExchangeSubject,
  Transport,
} from './transport.ts';

/** What a transport is given beside its plan. */
export interface PlanTransportOptions {
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  readonly onExchange?: (ended: EndedExchange) => void;
  /** What keeps a request from being sent at all. */
  readonly obstacle?: ((request: ExchangeSubject) => Error | undefined) | undefined;
  readonly connectionsMax: number;
}

/** Reaches the server as the plan says; close it when done. */
export function planTransport(plan: FleetPlan, options: PlanTransportOptions): Transport {
  const { baseUrl, requestTimeLimitMs } = plan;
  return new Transport({ ...options, ...planWiring(plan), baseUrl, requestTimeLimitMs });
}

/** How the plan's connections are made, sockets among them. */
export function planWiring({ tls, sourceAddresses }: FleetPlan): Wiring {
  return { ...tls, sourceAddresses };
}

/** Makes sure that a server is there; any answer at all will do. @throws ClientError, FleetStopped */
export async function expectAnswer(transport: Transport): Promise<void> {
  const request = { operation: 'reach-server', caller: 'fleet', method: 'GET' } as const;
  const answer = await transport.open({ ...request, target: '/', headers: {} });
  answer.discard();
}
