/** A device's standing with the server: who it is, its token, and which door it asks at. */
import type { DeviceKey } from '../identity/device-key.ts';
import type { ExchangeTap } from '../network/exchange-tap.ts';
import type { Exchanger, Link } from '../network/link.ts';

/** The three doors to the next deployment, newest first; an older one is tried after a 404. */
export const nextDoors = ['post-v2', 'post-v1', 'get-v1'] as const;
export type NextDoor = (typeof nextDoors)[number];

/** What the client must remember of one device between two requests. */
export interface Session {
  /** How error messages call the device. */
  readonly caller: string;
  readonly idData: string;
  key: DeviceKey;
  token: string | undefined;
  nextDoor: NextDoor;
  /**
   * When the next exchange is due, in monotonic milliseconds; its latency counts from then, also
   * when it is sent later. Taken by the exchange.
   */
  plannedMs: number | undefined;
  /** Whether a token that is refused is replaced by a new one. */
  renewsToken: boolean;
  /** When the token is to be renewed, by the device's clock; undefined until that is looked up. */
  renewAtMs: number | undefined;
  /** The network between the device and the server; absent where it is as it is. */
  link: Link | undefined;
  /** Somebody who looks on at what passes between the device and the server; mostly nobody. */
  tap: ExchangeTap | undefined;
}

/** How error messages call a device of the fleet. */
export function deviceCaller(index: number): string {
  return `device ${index}`;
}

/** Index of the device that is called so; undefined when it is no device of the fleet. */
export function deviceOfCaller(caller: string): number | undefined {
  const [, index] = /^device (\d+)$/.exec(caller) ?? [];
  return index === undefined ? undefined : Number(index);
}

/** The standing of a device that has never asked for anything. */
export function newSession(caller: string, idData: string, key: DeviceKey): Session {
  return {
    caller,
    idData,
    key,
    token: undefined,
    nextDoor: nextDoors[0],
    renewsToken: true,
    renewAtMs: undefined,
    link: undefined,
    tap: undefined,
    plannedMs: undefined,
  };
}

/** The way of a device to the server: through its network, past whoever looks on. */
export function wayOf({ link, tap }: Session, transport: Exchanger): Exchanger {
  const way = tap?.over(transport) ?? transport;
  return link?.over(way) ?? way;
}

/** When the exchange that begins now was due, if that was planned; asking again gives nothing. */
export function takePlannedMs(session: Session): number | undefined {
  const { plannedMs } = session;
  session.plannedMs = undefined;
  return plannedMs;
}

/**
 * The device's id as the token's subject gives it; for reports only, nothing is verified. Undefined
 * when the token holds none.
 */
export function tokenSubject(token: string): string | undefined {
  const [, claims = ''] = token.split('.');
  const text = Buffer.from(claims, 'base64url').toString('utf8');
  return /"sub"\s*:\s*"([0-9A-Za-z-]{1,64})"/.exec(text)?.[1];
}
