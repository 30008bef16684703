/** Small changes to requests and responses, of which the alterations of defects consist. */
import { isObject, type JsonObject } from '../../fixtures/base/json.ts';
import type { ProxiedMessage, ProxiedRequest, ProxiedResponse } from './defect.ts';

/** Fatal, since a lenient decoder would replace invalid bytes and so change the message. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns true when a response is a success. */
export function isSuccess({ status }: ProxiedResponse): boolean {
  return status >= 200 && status < 300;
}

/** Returns the JSON of the body; undefined when it is not JSON or not UTF-8. */
export function jsonOf({ body }: ProxiedMessage): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** Returns the JSON of the body if it is an object, otherwise an empty object. */
export function objectOf(message: ProxiedMessage): JsonObject {
  const value = jsonOf(message);
  return isObject(value) ? value : {};
}

/** Returns the JSON of the body if it is a list, otherwise an empty list. */
export function listOf(message: ProxiedMessage): readonly unknown[] {
  const value = jsonOf(message);
  return Array.isArray(value) ? value : [];
}

/** Returns the message with that JSON as its body. */
export function withJson<M extends ProxiedMessage>(message: M, value: unknown): M {
  return { ...message, body: Buffer.from(JSON.stringify(value)) };
}

/** Returns the message with its JSON changed; unchanged when the body is not JSON. */
export function changedJson<M extends ProxiedMessage>(
  message: M,
  change: (value: unknown) => unknown,
): M {
  const value = jsonOf(message);
  return value === undefined ? message : withJson(message, change(value));
}

/** Returns the message with that text as its body. */
export function withText<M extends ProxiedMessage>(message: M, text: string): M {
  return { ...message, body: Buffer.from(text) };
}

/** Returns the message with these headers set; undefined removes one. Names in lower case. */
export function withHeaders<M extends ProxiedMessage>(
  message: M,
  changes: Readonly<Record<string, string | undefined>>,
): M {
  const merged = { ...message.headers, ...changes };
  const definedMembers = Object.entries(merged).filter(([, value]) => value !== undefined);
  return { ...message, headers: Object.fromEntries(definedMembers) as Record<string, string> };
}

/** Returns the response with another status, and without its body if the status forbids one. */
export function withStatus(response: ProxiedResponse, status: number): ProxiedResponse {
  const isBodiless = status === 204 || status === 304 || status < 200;
  return { ...response, status, ...(isBodiless ? { body: Buffer.alloc(0) } : {}) };
}

/** Returns a response made by the proxy: with JSON if given, otherwise without a body. */
export function ownResponse(status: number, json?: unknown): ProxiedResponse {
  const hasBody = json !== undefined;
  return {
    status,
    headers: hasBody ? { 'content-type': 'application/json' } : {},
    body: Buffer.from(hasBody ? JSON.stringify(json) : ''),
  };
}

/** Returns the parameters of the query. */
export function queryOf({ query }: ProxiedRequest): URLSearchParams {
  return new URLSearchParams(query);
}

/** Returns the request with these query parameters set; undefined removes one. */
export function withQuery(
  request: ProxiedRequest,
  changes: Readonly<Record<string, string | undefined>>,
): ProxiedRequest {
  const query = queryOf(request);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  }
  return { ...request, query: query.toString() };
}

/** Returns the Bearer token of a request; empty when it has none. */
export function tokenOf({ headers }: ProxiedMessage): string {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/**
 * Returns the value with the member at a path changed, such as `artifact.source.uri`; a star
 * matches every element of a list. Members that do not exist stay absent; undefined removes a
 * member.
 */
export function changedAt(
  value: unknown,
  path: string,
  change: (member: unknown) => unknown,
): unknown {
  const [step = '', ...innerSteps] = path.split('.');
  const innerPath = innerSteps.join('.');
  const inner = (member: unknown): unknown =>
    innerSteps.length === 0 ? change(member) : changedAt(member, innerPath, change);
  if (step === '*') return Array.isArray(value) ? value.map(inner) : value;
  if (!isObject(value) || !(step in value)) return value;
  const member = inner(value[step]);
  const { [step]: _, ...kept } = value;
  return member === undefined ? kept : { ...value, [step]: member };
}
