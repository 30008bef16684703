/** Builds a corrected request: path, query, headers and body. */
import * as v from 'valibot';
import { editDistance } from '../../fixtures/base/nearest.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { isPollOperation } from '../../fixtures/contract/operation-ids.ts';
import { maskText } from '../http/masking.ts';
import { correctBody } from './corrected-body.ts';
import { correctedValue } from './corrected-value.ts';
import { parametersIn } from './nearest.ts';
import type { ReceivedRequest } from './received-request.ts';
import {
  type CommandText,
  markFor,
  queryWithoutSecrets,
  type VariableMeanings,
  variableNamed,
} from './text.ts';

/** A part of a multipart form. */
export interface FormPart {
  readonly name: string;
  readonly value: CommandText;
  /** True if the value is the name of a file to send. */
  readonly isFile?: boolean;
}

/** A request that can be written as a command. */
export interface CorrectedRequest {
  readonly operation: Operation;
  /** Path and query of the request. */
  readonly target: CommandText;
  readonly headers: readonly (readonly [string, CommandText])[];
  readonly body?: CommandText;
  /** Set if the body is the content of a file that only the reader has. */
  readonly isBodyInFile?: true;
  readonly form?: readonly FormPart[];
  /** Set if the body equals the sent one except for secrets. */
  readonly isAsSent?: true;
  /** Meanings of the variables in the request, if more is known than their names. */
  readonly needs: VariableMeanings;
}

/** The sent request, and what is known to be wrong with it. */
interface InvalidRequest {
  readonly request: ReceivedRequest;
  /** Path parameters of the sent request, undecoded, by the names of its operation. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly status: number;
  /** The place of the problem, such as `body.status`. */
  readonly location: string;
  /** The expected value at that place. */
  readonly expected?: string | undefined;
}

const forms: Readonly<Record<string, readonly FormPart[]>> = {
  [managementOperations['upload-artifact'].id]: [
    { name: 'artifact', value: [{ variable: 'FILE' }], isFile: true },
  ],
  [managementOperations['generate-artifact'].id]: [
    { name: 'name', value: [{ variable: 'ARTIFACT_NAME' }] },
    { name: 'device_types_compatible', value: [{ variable: 'DEVICE_TYPES' }] },
    { name: 'type', value: ['single-file'] },
    { name: 'args', value: ['{"dest_dir":"', { variable: 'DEST_DIR' }, '"}'] },
    { name: 'file', value: [{ variable: 'FILE' }], isFile: true },
  ],
  [managementOperations['upload-device-file'].id]: [
    { name: 'path', value: [{ variable: 'DEVICE_PATH' }] },
    { name: 'file', value: [{ variable: 'FILE' }], isFile: true },
  ],
};

/** Returns the request for an operation. Every sent value that fits is kept. */
export function correctRequest(operation: Operation, refused: InvalidRequest): CorrectedRequest {
  const form = forms[operation.id];
  const body = correctBody(operation, refused);
  const query = queryFor(operation, refused);
  return {
    operation,
    target: [...pathFor(operation, refused), ...query.text],
    headers: [
      ...authorizationOf(operation),
      ...(body ? [['Content-Type', ['application/json']] as const] : []),
      ...keptHeaders(refused),
      ...(101 in operation.success ? handshake : []),
    ],
    ...(body && { body: body.text }),
    ...(body?.isAsSent && { isAsSent: true as const }),
    ...(body?.isFile && { isBodyInFile: true as const }),
    ...(form && { form }),
    needs: { ...query.needs, ...body?.needs, ...(isPollOperation(operation) && ofPoll) },
  };
}

/** The variables of a poll, which reports the installed software and not the desired one. */
const ofPoll: VariableMeanings = {
  ARTIFACT_NAME: 'the name of the artifact installed on the device',
  BODY_FILE: 'a file with everything that the device provides, in the format of this operation',
};

function authorizationOf({
  authorization,
}: Operation): readonly (readonly [string, CommandText])[] {
  const isToken = ['device', 'user', 'socket'].includes(authorization);
  return isToken ? [['Authorization', ['Bearer ', { variable: 'TOKEN' }]]] : [];
}

const handshake: readonly (readonly [string, CommandText])[] = [
  ['Connection', ['Upgrade']],
  ['Upgrade', ['websocket']],
  ['Sec-WebSocket-Version', ['13']],
  ['Sec-WebSocket-Key', ['dGhlIHNhbXBsZSBub25jZQ==']],
];

/** Headers that change the response. All other headers are left out, because they may be secret. */
const meaningful = ['accept', 'range', 'if-range', 'if-match', 'if-none-match'];

function keptHeaders({
  request,
  status,
}: InvalidRequest): readonly (readonly [string, CommandText])[] {
  const isCondition = status === 412 || status === 416;
  return meaningful
    .filter((name) => !isCondition || name === 'accept')
    .map((name) => [name, request.headers.get(name) ?? ''] as const)
    .filter(([, value]) => value !== '*/*' && /^[\x20-\x7e]+$/.test(value))
    .map(([name, value]) => [name, [value]] as const);
}

function pathFor(
  operation: Operation,
  { request, parameters, location }: InvalidRequest,
): CommandText {
  const knownValues = {
    ...idsIn(operation, request.path),
    ...parameters,
    ...parametersIn(operation, request.path),
  };
  const values = Object.values(knownValues);
  // A single path parameter means the same resource, even if the successor gives it another name.
  const only = values.length === 1 ? values[0] : undefined;
  return operation.path.split(/(\{\w+\})/).map((part) => {
    if (!part.startsWith('{')) return part;
    const name = part.slice(1, -1);
    const value = knownValues[name] ?? only ?? '';
    const isSecret = maskText(value) !== value || location === `path.${name}`;
    const isSound =
      !isSecret && value !== '' && value !== '.' && value !== '..' && isDecodable(value);
    return isSound ? encodeOdd(value) : { variable: variableNamed(name) };
  });
}

/**
 * Returns the IDs in a path with too few or too many segments, if it has as many IDs as the
 * operation needs.
 */
function idsIn(operation: Operation, path: string): Readonly<Record<string, string>> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const ids = path.split('/').filter((segment) => /^[\da-f-]{24,64}$/.test(segment));
  if (ids.length !== names.length) return {};
  return Object.fromEntries(names.map((name, at) => [name, ids[at] ?? '']));
}

function isDecodable(segment: string): boolean {
  try {
    return decodeURIComponent(segment) !== '';
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

/** Percent-encodes characters that are not allowed in a request target. */
function encodeOdd(text: string): string {
  return text.replace(/[^\x21-\x7e]+/gu, (odd) => encodeURIComponent(odd));
}

function queryFor(
  { query }: Operation,
  { request, status, location, expected }: InvalidRequest,
): { readonly text: CommandText; readonly needs: VariableMeanings } {
  if (!query) return { text: [], needs: {} };
  const schema = v.object(query);
  const names = Object.keys(query);
  const search = status === 410 ? successorQuery(request.search, names) : request.search;
  const parameters = givenIn(search, names);
  const [, refused = ''] = /^query\.(.+)$/.exec(location) ?? [];
  const isSent = Object.keys(parameters).every((name) => new URLSearchParams(search).has(name));
  const fits = v.is(schema, parameters);
  // A rule refused the parameter although its shape is valid.
  if (fits && refused in query) parameters[refused] = markFor(refused);
  else if (fits && isSent) return { text: questionOf(encodeOdd(search)), needs: {} };
  const better = correctedValue(schema, parameters, { isQuery: true }) ?? {
    value: parameters,
    needs: {},
  };
  const isNeeded = fits && expected !== undefined;
  const needs = isNeeded ? { [variableNamed(refused)]: expected } : better.needs;
  return { text: questionOf(searchOf(better.value)), needs };
}

/**
 * Returns the query for the operation that replaces a deprecated one. Unknown parameters are
 * dropped, because they would filter nothing.
 * Spec: Deprecated APIs
 */
function successorQuery(search: string, names: readonly string[]): string {
  const pairs = [...new URLSearchParams(search)].map(([name, value]): [string, string] => {
    const isId = /^[\da-f]{8}-/.test(value);
    return name === 'search' ? [isId ? 'id' : 'name', value] : [name, value];
  });
  return new URLSearchParams(pairs.filter(([name]) => names.includes(name))).toString();
}

function questionOf(search: string): CommandText {
  return search === '' ? [] : ['?', ...queryWithoutSecrets(search)];
}

/** Returns the sent parameters, including those with slightly misspelt names. */
function givenIn(search: string, names: readonly string[]): Record<string, string | string[]> {
  const sentParameters = new URLSearchParams(search);
  const parameters: Record<string, string | string[]> = Object.create(null);
  for (const name of names) {
    const nearest = [...sentParameters.keys()].find(
      (other) => !names.includes(other) && isNear(other, name),
    );
    const values = sentParameters.getAll(sentParameters.has(name) ? name : (nearest ?? name));
    if (values[0] !== undefined) parameters[name] = values.length === 1 ? values[0] : values;
  }
  return parameters;
}

/** Returns true if the names differ only in case or in a few letters. */
function isNear(name: string, other: string): boolean {
  return 3 * editDistance(name.toLowerCase(), other) <= other.length;
}

function searchOf(values: unknown): string {
  const pairs = Object.entries(typeof values === 'object' && values !== null ? values : {});
  const all = pairs.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  );
  return new URLSearchParams(all).toString();
}
