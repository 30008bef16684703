/** Matches requests to operations and builds additional requests, from the rows of the contract. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { bearer } from '../target/call.ts';
import type { ProxiedOperation, ProxiedRequest } from './defect.ts';

const rows: readonly (Operation & { readonly id: ProxiedOperation })[] = [
  ...Object.values(operations),
  ...Object.values(managementOperations),
  ...Object.values(storageOperations),
];

interface Pattern {
  readonly row: (typeof rows)[number];
  readonly pattern: RegExp;
  readonly fixedLength: number;
}

/** Paths with fewer parameters come first: in `/devices/count`, `count` is not a device id. */
const patterns: readonly Pattern[] = rows
  .map((row) => ({
    row,
    pattern: new RegExp(
      `^${row.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`,
    ),
    fixedLength: row.path.replace(/\{\w+\}/g, '').length,
  }))
  .sort((one, other) => other.fixedLength - one.fixedLength);

/** Matches a method and a path below the base URL to the contract. */
export function recognized(
  method: string,
  path: string,
): Pick<ProxiedRequest, 'operation' | 'operationsAtPath' | 'parameters'> {
  const fitting = patterns.filter(({ pattern }) => pattern.test(path));
  const found = fitting.find(({ row }) => row.method === method);
  const groups = (found ?? fitting[0])?.pattern.exec(path)?.groups ?? {};
  const parameters = Object.entries(groups).map(([name, text]) => [name, decoded(text)]);
  return {
    operation: found?.row.id,
    operationsAtPath: fitting.map(({ row }) => row.id),
    parameters: Object.fromEntries(parameters),
  };
}

/** Contents of an additional request. */
export interface OwnRequest {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as a Bearer token. */
  readonly token?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
}

/** Returns a request for an operation, ready for `ask`. */
export function requestFor(id: ProxiedOperation, own: OwnRequest = {}): ProxiedRequest {
  const row = rows.find((each) => each.id === id);
  if (!row) throw new Error(`the contract has no operation ${id}`);
  const { parameters = {}, query = {}, token, json } = own;
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

/** Decodes a path segment; one that is not valid percent-encoding is returned as sent. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
