/** How the control listener mounts its paths, reads bodies and refuses. */

import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import * as v from 'valibot';
import { sentenceOf } from '../../../fixtures/shape-sentences.ts';
import { Semaphore } from '../../http/open-files.ts';
import type { Log } from '../../pipeline/log.ts';
import type { Tenants } from '../../tenants/tenants.ts';
import { type ControlledTenant, controlled } from '../controlled-tenant.ts';

/** Bytes of a body; nothing that is steered here needs more. */
const BODY_MAX_BYTES = 16_384;
/** The same of plans and start states that people write. */
const TEXT_MAX_BYTES = 1024 * 1024;
/** Of all bodies together that have not arrived whole. */
const UNDERWAY_MAX_BYTES = 16 * TEXT_MAX_BYTES;

const methods = ['get', 'post', 'put', 'delete'] as const;
type Method = (typeof methods)[number];

/** Answers a request; what it throws becomes a 500. */
export type Handler = (request: Request, response: Response) => unknown;

/** Mounts a path with the methods that it takes; every other one is 405. */
export function mount(
  app: Express,
  path: string,
  handlers: Readonly<Partial<Record<Method, Handler>>>,
): void {
  const route = app.route(path);
  for (const method of methods) {
    const handler = handlers[method];
    if (handler)
      route[method](async (request, response) => void (await handler(request, response)));
  }
  const allowed = Object.keys(handlers).flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  route.all((request, response) => {
    response.set('Allow', allowed.join(', '));
    refuse(response, 405, `${request.method} is not supported here, only ${allowed.join(', ')}`);
  });
}

/** Answers with an error body. */
export function refuse(response: Response, status: number, error: string): void {
  response.status(status).json({ error });
}

/** Refuses what there is no room for at the moment, and ends the connection. */
export function refuseForNow(response: Response, error: string): void {
  response.set({ 'Retry-After': '5', Connection: 'close' });
  refuse(response, 503, `${error}; try again later`);
}

/** Lets in only as many bodies at a time as may be held together. */
export function boundBodies(): RequestHandler {
  const underway = new Semaphore(UNDERWAY_MAX_BYTES);
  return (request, response, next) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    // What announces no length may become as long as any.
    const bytes = Math.min(coding === undefined ? Number(length) : Infinity, TEXT_MAX_BYTES);
    if (!underway.tryAcquire(bytes)) {
      refuseForNow(response, 'too many bytes of unfinished requests');
      return;
    }
    request.once('close', () => underway.release(bytes));
    next();
  };
}

/** Reads JSON bodies of at most `BODY_MAX_BYTES`. */
export function jsonBodies(): RequestHandler {
  return express.json({ limit: BODY_MAX_BYTES, strict: true, inflate: false });
}

/** Reads bodies of hand-written text, YAML or JSON, of at most `TEXT_MAX_BYTES`. */
export function textBodies(): RequestHandler {
  return express.text({ limit: TEXT_MAX_BYTES, type: () => true, inflate: false });
}

/** The checked body; nothing when it was refused here, with 400 or 415. */
export function readBody<const Shape extends v.GenericSchema>(
  shape: Shape,
  request: Request,
  response: Response,
): v.InferOutput<Shape> | undefined {
  if (request.body === undefined) {
    const told = 'send a JSON object with Content-Type "application/json"';
    refuse(response, request.headers['content-type'] === undefined ? 400 : 415, `body: ${told}`);
    return undefined;
  }
  // Only one fault is told.
  const checked = v.safeParse(shape, request.body, { abortEarly: true });
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  const place = v.getDotPath(issue);
  refuse(response, 400, `body: ${place === null ? '' : `${place}: `}${sentenceOf(issue)}`);
  return undefined;
}

/** The tenant that the query names; `world` is the earlier name of the parameter. */
export function tenantIn({ query }: Request): unknown {
  return query.tenant ?? query.world;
}

/** The tenant that `?tenant=` names by its id or name, the first one without; nothing when refused here. */
export function tenantNamed(
  tenants: Tenants,
  request: Request,
  response: Response,
): ControlledTenant | undefined {
  const named = tenantIn(request);
  if (named === undefined) return controlled(tenants.first);
  const found = tenants.list().find(({ id, name }) => id === named || name === named);
  if (found) return controlled(found);
  refuse(response, 404, 'there is no tenant with this id or name; GET /tenants lists them');
  return undefined;
}

/**
 * Answers a body that cannot be read with its own status, what `refusalOf` knows as it says, and
 * every other fault with 500.
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
    const refusal = refusalOf(fault);
    if (refusal) {
      refuse(response, refusal.status, refusal.error);
      return;
    }
    const status = statusOf(fault);
    if (status === undefined) log.error('the control listener failed', fault);
    refuse(response, status ?? 500, status === undefined ? 'internal error' : sentences[status]);
  };
}

const sentences = {
  400: 'the request cannot be read; send a JSON body and a path with valid percent-encoding',
  413: `the body is larger than the limit: ${BODY_MAX_BYTES} bytes, ${TEXT_MAX_BYTES} for a fault plan or a world file`,
  415: 'the body must be JSON in UTF-8, not compressed',
} as const;

function statusOf(fault: unknown): keyof typeof sentences | undefined {
  const status = fault instanceof Error && 'status' in fault ? fault.status : undefined;
  return status === 400 || status === 413 || status === 415 ? status : undefined;
}
