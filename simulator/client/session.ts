/** A device's session with the server: its identity, its token, and the endpoint it uses. */
import type { DeviceKey } from '../identity/device-key.ts';
import type { ExchangeTap } from '../network/exchange-tap.ts';
import type { Exchanger, Link } from '../network/link.ts';

/**
 * The three endpoints for the next deployment, newest first; after a 404 the next older is tried.
 */
export const nextEndpoints = ['post-v2', 'post-v1', 'get-v1'] as const;
export type NextEndpoint = (typeof nextEndpoints)[number];

/** State that the client keeps for one device between requests. */
export interface Session {
  /** Name of the device in error messages. */
  readonly caller: string;
  readonly idData: string;
  key: DeviceKey;
  token: string | undefined;
  nextEndpoint: NextEndpoint;
  /**
   * When the next exchange is due, in monotonic milliseconds; its latency counts from then, even
   * when it is sent later. Consumed by the exchange.
   */
  plannedMs: number | undefined;
  /** True when a refused token is replaced by a new one. */
  renewsToken: boolean;
  /** When to renew the token, by the device's clock; undefined until computed. */
  renewAtMs: number | undefined;
  /** Network link between device and server; absent when traffic passes unchanged. */
  link: Link | undefined;
  /** Observer of the device's exchanges; usually absent. */
  tap: ExchangeTap | undefined;
}

/** Returns the name of a fleet device in error messages. */
export function deviceCaller(index: number): string {
  return `device ${index}`;
}

/**
 * Returns the index of the device with this name; undefined when it is not a device of the fleet.
 */
export function deviceOfCaller(caller: string): number | undefined {
  const [, index] = /^device (\d+)$/.exec(caller) ?? [];
  return index === undefined ? undefined : Number(index);
}

/** Returns the session of a device that has not sent a request yet. */
export function newSession(caller: string, idData: string, key: DeviceKey): Session {
  return {
    caller,
    idData,
    key,
    token: undefined,
    nextEndpoint: nextEndpoints[0],
    renewsToken: true,
    renewAtMs: undefined,
    link: undefined,
    tap: undefined,
    plannedMs: undefined,
  };
}

/** Returns the device's path to the server: through its network link and its tap. */
export function exchangerOf({ link, tap }: Session, transport: Exchanger): Exchanger {
  const way = tap?.over(transport) ?? transport;
  return link?.over(way) ?? way;
}

/** Returns when the exchange that starts now was due, if planned, and clears it. */
export function takePlannedMs(session: Session): number | undefined {
  const { plannedMs } = session;
  session.plannedMs = undefined;
  return plannedMs;
}

/**
 * Returns the device ID from the token's subject, unverified and for reports only; undefined when
 * the token has none.
 */
export function tokenSubject(token: string): string | undefined {
  const [, claims = ''] = token.split('.');
  const text = Buffer.from(claims, 'base64url').toString('utf8');
  return /"sub"\s*:\s*"([0-9A-Za-z-]{1,64})"/.exec(text)?.[1];
}
