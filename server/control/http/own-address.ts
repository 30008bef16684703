/**
 * Whether a request was meant for this listener: a page of another site must not steer it, neither
 * by its own requests (Origin) nor by a name of its own that it has made point here (Host).
 */

import { isIP } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import { refuse } from './answers.ts';

/** Refuses with 403 what names another host than an address, localhost, or the host listened on. */
export function requireOwnAddress(host: string) {
  const isOwn = (authority: string): boolean => isOurs(authority, host);
  return (request: Request, response: Response, next: NextFunction): void => {
    const authority = request.headers.host ?? '';
    const { origin } = request.headers;
    if (!isOwn(authority)) {
      refuse(
        response,
        403,
        'the Host header names another host; use the address that fleetbed serve printed',
      );
    } else if (origin !== undefined && origin !== `http://${authority}`) {
      refuse(
        response,
        403,
        'the Origin header names another site; browsers may use the control API only from the console',
      );
    } else next();
  };
}

function isOurs(authority: string, host: string): boolean {
  const name = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?$/.exec(authority)?.[1];
  if (name === undefined) return false;
  const bare = name.replace(/^\[|\]$/g, '').toLowerCase();
  return isIP(bare) !== 0 || bare === 'localhost' || bare === host.toLowerCase();
}
