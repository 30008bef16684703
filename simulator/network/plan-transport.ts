/**
 * The transport to the server of a plan; the same for its devices and for the coordinator of its
 * shards.
 */
import type { Clock } from '../../fixtures/clock.ts';
import type { FleetPlan } from '../plan/plan.ts';
import type { Carrier } from './carrier.ts';
import type { Wiring } from './connections.ts';
import {
  type EndedExchange,
  type ExchangeObserver,
  type ExchangeSubject,
  Transport,
} from './transport.ts';

/** Options of a transport besides the plan. */
export interface PlanTransportOptions {
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  readonly onExchange?: (ended: EndedExchange) => void;
  /** Returns the error that keeps a request from being sent. */
  readonly obstacle?: ((request: ExchangeSubject) => Error | undefined) | undefined;
  readonly connectionsMax: number;
  /** Carries the requests in place of connections. */
  readonly carrier?: Carrier | undefined;
}

/** Creates the transport that the plan describes; close it when done. */
export function planTransport(plan: FleetPlan, options: PlanTransportOptions): Transport {
  const { baseUrl, requestTimeLimitMs } = plan;
  return new Transport({ ...options, ...planWiring(plan), baseUrl, requestTimeLimitMs });
}

/** Returns the connection settings of the plan, also used for sockets. */
export function planWiring({ tls, sourceAddresses }: FleetPlan): Wiring {
  return { ...tls, sourceAddresses };
}

/** Checks that a server is reachable; any response will do. @throws ClientError, FleetStopped */
export async function requireAnswer(transport: Transport): Promise<void> {
  const request = { operation: 'reach-server', caller: 'fleet', method: 'GET' } as const;
  const answer = await transport.open({ ...request, target: '/', headers: {} });
  answer.discard();
}
