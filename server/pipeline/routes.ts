/**
 * Routes path and method to an operation. Paths without parameters, and device paths with one
 * parameter, are looked up in tables at the speed of node:http, because devices call them most; all
 * other paths go through Express.
 */
import express, { type Express } from 'express';
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import type { Endpoint } from './endpoint.ts';
import { mountedOperations } from './endpoint.ts';
import { UnknownPath } from './mounted.ts';
import type { Pipeline } from './pipeline.ts';

type Handler = (exchange: Exchange) => void;

/** The routes of a listener. */
export interface Routes {
  /** Returns the handler of a path in the tables. */
  readonly find: (path: string) => Handler | undefined;
  /**
   * Handles every path that `find` did not return; expects `exchange` as a property of the request.
   */
  readonly app: Express;
  /** Answers a path that no operation has. */
  readonly unknown: Handler;
  /** Refuses a request, whatever its path. */
  readonly refuse: (exchange: Exchange, refusal: Refusal) => void;
  /**
   * Returns true for an operation that takes over the connection, such as a WebSocket handshake.
   */
  readonly opensSocket: (method: string, path: string) => boolean;
}

/** The property that the listener sets on a request for Express. */
export interface RequestWithExchange {
  exchange: Exchange;
}

/** Mounts the operations. `pages` maps paths to HTML that a browser receives for GET. */
export function mountRoutes(
  endpoints: readonly Endpoint[],
  pipeline: Pipeline,
  pages: ReadonlyMap<string, string> = new Map(),
): Routes {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  app.enable('strict routing');
  const exact = new Map<string, Handler>();
  const frequent: OneParameterRoute[] = [];
  const parameterRoutes: PathRoute[] = [];
  const paths = new Set(endpoints.map(({ operation }) => operation.path));
  for (const path of paths) {
    const group = endpoints.filter(({ operation }) => operation.path === path);
    const handler = handlerOf(group, pipeline, pages.get(path));
    if (!path.includes('{')) exact.set(path, handler);
    else {
      const [prefix = '', name = '', suffix = '', ...more] = path.split(/[{}]/);
      if (path.startsWith(apiPrefixes.device) && more.length === 0) {
        frequent.push({ prefix, name, suffix, handler });
      }
      parameterRoutes.push({ path, handler });
    }
  }
  const operations = endpoints.map(({ operation }) => operation);
  const unknownHandler = unknownIn(pipeline, new UnknownPath(operations, pipeline.mounts));
  const refuseAny = pipeline.refuseUnmatched.bind(pipeline);
  let hasExpressRoutes = false;
  const find = (path: string): Handler | undefined => {
    const handler = exact.get(path) ?? findOneParameterRoute(frequent, path);
    // Express is set up on the first miss: most test servers, and devices that only poll, never
    // need it.
    if (!handler && !hasExpressRoutes) {
      hasExpressRoutes = true;
      for (const parameterRoute of parameterRoutes) addRoute(app, parameterRoute);
      addFallbacks(app, pipeline, unknownHandler);
    }
    return handler;
  };
  return {
    find,
    app,
    unknown: unknownHandler,
    refuse: refuseAny,
    opensSocket: socketMatcher(endpoints),
  };
}

function socketMatcher(endpoints: readonly Endpoint[]): Routes['opensSocket'] {
  const opening = endpoints
    .map(({ operation }) => operation)
    .filter(({ success }) => 101 in success)
    .map(({ method, path }) => new RegExp(`^${method} ${path.replace(/\{\w+\}/g, '[^/]+')}$`));
  return (method, path) => opening.some((template) => template.test(`${method} ${path}`));
}

interface PathRoute {
  readonly path: string;
  readonly handler: Handler;
}

/** A path with one parameter. */
interface OneParameterRoute {
  readonly prefix: string;
  readonly name: string;
  readonly suffix: string;
  readonly handler: Handler;
}

/**
 * Returns the handler of a path whose parameter is one segment without escapes; Express handles
 * others.
 */
function findOneParameterRoute(
  frequent: readonly OneParameterRoute[],
  path: string,
): Handler | undefined {
  for (const { prefix, name, suffix, handler } of frequent) {
    if (!path.startsWith(prefix) || !path.endsWith(suffix)) continue;
    const value = path.slice(prefix.length, path.length - suffix.length);
    if (!plainSegment.test(value)) continue;
    return (exchange) => {
      exchange.parameters = { [name]: value };
      handler(exchange);
    };
  }
  return undefined;
}

const plainSegment = /^[\w.~-]+$/;

/** The refusal of a request on a surplus connection, with Retry-After. */
export const tooManyConnections = refuse.unavailable(
  'the server has reached its limit of open connections; try again later',
);

const oneHost = {
  path: 'header.Host',
  expected: 'exactly one Host header (RFC 9112, section 3.2)',
} as const;

/** The refusal of a request without a Host header. */
export const missingHost = refuse.malformed('the Host header is missing; HTTP/1.1 requires it', {
  ...oneHost,
  actual: 'none',
});

/** The refusal of a request with several Host headers, in any version of HTTP. */
export const severalHosts = refuse.malformed('the Host header was sent more than once; send one', {
  ...oneHost,
  actual: 'several',
});

function handlerOf(
  group: readonly Endpoint[],
  pipeline: Pipeline,
  page: string | undefined,
): Handler {
  const byMethod = new Map(
    group.map((endpoint) => [endpoint.operation.method as string, endpoint]),
  );
  const methods = [...byMethod.keys(), 'OPTIONS'];
  return (exchange) => {
    const method = exchange.request.method ?? '';
    const endpoint = byMethod.get(method);
    if (endpoint) pipeline.run(endpoint, exchange);
    else if (method === 'OPTIONS') pipeline.preflight(exchange, methods);
    else if (page !== undefined && isOpenedByBrowser(exchange)) pipeline.sendPage(exchange, page);
    else pipeline.refuse(exchange, refuse.methodNotAllowed(methods, method));
  };
}

function isOpenedByBrowser({ request }: Exchange): boolean {
  return request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? '');
}

function unknownIn(pipeline: Pipeline, evidence: UnknownPath): Handler {
  return (exchange) => {
    const detail = { path: 'path', actual: exchange.path, evidence };
    const sentence = exchange.path === '/' ? pipeline.rootHint : 'this API has no such path';
    pipeline.refuse(exchange, refuse.notFound(sentence, detail));
  };
}

function addRoute(app: Express, { path, handler }: PathRoute): void {
  // `app.all` would create a matcher for every HTTP method, which takes ten times as long.
  app.route(path.replace(/\{(\w+)\}/g, ':$1')).all((request: unknown) => {
    const { exchange, params } = request as RequestWithExchange & {
      params: Record<string, string>;
    };
    exchange.parameters = params;
    handler(exchange);
  });
}

function addFallbacks(app: Express, pipeline: Pipeline, unknown: Handler): void {
  app.use((request) => unknown((request as unknown as RequestWithExchange).exchange));
  app.use(((error, request, _response, _next) => {
    const { exchange } = request as unknown as RequestWithExchange;
    const refusal =
      error instanceof URIError
        ? refuse.malformed('path: contains a percent escape that cannot be decoded', {
            path: 'path',
            expected: 'percent escapes of UTF-8, such as %20, and %25 for a percent sign',
          })
        : refuse.internal();
    pipeline.refuseUnmatched(exchange, refusal);
  }) satisfies express.ErrorRequestHandler);
}

/**
 * Checks that every operation has exactly one endpoint.
 * @throws Error when one is missing or duplicate, or two paths differ only in their parameter names
 */
export function assertComplete(endpoints: readonly Endpoint[]): void {
  const ids = endpoints.map(({ operation }) => operation.id);
  const doubled = ids.filter((id, index) => ids.indexOf(id) !== index);
  const missing = Object.keys(mountedOperations).filter((id) => !ids.includes(id));
  if (doubled.length > 0)
    throw new Error(`operations mounted more than once: ${doubled.join(', ')}`);
  if (missing.length > 0) throw new Error(`operations not mounted: ${missing.join(', ')}`);
  const paths = new Map<string, string>();
  for (const { operation } of endpoints) {
    // The first of two such paths would receive the requests of both.
    const template = operation.path.replace(/\{\w+\}/g, '{}');
    const knownPath = paths.get(template) ?? operation.path;
    if (knownPath !== operation.path)
      throw new Error(`${operation.path} differs from ${knownPath} only in parameter names`);
    paths.set(template, operation.path);
  }
}
