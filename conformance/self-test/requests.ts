/** Matches requests to operations and builds additional requests, from the rows of the contract. */
import { bearer } from '../target/call.ts';
import { recognizeRequest as find, knownRows } from '../target/operation-at.ts';
import type { ProxiedOperation, ProxiedRequest } from './defect.ts';

/** Matches a method and a path below the base URL to the operations of the contract. */
export function recognizedRequest(
  method: string,
  path: string,
): Pick<ProxiedRequest, 'operation' | 'operationsAtPath' | 'parameters'> {
  const { row, rowsAtPath, parameters } = find(method, path);
  return { operation: row?.id, operationsAtPath: rowsAtPath.map(({ id }) => id), parameters };
}

/** Contents of an additional request. */
export interface OwnRequest {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as a Bearer token. */
  readonly token?: string;
  /** The body, sent as JSON; without it the body is empty. */
  readonly json?: unknown;
}

/** Returns a request for an operation, ready for `send`. */
export function requestFor(id: ProxiedOperation, ownRequest: OwnRequest = {}): ProxiedRequest {
  const row = knownRows.find((each) => each.id === id);
  if (!row) throw new Error(`the contract has no operation ${id}`);
  const { parameters = {}, query = {}, token, json } = ownRequest;
  const path = row.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  return {
    operation: id,
    operationsAtPath: [id],
    parameters,
    method: row.method,
    path,
    query: new URLSearchParams(query).toString(),
    headers: {
      ...(token === undefined ? {} : bearer(token)),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: Buffer.from(json === undefined ? '' : JSON.stringify(json)),
  };
}
