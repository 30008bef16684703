/**
 * Mounts the operations of the control API: query, tenant and body are checked here by the row of
 * each, before its handler is called; a wrong method and an unknown parameter are refused here.
 */
import type { Express, Request, RequestHandler, Response } from 'express';
import * as v from 'valibot';
import { journalParameters } from '../../../fixtures/control/inputs.ts';
import {
  type AnswerOf,
  type BodyOf,
  type ControlOperation,
  type ControlOperationId,
  controlRows,
  type ParametersOf,
  type QueryOf,
  type TenantOperationId,
} from '../../../fixtures/control/operations.ts';
import { printable } from '../../../fixtures/printable.ts';
import { sentenceOf } from '../../../fixtures/shape-sentences.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { Listing, sendListing } from './listing.ts';
import { refuse } from './refusals.ts';

/** Shown of the name of an unknown parameter. */
const NAME_MAX_CHARACTERS = 64;

/** A request for an operation, checked. */
export interface Call<Id extends ControlOperationId> {
  /** The one that the query names, or the first. */
  readonly tenant: Id extends TenantOperationId ? Tenant : undefined;
  /** Absent where the query names none. */
  readonly namedTenant: Tenant | undefined;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  readonly parameters: ParametersOf<Id>;
  readonly request: Request;
  readonly response: Response;
}

/** An answer, an answer with long lists, or the response where the handler has written it. */
type Outcome<Id extends ControlOperationId> =
  AnswerOf<Id> extends undefined ? unknown : AnswerOf<Id> | Listing<AnswerOf<Id>> | Response;

type Handler<Id extends ControlOperationId> = (
  call: Call<Id>,
) => Outcome<Id> | Promise<Outcome<Id>>;

/** A handler for each operation. */
export type Handlers = { readonly [Id in ControlOperationId]: Handler<Id> };

/** Mounts the paths of the rows for which `isMeant` holds. */
export function mountOperations(
  app: Express,
  { tenants, handlers }: { readonly tenants: Tenants; readonly handlers: Handlers },
  isMeant: (path: string, row: ControlOperation) => boolean,
): void {
  for (const path of controlPathsOf(isMeant)) {
    app.route(path.replace(/\{(\w+)\}/g, ':$1')).all(async (request, response) => {
      const id = `${request.method === 'HEAD' ? 'GET' : request.method} ${path}`;
      const row = controlRows[id];
      if (!row) return refuseMethod(request, response, methodsOf(path));
      if (row.status) response.status(row.status);
      const handler = handlers[id as ControlOperationId] as (call: unknown) => unknown;
      const outcome = await handler(checkedCall(row, tenants, { request, response }));
      if (response.headersSent || response.destroyed) return;
      if (outcome instanceof Listing) await sendListing(response, outcome);
      else if (row.answer === undefined || outcome === undefined) response.status(204).end();
      else response.json(outcome);
    });
  }
}

/** The paths of rows, each once, in their order. */
export function controlPathsOf(
  isMeant: (path: string, row: ControlOperation) => boolean,
): readonly string[] {
  const paths = Object.entries(controlRows).flatMap(([id, row]) => {
    const path = id.slice(id.indexOf(' ') + 1);
    return isMeant(path, row) ? [path] : [];
  });
  return [...new Set(paths)];
}

function methodsOf(path: string): readonly string[] {
  return Object.keys(controlRows).flatMap((id) => {
    const [method = '', own] = id.split(' ');
    return own === path ? [method] : [];
  });
}

/** Answers a request with a method that the path does not support. */
export function wrongMethod(...methods: readonly string[]): RequestHandler {
  return (request, response) => refuseMethod(request, response, methods);
}

function refuseMethod(request: Request, response: Response, methods: readonly string[]): never {
  const allowed = methods
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
  response.set('Allow', allowed);
  refuse(405, `${request.method} is not supported here; use ${allowed}`);
}

interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

/** What the handler is called with. @throws ControlRefusal */
function checkedCall(row: ControlOperation, tenants: Tenants, { request, response }: Exchange) {
  const query = row.isOpen ? {} : checkedQuery(row, request.query);
  if (row.stream !== undefined && request.method === 'HEAD') {
    refuse(405, `${row.stream} supports only GET`);
  }
  const named = namedTenant(tenants, query);
  return {
    tenant: named ?? tenants.first,
    namedTenant: named,
    query,
    body: checkedBody(row, request),
    parameters: request.params,
    request,
    response,
  };
}

function checkedQuery(
  { query: shapes = {} }: ControlOperation,
  query: Request['query'],
): Readonly<Record<string, unknown>> {
  requireKnown(query, Object.keys(shapes), 'since' in shapes ? journalParameters : {});
  const checked = Object.entries(shapes).map(([name, shape]) => {
    const { success, output, issues } = v.safeParse(shape, query[name], { abortEarly: true });
    if (!success) refuse(400, `query: ${name}: ${sentenceOf(issues[0])}`);
    return [name, output];
  });
  return Object.fromEntries(checked);
}

/**
 * Refuses with 400 a parameter that is not accepted: without the one that was meant, the request
 * would act on the first tenant, or on all that there is.
 * @param elsewhere parameters of similar paths
 */
export function requireKnown(
  query: Readonly<Record<string, unknown>>,
  names: readonly string[],
  elsewhere: object = {},
): void {
  const unknown = Object.keys(query).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const parameters =
    names.length === 0 ? 'this path has no parameters' : `the parameters are ${names.join(', ')}`;
  const sentence = Object.hasOwn(elsewhere, unknown)
    ? 'is not a parameter of this path'
    : `is unknown; ${parameters}`;
  refuse(400, `query: ${printable(unknown, NAME_MAX_CHARACTERS)}: ${sentence}`);
}

/** The tenant that `?tenant=` names by its id or name, if any; an unknown one is 404. */
export function namedTenant(
  tenants: Tenants,
  { tenant: named }: Readonly<Record<string, unknown>>,
): Tenant | undefined {
  if (named === undefined) return undefined;
  if (Array.isArray(named)) refuse(400, 'query: tenant: must appear only once');
  const found = tenants.list().find(({ id, name }) => id === named || name === named);
  return found ?? refuse(404, 'no tenant has this id or name; GET /tenants lists all tenants');
}

/** The body; an invalid one is refused with 400 or 415. */
function checkedBody(
  { body: shape, isBodyOptional }: ControlOperation,
  { body, headers }: Request,
): unknown {
  if (shape === 'text') return typeof body === 'string' ? body : '';
  if (shape === undefined || (body === undefined && isBodyOptional)) return undefined;
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
