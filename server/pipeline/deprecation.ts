/**
 * The deprecation schedule as behaviour: deprecated operations say so in headers from the day of
 * their announcement on, and are gone from their end of life on. Spec: Versioning
 */
import {
  apiPrefixes,
  type DeprecatedApi,
  endOfLife,
} from '../../fixtures/contract/deprecations.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import type { Callers } from './callers.ts';
import type { Stage } from './stage.ts';

const endOfLifeMs = Date.parse(endOfLife);

/** True from the first moment, in UTC, of the day on which deprecated operations and fields end. */
export function isPastEndOfLife(nowMs: number): boolean {
  return nowMs >= endOfLifeMs;
}

/** The stage that tells of a deprecation in the time of the tenant that the token names, in order or not. */
export function announceDeprecation(row: DeprecatedApi, callers: Callers): Stage {
  return (context) => {
    const { exchange, tenants } = context;
    context.moveTo(callers.tenantOf(exchange.request) ?? tenants.first);
    exchange.notices = deprecationNotices(row, exchange, context.nowMs);
    return undefined;
  };
}

/** The stage that refuses an operation from its end of life on. */
export function refuseRetired(row: DeprecatedApi): Stage {
  return ({ nowMs }) => retired(row, nowMs);
}

/** The refusal of an operation that is gone; nothing while it still answers. */
function retired(row: DeprecatedApi, nowMs: number): Refusal | undefined {
  if (!isPastEndOfLife(nowMs)) return undefined;
  const { method, version, path, replacement } = row;
  return refuse.gone(
    `${method} ${version} ${path} was removed on ${endOfLife}; its replacement: ${replacement}`,
    {
      path: 'path',
      expected: replacement,
      actual: `${method} ${version} ${path}`,
      rule: `Everything in the deprecation schedule is removed on ${endOfLife}.`,
    },
  );
}

/**
 * What a deprecated operation's answers say in their headers: since when it is deprecated
 * (RFC 9745), when it ends (RFC 8594), and what comes after it. Nothing before its announcement.
 */
function deprecationNotices(
  row: DeprecatedApi,
  { parameters }: Pick<Exchange, 'parameters'>,
  nowMs: number,
): readonly (readonly [string, string])[] {
  const sinceMs = Date.parse(row.deprecatedSince);
  if (nowMs < sinceMs) return [];
  return [
    ['Deprecation', `@${sinceMs / 1000}`],
    ['Sunset', new Date(endOfLifeMs).toUTCString()],
    ['Link', `<${successorPath(row, parameters)}>; rel="successor-version"`],
  ];
}

/** The successor's path, with the request's own parameters where it takes them. */
function successorPath(
  { successor }: DeprecatedApi,
  parameters: Readonly<Record<string, string>>,
): string {
  const [first] = Object.values(parameters);
  const path = successor.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? first ?? ''),
  );
  return `${apiPrefixes.management}${successor.version}${path}`;
}
