/**
 * Applies the deprecation schedule: deprecated operations announce it in headers from the day of
 * their announcement, and are removed at their end of life.
 * Spec: Versioning
 */
import {
  apiPrefixes,
  type DeprecatedApi,
  endOfLife,
} from '../../fixtures/contract/deprecations.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Refusal, refuse } from '../http/refusal.ts';

const endOfLifeMs = Date.parse(endOfLife);

/** Returns true from the start of the end-of-life day, in UTC. */
export function isPastEndOfLife(nowMs: number): boolean {
  return nowMs >= endOfLifeMs;
}

/** Returns the refusal of a removed operation; undefined while the operation is still served. */
export function refusalOfRetired(row: DeprecatedApi, nowMs: number): Refusal | undefined {
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
 * Returns the headers of a deprecated operation: deprecation date (RFC 9745), end of life (RFC
 * 8594) and successor; none before the announcement.
 */
export function deprecationHeaders(
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

/** Returns the successor's path, filled in with the parameters of the request. */
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
