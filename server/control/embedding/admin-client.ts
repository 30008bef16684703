/** Calls of the management API by the ids of its operations, as a user of one tenant. */
import type * as v from 'valibot';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Operation, PathParameter } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';

/** Named, or the declarations of the package would spell out every row of the contract. */
type Rows = typeof managementOperations &
  Pick<typeof operations, 'list-audit-logs' | 'export-audit-logs'>;
const rows: Rows = {
  ...managementOperations,
  'list-audit-logs': operations['list-audit-logs'],
  'export-audit-logs': operations['export-audit-logs'],
};

/** An operation of the management API, such as `list-devices`. */
export type AdminOperation = keyof Rows;

type Parameters<Id extends AdminOperation> = PathParameter<Rows[Id]['path']>;
type QueryValue = string | number | boolean;

/** What a call may carry. */
type AdminCall<Id extends AdminOperation> = {
  /** A list repeats its parameter. */
  readonly query?: Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The multipart form of an upload. */
  readonly form?: FormData;
} & (Rows[Id] extends { readonly body: infer Shape extends v.GenericSchema }
  ? { readonly json?: v.InferInput<Shape> }
  : object) &
  ([Parameters<Id>] extends [never]
    ? object
    : { readonly parameters: Readonly<Record<Parameters<Id>, string>> });

type BodyOf<Answer> = Answer extends { readonly shape: infer Shape extends v.GenericSchema }
  ? v.InferOutput<Shape>
  : Answer extends { readonly mediaType: string }
    ? string
    : undefined;

type AnswersOf<Success> = BodyOf<Success[keyof Success]>;

/** An answer of success, read to its end. */
interface AdminAnswer<Id extends AdminOperation> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or the text of any other type; undefined without a body. */
  readonly body: AnswersOf<Rows[Id]['success']>;
}

/** A call that was not answered with success. */
export class AdminRefusal extends Error {
  override readonly name = 'AdminRefusal';
  readonly operation: AdminOperation;
  readonly status: number;
  /** By which the journal and `fleetbed explain` find the request. */
  readonly requestId: string;

  constructor(operation: AdminOperation, status: number, text: string) {
    const { error = text, request_id: requestId = '' } = errorIn(text);
    super(`${operation} was answered with ${status}: ${error}`);
    this.operation = operation;
    this.status = status;
    this.requestId = requestId;
  }
}

/** A user of one tenant, signed in. */
export interface AdminClient {
  /** Calls an operation. @throws AdminRefusal when it is not answered with success */
  call<Id extends AdminOperation>(
    id: Id,
    ...[call]: object extends AdminCall<Id> ? [AdminCall<Id>?] : [AdminCall<Id>]
  ): Promise<AdminAnswer<Id>>;
}

/** How requests are sent, as the platform's `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A client of the API at `baseUrl` that shows `token`. */
export function adminClient(baseUrl: string, token: string, fetchBy: Fetch = fetch): AdminClient {
  return {
    call: async <Id extends AdminOperation>(id: Id, call: object = {}) => {
      if (!Object.hasOwn(rows, id)) throw new TypeError(`the operation "${id}" does not exist`);
      const operation: Operation = rows[id];
      const response = await fetchBy(...requestOf(baseUrl, token, { operation, call }));
      const text = await response.text();
      if (!response.ok) throw new AdminRefusal(id, response.status, text);
      const { status, headers } = response;
      const body = bodyOf(text, headers.get('content-type') ?? '');
      // The row's shapes say what a success is; the server's own tests hold it to them.
      return { status, headers, body } as AdminAnswer<Id>;
    },
  };
}

/** A call without the types of its operation. */
interface BareCall {
  readonly query?: Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly form?: FormData;
  readonly json?: unknown;
}

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

/** The members of an Error body; none of what is no such body. */
function errorIn(text: string): { readonly error?: string; readonly request_id?: string } {
  return /^\{"error":/.test(text) ? JSON.parse(text) : {};
}
