/** How the control listener mounts its paths, reads bodies and refuses. */

import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import * as v from 'valibot';
import { printable } from '../../../fixtures/printable.ts';
import { sentenceOf } from '../../../fixtures/shape-sentences.ts';
import { Semaphore } from '../../http/open-files.ts';
import type { Log } from '../../pipeline/log.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';

/** Bytes of a body; nothing that is steered here needs more. */
const BODY_MAX_BYTES = 16_384;
/** The same of plans and start states that people write, and of bodies for the doctor. */
const TEXT_MAX_BYTES = 1024 * 1024;
/** Of all bodies together that have not arrived whole. */
const UNDERWAY_MAX_BYTES = 16 * TEXT_MAX_BYTES;

/** Shown of the name of an unknown parameter. */
const NAME_MAX_CHARACTERS = 64;

const methods = ['get', 'post', 'put', 'delete'] as const;
type Method = (typeof methods)[number];

/**
 * Answers a request: what it returns is sent as JSON, `undefined` as 204, unless it has written a
 * response itself.
 */
export interface Handler {
  (request: Request, response: Response): unknown;
  /** Names of the query's parameters, every other one is refused; `any` checks them itself. */
  readonly takes?: Takes;
}

export type Takes = readonly string[] | 'any';

/** A handler with the names of its query's parameters. */
export function taking(takes: Takes, handler: (...given: Parameters<Handler>) => unknown): Handler {
  return Object.assign((...given: Parameters<Handler>) => handler(...given), { takes });
}

/** The parameter that names a tenant. */
export const ofTenant = ['tenant'] as const;

/**
 * Refuses with 400 a parameter that is not taken: without the one that was meant, the request would
 * act on the first tenant, or on all that there is.
 */
export function requireKnown(query: Readonly<Record<string, unknown>>, takes: Takes): void {
  if (takes === 'any') return;
  const unknown = Object.keys(query).find((name) => !takes.includes(name));
  if (unknown === undefined) return;
  const names = takes.join(', ');
  const told = names === '' ? 'this path takes no parameters' : `the parameters are ${names}`;
  refuse(400, `query: ${printable(unknown, NAME_MAX_CHARACTERS)}: is unknown; ${told}`);
}

/** Mounts a path with the methods that it takes; every other one is 405. */
export function mount(
  app: Express,
  path: string,
  handlers: Readonly<Partial<Record<Method, Handler>>>,
): void {
  const route = app.route(path);
  for (const method of methods) {
    const handler = handlers[method];
    if (!handler) continue;
    route[method](async (request, response) => {
      requireKnown(request.query, handler.takes ?? []);
      const body = await handler(request, response);
      if (response.headersSent || response.destroyed) return;
      if (body === undefined) response.status(204).end();
      else response.json(body);
    });
  }
  const allowed = Object.keys(handlers).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  route.all((request, response) => {
    response.set('Allow', allowed.join(', '));
    refuse(405, `${request.method} is not supported here, only ${allowed.join(', ')}`);
  });
}

/** Why a request is not done. */
export class ControlRefusal extends Error {
  override readonly name = 'ControlRefusal';
  readonly status: number;
  readonly members: object;

  constructor(status: number, error: string, members: object) {
    super(error);
    this.status = status;
    this.members = members;
  }
}

/**
 * Ends the request with an error body, which has the given members as well.
 * @throws ControlRefusal always; `faults` answers it
 */
export function refuse(status: number, error: string, members: object = {}): never {
  throw new ControlRefusal(status, error, members);
}

/** Refuses with 503 what exceeds a limit at the moment, and closes the connection. */
export function refuseForNow(response: Response, error: string): never {
  response.set({ 'Retry-After': '5', Connection: 'close' });
  refuse(503, `${error}; try again later`);
}

/** Limits the bytes of all bodies that are being received. */
export function boundBodies(): RequestHandler {
  const underway = new Semaphore(UNDERWAY_MAX_BYTES);
  return (request, response, next) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    // What announces no length may become as long as any.
    const bytes = Math.min(coding === undefined ? Number(length) : Infinity, TEXT_MAX_BYTES);
    if (!underway.tryAcquire(bytes))
      refuseForNow(response, 'too many bytes of unfinished requests');
    request.once('close', () => underway.release(bytes));
    next();
  };
}

/** Reads JSON bodies of at most `BODY_MAX_BYTES`, or of `TEXT_MAX_BYTES` where they are long. */
export function jsonBodies(isLong = false): RequestHandler {
  const limit = isLong ? TEXT_MAX_BYTES : BODY_MAX_BYTES;
  return express.json({ limit, strict: true, inflate: false });
}

/** Reads bodies of hand-written text, YAML or JSON, of at most `TEXT_MAX_BYTES`. */
export function textBodies(): RequestHandler {
  return express.text({ limit: TEXT_MAX_BYTES, type: () => true, inflate: false });
}

/** The checked body; an invalid one is refused with 400 or 415. */
export function readBody<const Shape extends v.GenericSchema>(
  shape: Shape,
  { body, headers }: Request,
): v.InferOutput<Shape> {
  if (body === undefined) {
    const status = headers['content-type'] === undefined ? 400 : 415;
    refuse(status, 'body: send a JSON object with Content-Type "application/json"');
  }
  // The message names only the first fault.
  const checked = v.safeParse(shape, body, { abortEarly: true });
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  const place = v.getDotPath(issue);
  refuse(400, `body: ${place === null ? '' : `${place}: `}${sentenceOf(issue)}`);
}

/**
 * The tenant that `?tenant=` names by its id or name, if any; an unknown one is refused with 404,
 * and more than one name with 400.
 */
export function namedTenant(
  tenants: Tenants,
  query: Readonly<Record<string, unknown>>,
): Tenant | undefined {
  const { tenant: named } = query;
  if (named === undefined) return undefined;
  if (Array.isArray(named)) refuse(400, 'query: tenant: must be given once');
  const found = tenants.list().find(({ id, name }) => id === named || name === named);
  if (found) return found;
  refuse(404, 'there is no tenant with this id or name; GET /tenants lists them');
}

/** Answers a request about one tenant. */
export type TenantHandler = (tenant: Tenant, request: Request, response: Response) => unknown;

/**
 * Makes handlers of the tenant that `?tenant=` names, or of the first one.
 * @returns takes a handler, and the names of its query's other parameters
 */
export function handlersWithin(
  tenants: Tenants,
): (handler: TenantHandler, takes?: Takes) => Handler {
  return (handler, takes = []) =>
    taking(takes === 'any' ? takes : [...ofTenant, ...takes], (request, response) =>
      handler(namedTenant(tenants, request.query) ?? tenants.first, request, response),
    );
}

/**
 * Answers refusals, those that `refusalOf` knows included, and bodies that cannot be read with their
 * own status, and every other fault with 500.
 */
export function faults(
  log: Log,
  refusalOf: (fault: unknown) => { status: number; error: string } | undefined,
): ErrorRequestHandler {
  return (fault: unknown, _request, response, next) => {
    if (response.headersSent) {
      log.error('the control listener failed', fault);
      next(fault);
      return;
    }
    const answer = (status: number, error: string, members = {}): void => {
      response.status(status).json({ error, ...members });
    };
    if (fault instanceof ControlRefusal) {
      answer(fault.status, fault.message, fault.members);
      return;
    }
    const refusal = refusalOf(fault);
    if (refusal) {
      answer(refusal.status, refusal.error);
      return;
    }
    const status = statusOf(fault);
    if (status === undefined) log.error('the control listener failed', fault);
    answer(status ?? 500, status === undefined ? 'internal error' : sentences[status]);
  };
}

const sentences = {
  400: 'the request cannot be read; send a JSON body and a path with valid percent-encoding',
  413: `the body is larger than the limit: ${BODY_MAX_BYTES} bytes, ${TEXT_MAX_BYTES} for a fault plan, a world file or a signed body`,
  415: 'the body must be JSON in UTF-8, not compressed',
} as const;

function statusOf(fault: unknown): keyof typeof sentences | undefined {
  const status = fault instanceof Error && 'status' in fault ? fault.status : undefined;
  return status === 400 || status === 413 || status === 415 ? status : undefined;
}
