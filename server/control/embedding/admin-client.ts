/** A client of the management API that calls operations by their IDs, as a user of one tenant. */
import * as v from 'valibot';
import { knownNames } from '../../../fixtures/base/nearest.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Operation, PathParameter } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { checkedInput } from './checked-input.ts';

/**
 * A named type, because otherwise the package's type declarations would contain every row of the
 * contract.
 */
type AdminRows = typeof managementOperations &
  Pick<typeof operations, 'list-audit-logs' | 'export-audit-logs'>;
const rows: AdminRows = {
  ...managementOperations,
  'list-audit-logs': operations['list-audit-logs'],
  'export-audit-logs': operations['export-audit-logs'],
};

/** An operation of the management API, such as `list-devices`. */
export type AdminOperation = keyof AdminRows;

type AdminPathParameters<Id extends AdminOperation> = PathParameter<AdminRows[Id]['path']>;
type QueryValue = string | number | boolean;

/** The query, headers, form, JSON body and path parameters of a call. */
type AdminCall<Id extends AdminOperation> = {
  /** A list is sent as repeated parameters. */
  readonly query?: Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The multipart form of an upload. */
  readonly form?: FormData;
} & (AdminRows[Id] extends { readonly body: infer Shape extends v.GenericSchema }
  ? { readonly json?: v.InferInput<Shape> }
  : object) &
  ([AdminPathParameters<Id>] extends [never]
    ? object
    : { readonly parameters: Readonly<Record<AdminPathParameters<Id>, string>> });

type AdminResponseBody<HttpResponse> = HttpResponse extends {
  readonly shape: infer Shape extends v.GenericSchema;
}
  ? v.InferOutput<Shape>
  : HttpResponse extends { readonly mediaType: string }
    ? string
    : undefined;

type ResponsesOf<Success> = AdminResponseBody<Success[keyof Success]>;

/** A success response whose body has been read. */
interface AdminResponse<Id extends AdminOperation> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or a string for any other media type; undefined without a body. */
  readonly body: ResponsesOf<AdminRows[Id]['success']>;
}

/** Thrown if the server responds with an error. */
export class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal';
  readonly operation: AdminOperation;
  readonly status: number;
  /** The ID under which the journal and `fleetbed explain` find the request. */
  readonly requestId: string;

  constructor(operation: AdminOperation, status: number, text: string) {
    const { error = text, request_id: requestId = '' } = errorIn(text);
    super(`${operation} was answered with ${status}: ${error}`);
    this.operation = operation;
    this.status = status;
    this.requestId = requestId;
  }
}

/** A client that is logged in as a user of one tenant. */
export interface AdminClient {
  /**
   * Calls an operation.
   * @throws AdminRefusal if the response is an error; TypeError for an unknown operation or field
   */
  call<Id extends AdminOperation>(
    id: Id,
    ...[call]: object extends AdminCall<Id> ? [AdminCall<Id>?] : [AdminCall<Id>]
  ): Promise<AdminResponse<Id>>;
}

/** Sends a request, as the platform's `fetch` does. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Creates a client of the API at `baseUrl` that sends `token`. */
export function adminClient(baseUrl: string, token: string, fetchBy: Fetch = fetch): AdminClient {
  return {
    call: async <Id extends AdminOperation>(id: Id, call: object = {}) => {
      if (!Object.hasOwn(rows, id)) {
        const nearest = knownNames('operation', id, Object.keys(rows));
        throw new TypeError(`the operation "${id}" does not exist; ${nearest}`);
      }
      const operation: Operation = rows[id];
      const checkedCall = checkedInput(`call ${id}`, callShapeOf(operation), call);
      const response = await fetchBy(
        ...requestOf(baseUrl, token, { operation, call: checkedCall }),
      );
      const text = await response.text();
      if (!response.ok) throw new AdminRefusal(id, response.status, text);
      const { status, headers } = response;
      const body = bodyOf(text, headers.get('content-type') ?? '');
      // The cast is safe because the server's own tests check responses against the shapes of the
      // row.
      return { status, headers, body } as AdminResponse<Id>;
    },
  };
}

const queryValue = v.union([v.string(), v.number(), v.boolean()]);

/**
 * Returns the shape of a call. The server itself checks query and JSON, so they are taken as given.
 */
function callShapeOf({ path }: Operation) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const parameters = v.strictObject(
    Object.fromEntries(names.map((name) => [name, v.pipe(v.string(), v.nonEmpty())])),
  );
  return v.strictObject({
    query: v.optional(v.record(v.string(), v.union([queryValue, v.array(queryValue)]))),
    headers: v.optional(v.record(v.string(), v.string())),
    parameters: names.length === 0 ? v.optional(parameters) : parameters,
    // Not an instance of one class: several packages have a FormData of their own.
    form: v.optional(v.custom<FormData>((given) => typeof given === 'object' && given !== null)),
    json: v.optional(v.unknown()),
  });
}

/** A call without the type parameters of its operation. */
type BareCall = v.InferOutput<ReturnType<typeof callShapeOf>>;

function requestOf(
  baseUrl: string,
  token: string,
  { operation, call }: { readonly operation: Operation; readonly call: BareCall },
): [url: string, init: RequestInit] {
  const { query = {}, parameters = {}, json, form } = call;
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, String(value)]),
  );
  const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
  const headers = new Headers({ Authorization: `Bearer ${token}`, ...call.headers });
  if (json !== undefined) headers.set('Content-Type', 'application/json');
  const body = json === undefined ? (form ?? null) : JSON.stringify(json);
  return [baseUrl + path + search, { method: operation.method, headers, body }];
}

function bodyOf(text: string, mediaType: string): unknown {
  if (text === '') return undefined;
  return mediaType.startsWith('application/json') ? JSON.parse(text) : text;
}

/** Returns the members of an Error body; empty if the text is not one. */
function errorIn(text: string): { readonly error?: string; readonly request_id?: string } {
  return /^\{"error":/.test(text) ? JSON.parse(text) : {};
}
