/**
 * Mounts the operations of the control API. The query, tenant and body of each request are checked
 * by the row of its operation before its handler is called. Wrong methods and unknown parameters
 * are refused here.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';
import * as v from 'valibot';
import { knownNames } from '../../../fixtures/base/nearest.ts';
import { printable } from '../../../fixtures/base/printable.ts';
import { placedSentence, sentenceOf } from '../../../fixtures/base/shape-sentences.ts';
import { journalParameters } from '../../../fixtures/control/inputs.ts';
import {
  type BodyOf,
  type ControlOperation,
  type ControlOperationId,
  controlRows,
  type ParametersOf,
  type QueryOf,
  type ResponseOf,
  type TenantOperationId,
} from '../../../fixtures/control/operations.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { Listing, sendListing } from './listing.ts';
import { throwRefusal } from './refusals.ts';

/** Number of characters of an unknown parameter's name that an error shows. */
const NAME_MAX_CHARACTERS = 64;

/** A checked request for an operation. */
export interface ControlRequest<Id extends ControlOperationId> {
  /** The tenant that the query names, or the first one. */
  readonly tenant: Id extends TenantOperationId ? Tenant : undefined;
  /** Absent if the query names no tenant. */
  readonly namedTenant: Tenant | undefined;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
  readonly parameters: ParametersOf<Id>;
  readonly request: Request;
  readonly response: Response;
}

/**
 * The result of a handler: JSON, JSON with long lists, or the response if the handler has written
 * it.
 */
type HandlerResult<Id extends ControlOperationId> =
  ResponseOf<Id> extends undefined ? unknown : ResponseOf<Id> | Listing<ResponseOf<Id>> | Response;

type Handler<Id extends ControlOperationId> = (
  call: ControlRequest<Id>,
) => HandlerResult<Id> | Promise<HandlerResult<Id>>;

/** One handler for each operation. */
export type Handlers = { readonly [Id in ControlOperationId]: Handler<Id> };

/** Mounts the paths of all rows for which `isSelected` returns true. */
export function mountOperations(
  app: Express,
  { tenants, handlers }: { readonly tenants: Tenants; readonly handlers: Handlers },
  isSelected: (path: string, row: ControlOperation) => boolean,
): void {
  for (const path of controlPathsOf(isSelected)) {
    app.route(path.replace(/\{(\w+)\}/g, ':$1')).all(async (request, response) => {
      const id = `${request.method === 'HEAD' ? 'GET' : request.method} ${path}`;
      const row = controlRows[id];
      if (!row) return refuseMethod(request, response, methodsOf(path));
      if (row.status) response.status(row.status);
      const handler = handlers[id as ControlOperationId] as (call: unknown) => unknown;
      const outcome = await handler(checkedCall(row, tenants, { request, response }));
      if (response.headersSent || response.destroyed) return;
      if (outcome instanceof Listing) await sendListing(response, outcome);
      else if (row.response === undefined || outcome === undefined) response.status(204).end();
      else response.json(outcome);
    });
  }
}

/** Returns the paths of the selected rows in order, without duplicates. */
export function controlPathsOf(
  isSelected: (path: string, row: ControlOperation) => boolean,
): readonly string[] {
  const paths = Object.entries(controlRows).flatMap(([id, row]) => {
    const path = id.slice(id.indexOf(' ') + 1);
    return isSelected(path, row) ? [path] : [];
  });
  return [...new Set(paths)];
}

function methodsOf(path: string): readonly string[] {
  return Object.keys(controlRows).flatMap((id) => {
    const [method = '', ownPath] = id.split(' ');
    return ownPath === path ? [method] : [];
  });
}

/** Returns a handler that refuses a method that the path does not support. */
export function wrongMethod(...methods: readonly string[]): RequestHandler {
  return (request, response) => refuseMethod(request, response, methods);
}

function refuseMethod(request: Request, response: Response, methods: readonly string[]): never {
  const allowed = methods
    .flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    .join(', ');
  response.set('Allow', allowed);
  throwRefusal(405, `${request.method} is not supported here; use ${allowed}`);
}

interface RequestAndResponse {
  readonly request: Request;
  readonly response: Response;
}

/** Checks the request and returns the argument of the handler. @throws ControlRefusal */
function checkedCall(
  row: ControlOperation,
  tenants: Tenants,
  { request, response }: RequestAndResponse,
) {
  const query = row.isOpen ? {} : checkedQuery(row, request.query);
  if (row.stream !== undefined && request.method === 'HEAD') {
    throwRefusal(405, `${row.stream} supports only GET`);
  }
  const queryTenant = namedTenant(tenants, query);
  return {
    tenant: queryTenant ?? tenants.first,
    namedTenant: queryTenant,
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
  const checkedEntries = Object.entries(shapes).map(([name, shape]) => {
    const { success, output, issues } = v.safeParse(shape, query[name], { abortEarly: true });
    if (!success) throwRefusal(400, `query: ${name}: ${sentenceOf(issues[0], shape)}`);
    return [name, output];
  });
  return Object.fromEntries(checkedEntries);
}

/**
 * Refuses an unknown query parameter with 400: if a misspelt parameter were ignored, the request
 * would act on the first tenant, or on everything.
 * @param elsewhere parameters of similar paths
 */
export function requireKnown(
  query: Readonly<Record<string, unknown>>,
  names: readonly string[],
  elsewhere: object = {},
): void {
  const unknownName = Object.keys(query).find((name) => !names.includes(name));
  if (unknownName === undefined) return;
  const parameters =
    names.length === 0
      ? 'this path has no parameters'
      : knownNames('parameter', unknownName, names);
  const sentence = Object.hasOwn(elsewhere, unknownName)
    ? 'is not a parameter of this path'
    : `is unknown; ${parameters}`;
  throwRefusal(400, `query: ${printable(unknownName, NAME_MAX_CHARACTERS)}: ${sentence}`);
}

/**
 * Returns the tenant that `?tenant=` names by its ID or name, if any. Refuses an unknown tenant
 * with 404.
 */
export function namedTenant(
  tenants: Tenants,
  { tenant: named }: Readonly<Record<string, unknown>>,
): Tenant | undefined {
  if (named === undefined) return undefined;
  if (Array.isArray(named)) throwRefusal(400, 'query: tenant: must appear only once');
  const tenant = tenants.list().find(({ id, name }) => id === named || name === named);
  if (tenant) return tenant;
  const names = tenants.list().map(({ name }) => name);
  throwRefusal(404, `no tenant has this ID or name; ${knownNames('tenant', String(named), names)}`);
}

/** Returns the checked body. Refuses an invalid one with 400 or 415. */
function checkedBody(
  { body: shape, isBodyOptional }: ControlOperation,
  { body, headers }: Request,
): unknown {
  if (typeof shape === 'string') return typeof body === 'string' ? body : '';
  const isSent = hasBytes(headers);
  if (shape === undefined) {
    // A caller who sends a body expects it to limit what the operation does.
    if (isSent)
      throwRefusal(400, 'body: this operation has none; it reads only the path and the query');
    return undefined;
  }
  if (!isSent && isBodyOptional) return undefined;
  if (body === undefined) {
    const status = headers['content-type'] === undefined ? 400 : 415;
    throwRefusal(status, 'body: send a JSON object with Content-Type "application/json"');
  }
  const parseResult = v.safeParse(shape, body);
  if (parseResult.success) return parseResult.output;
  // The message names only the first problem. An unknown name is often a misspelt required one.
  const issue =
    parseResult.issues.find(({ expected }) => expected === 'never') ?? parseResult.issues[0];
  const { path, sentence } = placedSentence(issue, shape);
  throwRefusal(400, ['body', ...(path.length > 0 ? [path.join('.')] : []), sentence].join(': '));
}

/** Returns true if the headers announce a body. */
function hasBytes({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders) {
  return coding !== undefined || Number(length ?? 0) > 0;
}
