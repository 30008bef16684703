/** Calls operations of the control API by their IDs, such as `GET /clock`. */
import type { PathParameter } from '../../../../fixtures/contract/operation.ts';
import type {
  BodyInputOf,
  ControlOperationId,
  ParametersOf,
  PathOf,
  QueryName,
  ResponseOf,
  TenantOperationId,
} from '../../../../fixtures/control/operations.ts';
import { logOut, tenant, token } from './session.ts';

/** An error response of the server, with its status and its JSON body. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.error === 'string' ? body.error : `the server answered with ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** The query, body and path parameters of a call. */
type ControlCall<Id extends ControlOperationId> = {
  readonly query?: { readonly [Name in QueryName<Id>]?: string | number | undefined };
  /** Sent as JSON unless it is a string. */
  readonly body?: BodyInputOf<Id>;
} & ([PathParameter<PathOf<Id>>] extends [never]
  ? object
  : { readonly parameters: ParametersOf<Id> });

/** The arguments of a call: optional if the operation requires no query, body or parameters. */
type ControlCallArguments<Id extends ControlOperationId> =
  object extends ControlCall<Id> ? [call?: ControlCall<Id>] : [call: ControlCall<Id>];

/**
 * Sends a request and returns the response if it is a success.
 * @throws ApiError for an error response
 * @throws TypeError if the server cannot be reached
 */
export function request<Id extends ControlOperationId>(
  id: Id,
  ...[call]: ControlCallArguments<Id>
): Promise<Response> {
  const [method = ''] = id.split(' ', 1);
  const body: unknown = call?.body;
  const bodyOption = typeof body === 'string' ? { body } : { json: body };
  return send(targetOf(id, ...([call] as ControlCallArguments<Id>)), { method, ...bodyOption });
}

/** Returns the JSON of the response. Throws as `request` does. */
export async function requestJson<Id extends ControlOperationId>(
  id: Id,
  ...given: ControlCallArguments<Id>
): Promise<ResponseOf<Id>> {
  return jsonOf(await request(id, ...given));
}

/** Returns the JSON of a response, or undefined if it has no body. */
export async function jsonOf<HttpResponse>(response: Response): Promise<HttpResponse> {
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as HttpResponse;
}

type AreaOf<Path extends string> = Path extends `/${infer Area}/${string}`
  ? Area
  : Path extends `/${infer Area}`
    ? Area
    : never;

/** Areas of the API that concern all tenants. They refuse the query parameter `tenant`. */
const shared: Readonly<
  Record<AreaOf<PathOf<Exclude<ControlOperationId, TenantOperationId>>>, true>
> = {
  ready: true,
  management: true,
  variations: true,
  runs: true,
  tenants: true,
  outbox: true,
  'openapi.json': true,
  'asyncapi.json': true,
};

/**
 * Returns the path and query of a call. The query names the selected tenant if the operation
 * concerns one tenant.
 */
export function targetOf<Id extends ControlOperationId>(
  id: Id,
  ...[call]: ControlCallArguments<Id>
): string {
  const { query = {}, parameters = {} }: UntypedCall = call ?? {};
  const path = id
    .slice(id.indexOf(' ') + 1)
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
  const [, area = ''] = path.split('/');
  return Object.hasOwn(shared, area) ? withQuery(path, query) : withTenant(path, query);
}

/** A call without the type parameters of its operation. */
interface UntypedCall {
  readonly query?: QueryParameters;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Query parameters. A list is sent as repeated parameters; empty values are left out. */
export type QueryParameters = Readonly<
  Record<string, string | number | readonly string[] | undefined>
>;

/** Returns the path with a query that names the selected tenant. */
export function withTenant(path: string, query: QueryParameters = {}): string {
  return withQuery(path, { tenant: tenant.value, ...query });
}

function withQuery(path: string, query: QueryParameters): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    values === undefined || values === ''
      ? []
      : [values].flat().map((value): [string, string] => [name, String(value)]),
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** The method, body and abort signal of a request. */
export interface RequestSettings {
  readonly method?: string;
  readonly json?: unknown;
  readonly body?: BodyInit;
  readonly signal?: AbortSignal;
}

/** Sends a request with the control token. Throws as `request` does. */
export async function send(target: string, sent: RequestSettings = {}): Promise<Response> {
  const { method = 'GET', json, body, signal } = sent;
  const sentToken = token.value;
  const headers = new Headers({ Authorization: `Bearer ${sentToken}` });
  if (json !== undefined) headers.set('Content-Type', 'application/json');
  const response = await fetch(target, {
    method,
    headers,
    body: json === undefined ? (body ?? null) : JSON.stringify(json),
    signal: signal ?? null,
  });
  if (response.ok) return response;
  const text = await response.text();
  // If the user has logged in again meanwhile, a 401 for the earlier token must not log the user
  // out.
  if (response.status === 401 && sentToken === token.value) {
    logOut('The token was refused. Use the one that fleetbed serve prints when it is ready.');
  }
  throw new ApiError(response.status, bodyOf(text));
}

/** Returns one sentence that describes any error. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return 'The server does not respond.';
  return error instanceof Error ? error.message : String(error);
}

function bodyOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
