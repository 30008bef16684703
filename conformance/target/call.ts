/** Calls operations by name: path, query and body are built from the contract's data. */
import { type Operation, type PathParameter, pathOf } from '../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import type { Headers } from './exchange.ts';
import type { HttpResponse } from './response.ts';
import type { TargetClient, WireRequest } from './target.ts';

/** Contents of a call besides its path parameters. */
export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  /** The body of the request, sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, as JSON unless `headers` says otherwise; takes precedence over `body`. */
  readonly raw?: WireRequest['body'];
  /** Header names in lower case; these override the ones that the call would set. */
  readonly headers?: Headers;
}

/** The options of a call, with path parameters if its path has any. */
export type CallArguments<Path extends string> = [PathParameter<Path>] extends [never]
  ? [options?: CallOptions]
  : [options: CallOptions & { readonly path: Readonly<Record<PathParameter<Path>, string>> }];

type MethodAndPath<Path extends string> = Pick<Operation, 'method'> & { readonly path: Path };

/** Returns the request that calls an operation. */
export function requestOf<Path extends string>(
  operation: MethodAndPath<Path>,
  ...[options]: CallArguments<Path>
): WireRequest {
  const callOptions: CallOptions & { readonly path?: Readonly<Record<string, string>> } =
    options ?? {};
  const path = fillPath(operation, callOptions.path ?? {});
  const body =
    callOptions.raw ??
    (callOptions.body === undefined ? undefined : JSON.stringify(callOptions.body));
  return {
    method: operation.method,
    url: `${path}${queryText(callOptions.query ?? {})}`,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...callOptions.headers,
    },
    ...(body === undefined ? {} : { body }),
  };
}

/** Calls operations of the contract, with or without an Authorization header. */
export class ApiCaller {
  readonly client: TargetClient;
  readonly #headers: Headers;

  constructor(client: TargetClient, headers: Headers = {}) {
    this.client = client;
    this.#headers = headers;
  }

  /** Calls an operation. Throws a TransportFailure when there is no response. */
  call<Id extends OperationId>(
    id: Id,
    ...given: CallArguments<(typeof operations)[Id]['path']>
  ): Promise<HttpResponse> {
    return this.client.send(this.request(id, ...given));
  }

  /** Returns the request that `call` would send. */
  request<Id extends OperationId>(
    id: Id,
    ...given: CallArguments<(typeof operations)[Id]['path']>
  ): WireRequest {
    const request = requestOf<(typeof operations)[Id]['path']>(operations[id], ...given);
    return { ...request, headers: { ...this.#headers, ...request.headers } };
  }
}

/** Returns the header that carries a token. */
export function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

/** `pathOf` for a path known only at run time. */
const fillPath = pathOf as (
  operation: { readonly path: string },
  parameters: Readonly<Record<string, string>>,
) => string;

function queryText(query: NonNullable<CallOptions['query']>): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) text.append(name, String(each));
  }
  return text.size === 0 ? '' : `?${text}`;
}
