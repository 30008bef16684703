/** A real server on free ports, with time and randomness controlled by the test. */
import { ManualClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type RunningServer, type ServerOptions, startServer } from '../server.ts';

/** Start time of every test server's clock. */
export const startOfTest = Date.parse('2026-11-21T12:00:00.000Z');

/** The parts of a request; those that are absent are not sent. */
export interface TestCall {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>> | URLSearchParams;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON value that is sent as the body. */
  readonly json?: unknown;
  /** The body that is sent unchanged. */
  readonly body?: string | Buffer | FormData;
}

/** A response, read to its end. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Returns the body as JSON; fails the test when it is not JSON. */
  json<Body = Record<string, unknown>>(): Body;
}

export interface TestServer extends Omit<RunningServer, 'faults'> {
  readonly clock: ManualClock;
  /** Calls an operation of the contract or of the management API by its ID. */
  call(id: keyof typeof rows, call?: TestCall): Promise<TestResponse>;
  /** Calls any path. */
  request(method: string, path: string, call?: TestCall): Promise<TestResponse>;
}

const rows = { ...operations, ...managementOperations };

/** Sends a request to a URL and reads the whole response. */
export type TestTransport = (url: string, method: string, call: TestCall) => Promise<TestResponse>;

/** Starts a server with the seed `test` and without a log, on a stopped clock. */
export async function startTestServer(
  options: ServerOptions = {},
  transportTo: (server: RunningServer) => TestTransport = () => send,
): Promise<TestServer> {
  const clock = new ManualClock(startOfTest);
  const random = seededRandom('test');
  const defaults = { port: 0, controlPort: 0, logLevel: 'silent', clock, random } as const;
  const server = await startServer({ ...defaults, ...options });
  return { ...server, clock, ...callsTo(server.baseUrl, transportTo(server)) };
}

/** Returns calls to a server that may run in another process. */
export function callsTo(
  baseUrl: string,
  transport: TestTransport = send,
): Pick<TestServer, 'call' | 'request'> {
  const request = (method: string, path: string, call: TestCall = {}): Promise<TestResponse> =>
    transport(baseUrl + path, method, call);
  return {
    request,
    call: (id, call = {}) => request(rows[id].method, targetOf(rows[id], call), call),
  };
}

/** The path and query of a call. */
export function targetOf(operation: Operation, { parameters = {}, query = {} }: TestCall): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** Sends a call unchanged. */
export async function send(url: string, method: string, call: TestCall): Promise<TestResponse> {
  const headers = new Headers(call.headers);
  if (call.token !== undefined) headers.set('Authorization', `Bearer ${call.token}`);
  if (call.json !== undefined) headers.set('Content-Type', 'application/json');
  const body = call.json === undefined ? (call.body ?? null) : JSON.stringify(call.json);
  const response = await fetch(url, { method, headers, body, redirect: 'manual' });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: <Body>() => JSON.parse(text) as Body,
  };
}
