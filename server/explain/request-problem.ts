/** Determines what was wrong with a refused request, for the explanation and for the journal. */
import { charactersIn } from '../../fixtures/base/characters.ts';
import { expectationIn } from '../../fixtures/base/shape-sentences.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import { isSecretName, masked, maskText } from '../http/masking.ts';
import { describeValue } from '../http/problem-detail.ts';
import type { Refusal } from '../http/refusal.ts';
import { mountedOperations } from '../pipeline/endpoint.ts';
import { UnknownPath } from '../pipeline/mounted.ts';
import { parametersIn } from './nearest.ts';
import { jsonOf, type ReceivedRequest, receivedRequestOf, textOf } from './received-request.ts';
import { similarOperationOf } from './similar-operation.ts';

/** The place of the problem, the expected value and the actual value. */
export interface RequestProblem {
  /**
   * The place: `body.status`, `query.page`, `header.Content-Type`, `path`, `method`, `request` for
   * the whole request, or `state` if the request is valid but the state of the server does not
   * allow it.
   */
  readonly path: string;
  /** Absent if only the error message is known. */
  readonly expected?: string;
  readonly actual?: string;
}

/** The fields of a journal record that explanations need. */
export type RefusedRecord = Pick<
  ExchangeRecord,
  | 'requestId'
  | 'method'
  | 'url'
  | 'headers'
  | 'body'
  | 'bodyBytes'
  | 'operation'
  | 'atMs'
  | 'refusal'
>;

/** Returns what was wrong with the refused request of a record. */
export function problemInRecord(record: RefusedRecord, refusal: Refusal): RequestProblem {
  return problemInRequest({
    request: receivedRequestOf(record),
    refusal,
    operation: operationOf(record),
  });
}

/** Returns the operation of a record; undefined if the request matched none. */
export function operationOf({ operation }: Pick<RefusedRecord, 'operation'>) {
  return operation === undefined ? undefined : mountedOperations[operation];
}

/** A refused request, read from its record. */
export interface RefusedRequest {
  readonly request: ReceivedRequest;
  readonly refusal: Refusal;
  /** Absent if the request matched no operation. */
  readonly operation: Operation | undefined;
}

/** Returns what was wrong with a refused request. */
export function problemInRequest(refused: RefusedRequest): RequestProblem {
  const { request, refusal, operation } = refused;
  const { detail, error } = refusal;
  const path = locationOf(refused);
  const expected =
    detail?.evidence instanceof UnknownPath
      ? similarOperationOf(request, detail.evidence).expected
      : (detail?.expected ?? expectationIn(error));
  const actual =
    measureBody(expected, request, path) ?? detail?.actual ?? actualAt(request, path, operation);
  return {
    path,
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual: maskText(actual) }),
  };
}

/** Matches the place at the start of an error message, such as `body: name: exists already`. */
const locationPattern = /^(body|query|path)(?:: ([\w.]+))?: /;

function locationOf({ refusal: { detail, error }, operation }: RefusedRequest): string {
  if (detail?.path !== undefined) return correctParameterName(detail.path, operation);
  const [, where, name] = locationPattern.exec(error) ?? [];
  if (where === undefined) return 'request';
  if (where === 'path' && operation?.query?.path) return 'query.path';
  return name === undefined ? where : `${where}.${name}`;
}

/** Returns the place with the name that the operation gives its path parameter. */
function correctParameterName(location: string, operation: Operation | undefined): string {
  const names = [...(operation?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const [where, name] = location.split('.');
  if (where !== 'path' || name === undefined || names.includes(name)) return location;
  return `path.${names.includes('id') ? 'id' : names[0]}`;
}

/**
 * Returns the size of a value that is too long or has too many entries, because showing its
 * beginning would not help.
 */
function measureBody(
  expected: string | undefined,
  request: ReceivedRequest,
  location: string,
): string | undefined {
  const [where, ...keys] = location.split('.');
  const [bound, unit] = /\bat most [\d,]+ (\w+)|\bof length \d+ or less/.exec(expected ?? '') ?? [];
  if (bound === undefined || where !== 'body') return undefined;
  const value = bodyAt(request, keys);
  if (typeof value === 'string') {
    const isBytes = unit === 'bytes';
    const count = isBytes ? Buffer.byteLength(value) : charactersIn(value);
    return `${count} ${isBytes ? unit : 'characters'}`;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  return `${Object.keys(value).length} ${unit ?? 'entries'}`;
}

/**
 * Returns the value at a place of the request; undefined if it is not a single value or was not
 * recorded.
 */
function actualAt(
  request: ReceivedRequest,
  location: string,
  operation: Operation | undefined,
): string | undefined {
  const [where = '', ...keys] = location.split('.');
  const [name = ''] = keys.slice(-1);
  if (location === 'path') return request.path;
  if (name === '') return undefined;
  if (where === 'path') return operation && parametersIn(operation, request.path)[name];
  if (where === 'body') return shownValue(name, bodyAt(request, keys));
  if (where === 'query') {
    return shownValue(name, new URLSearchParams(request.search).get(name) ?? undefined);
  }
  return where === 'header' ? headerAt(request, name) : undefined;
}

function bodyAt(request: ReceivedRequest, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) => {
      const isInner = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
      return isInner ? Reflect.get(value, key) : undefined;
    },
    jsonOf(textOf(request))?.value,
  );
}

function shownValue(name: string, value: unknown): string {
  if (value === undefined) return 'nothing';
  return isSecretName(name) ? masked : describeValue(value);
}

function headerAt({ headers }: ReceivedRequest, name: string): string {
  const value = headers.get(name.toLowerCase());
  if (value === undefined) return 'nothing';
  // The scheme of the credentials is not secret, and shows whether the right one was used.
  if (name === 'Authorization') return `${/^\w+/.exec(value)?.[0] ?? ''} ${masked}`.trim();
  return describeValue(value);
}
