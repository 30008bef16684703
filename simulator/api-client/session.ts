/** A device's session with the server: its identity, its token, and the endpoint it uses. */
import type { DeviceKey } from '../identity/device-key.ts';
import type { ExchangeTap } from '../network/exchange-tap.ts';
import type { RequestSender, SimulatedNetwork } from '../network/simulated-network.ts';

/**
 * The three endpoints for the next deployment, newest first. After a 404 a device tries the next
 * older one.
 */
export const nextEndpoints = ['post-v2', 'post-v1', 'get-v1'] as const;
export type NextEndpoint = (typeof nextEndpoints)[number];

/** State that the client stores for one device between requests. */
export interface ClientSession {
  /** Name of the device in error messages. */
  readonly caller: string;
  readonly idData: string;
  key: DeviceKey;
  token: string | undefined;
  nextEndpoint: NextEndpoint;
  /**
   * When the next exchange is due, in monotonic milliseconds. The latency of the exchange counts
   * from this time even if it is sent later. Each exchange clears the value.
   */
  dueMs: number | undefined;
  /** True when the device requests a new token after its token was refused. */
  renewsToken: boolean;
  /** When to renew the token, in milliseconds of the device's clock; undefined until computed. */
  renewAtMs: number | undefined;
  /** Simulated network of the device; undefined when requests go directly to the server. */
  network: SimulatedNetwork | undefined;
  /** Observer of the device's exchanges; undefined unless the device is watched. */
  tap: ExchangeTap | undefined;
}

/** Returns the name of a device in error messages. */
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
export function newSession(caller: string, idData: string, key: DeviceKey): ClientSession {
  return {
    caller,
    idData,
    key,
    token: undefined,
    nextEndpoint: nextEndpoints[0],
    renewsToken: true,
    renewAtMs: undefined,
    network: undefined,
    tap: undefined,
    dueMs: undefined,
  };
}

/** Returns the transport with the device's simulated network and tap in front of it. */
export function exchangerOf(
  { network, tap }: ClientSession,
  transport: RequestSender,
): RequestSender {
  const observedTransport = tap?.wrap(transport) ?? transport;
  return network?.wrap(observedTransport) ?? observedTransport;
}

/**
 * Returns when the exchange that starts now was due, and clears this time in the session. Returns
 * undefined when the exchange was not planned.
 */
export function takeDueMs(session: ClientSession): number | undefined {
  const { dueMs } = session;
  session.dueMs = undefined;
  return dueMs;
}

/**
 * Returns the device ID from the token's `sub` claim, without verifying the token; use it only in
 * reports. Returns undefined when the token has no such claim.
 */
export function tokenSubject(token: string): string | undefined {
  const [, claims = ''] = token.split('.');
  const text = Buffer.from(claims, 'base64url').toString('utf8');
  return /"sub"\s*:\s*"([0-9A-Za-z-]{1,64})"/.exec(text)?.[1];
}
