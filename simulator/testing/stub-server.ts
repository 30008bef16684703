/**
 * A stub server for the simulator's tests. It responds to each operation as the test defines, and
 * records the requests. It knows the paths of the contract but none of its rules.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { operations } from '../../fixtures/contract/operations.ts';

const rows = { ...operations, ...managementOperations, ...storageOperations };
/** ID of an operation for which a test can define a response. */
export type AnyOperationId = keyof typeof rows;

/** A request that the server of a test received. */
export interface StubRequest {
  readonly operation: AnyOperationId;
  /** Values of the path parameters, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** Parses the body as JSON. */
  json(): unknown;
}

/** A response, `no-response` for none, or `cut` to close the connection. */
export type StubResponse =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Body of the response. Strings and buffers are sent unchanged, other values as JSON. */
      readonly body?: unknown;
      /** Number of bytes of the body after which the connection is closed. */
      readonly cutAfterBytes?: number;
    }
  | 'no-response'
  | 'cut';

export type Responses = Partial<
  Record<AnyOperationId, (request: StubRequest) => StubResponse | Promise<StubResponse>>
>;

/** Answers with an empty configuration; 401 without a token, as every server of this API. */
export function emptyConfiguration({ headers }: StubRequest): StubResponse {
  return headers.authorization === undefined ? { status: 401 } : { status: 200, body: {} };
}

interface StubRoute {
  readonly operation: AnyOperationId;
  readonly method: string;
  readonly pattern: RegExp;
}

const routes: readonly StubRoute[] = Object.values(rows).map(({ id, method, path }) => ({
  operation: id,
  method,
  pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/** A running fake server. An operation without a defined response gets 404. */
export class StubServer {
  readonly #responses: Responses;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #openRequests = new Set<() => void>();
  readonly requests: StubRequest[] = [];
  baseUrl = '';

  private constructor(responses: Responses) {
    this.#responses = responses;
  }

  /** Starts a server on a free port of the loopback interface. */
  static async start(responses: Responses): Promise<StubServer> {
    const stub = new StubServer(responses);
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    const { port } = stub.#server.address() as AddressInfo;
    stub.baseUrl = `http://127.0.0.1:${port}`;
    return stub;
  }

  /** Returns the requests for one operation, in order. */
  requestsFor(operation: AnyOperationId): StubRequest[] {
    return this.requests.filter((request) => request.operation === operation);
  }

  /** Resolves once the operation has been requested `count` times. */
  async untilAsked(operation: AnyOperationId, count = 1): Promise<StubRequest[]> {
    while (this.requestsFor(operation).length < count) {
      await new Promise<void>((resolve) => this.#openRequests.add(resolve));
    }
    return this.requestsFor(operation);
  }

  /** The HTTP server, for tests that handle upgrades. */
  get http() {
    return this.#server;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname, searchParams: query } = new URL(request.url ?? '/', this.baseUrl);
    const route = routes.find(
      (each) => each.method === request.method && each.pattern.test(pathname),
    );
    if (route === undefined) return sendResponse(response, { status: 404 });
    const groups = Object.entries(route.pattern.exec(pathname)?.groups ?? {});
    const parameters = Object.fromEntries(
      groups.map(([name, value]) => [name, decodeURIComponent(value)]),
    );
    const { operation } = route;
    const body = Buffer.concat(chunks);
    const { headers } = request;
    const json = (): unknown => JSON.parse(body.toString());
    const stubRequest = { operation, parameters, query, headers, body, json };
    this.requests.push(stubRequest);
    for (const wake of this.#openRequests) wake();
    this.#openRequests.clear();
    sendResponse(response, (await this.#responses[operation]?.(stubRequest)) ?? { status: 404 });
  }
}

function sendResponse(response: ServerResponse, planned: StubResponse): void {
  if (planned === 'no-response') return;
  if (planned === 'cut') {
    response.destroy();
    return;
  }
  const { status, headers = {}, body, cutAfterBytes } = planned;
  const raw = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = raw
    ? Buffer.from(body)
    : Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const type = raw || body === undefined ? {} : { 'content-type': 'application/json' };
  const noLength = status === 204 || 'transfer-encoding' in headers;
  const length = noLength ? {} : { 'content-length': String(bytes.length) };
  response.writeHead(status, { ...type, ...length, ...headers });
  if (cutAfterBytes === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, cutAfterBytes), () => response.destroy());
}

/** Returns a base URL at which no server listens: the URL of a server that was just closed. */
export async function closedPortUrl(): Promise<string> {
  const server = await StubServer.start({});
  await server.close();
  return server.baseUrl;
}
