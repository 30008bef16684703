/**
 * Checks that a request is meant for this listener. A page of another site must not control it,
 * neither by its own requests (Origin) nor through a DNS name that points here (Host).
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { throwRefusal } from './refusals.ts';

/**
 * Refuses with 403 any host other than an IP address, localhost, or the host that the server
 * listens on.
 */
export function requireOwnAddress(host: string): RequestHandler {
  return (request, _, next) => {
    checkOwnAddress(request, host);
    next();
  };
}

/**
 * Checks a request that bypasses the routes, such as a WebSocket upgrade, like `requireOwnAddress`.
 * @throws ControlRefusal
 */
export function checkOwnAddress(
  { headers: { host: authority = '', origin } }: Pick<IncomingMessage, 'headers'>,
  host: string,
): void {
  if (!isOurs(authority, host)) {
    throwRefusal(
      403,
      'the Host header names another host; use the address that fleetbed serve printed',
    );
  }
  if (origin === undefined || origin === `http://${authority}`) return;
  throwRefusal(
    403,
    'the Origin header names another site; browsers may use the control API only from the console',
  );
}

function isOurs(authority: string, host: string): boolean {
  const name = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?$/.exec(authority)?.[1];
  if (name === undefined) return false;
  const bareName = name.replace(/^\[|\]$/g, '').toLowerCase();
  return isIP(bareName) !== 0 || bareName === 'localhost' || bareName === host.toLowerCase();
}
