/** Small changes to requests and answers, from which the hooks of defects are made. */
import { isObject, type JsonObject } from '../../fixtures/json.ts';
import type { Message, ProxiedAnswer, ProxiedRequest } from './defect.ts';

/** Bytes that are no UTF-8 must not become letters on their way through a defect. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Whether an answer is a success. */
export function isSuccess({ status }: ProxiedAnswer): boolean {
  return status >= 200 && status < 300;
}

/** The JSON of the body; undefined when it is none, as it is with bytes that are no UTF-8. */
export function jsonOf({ body }: Message): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** The JSON of the body when it is an object, else an empty object. */
export function objectOf(message: Message): JsonObject {
  const value = jsonOf(message);
  return isObject(value) ? value : {};
}

/** The JSON of the body when it is a list, else an empty list. */
export function listOf(message: Message): readonly unknown[] {
  const value = jsonOf(message);
  return Array.isArray(value) ? value : [];
}

/** The same with that JSON as its body. */
export function withJson<M extends Message>(message: M, value: unknown): M {
  return { ...message, body: Buffer.from(JSON.stringify(value)) };
}

/** The same with its JSON changed; unchanged when the body is none. */
export function changedJson<M extends Message>(message: M, change: (value: unknown) => unknown): M {
  const value = jsonOf(message);
  return value === undefined ? message : withJson(message, change(value));
}

/** The same with another text as its body. */
export function withText<M extends Message>(message: M, text: string): M {
  return { ...message, body: Buffer.from(text) };
}

/** The same with these headers set; undefined takes one away. Names in lower case. */
export function withHeaders<M extends Message>(
  message: M,
  changes: Readonly<Record<string, string | undefined>>,
): M {
  const merged = { ...message.headers, ...changes };
  const kept = Object.entries(merged).filter(([, value]) => value !== undefined);
  return { ...message, headers: Object.fromEntries(kept) as Record<string, string> };
}

/** The same answer with another status; one that has no body loses it. */
export function withStatus(answer: ProxiedAnswer, status: number): ProxiedAnswer {
  const isBodiless = status === 204 || status === 304 || status < 200;
  return { ...answer, status, ...(isBodiless ? { body: Buffer.alloc(0) } : {}) };
}

/** An answer of our own: with JSON when there is some, without a body otherwise. */
export function ownAnswer(status: number, json?: unknown): ProxiedAnswer {
  const hasBody = json !== undefined;
  return {
    status,
    headers: hasBody ? { 'content-type': 'application/json' } : {},
    body: Buffer.from(hasBody ? JSON.stringify(json) : ''),
  };
}

/** The parameters of the query. */
export function queryOf({ query }: ProxiedRequest): URLSearchParams {
  return new URLSearchParams(query);
}

/** The same request with these parameters of the query set; undefined takes one away. */
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

/** The Bearer token of a request; empty when it has none. */
export function tokenOf({ headers }: Message): string {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/**
 * A value with the member at a path changed, such as `artifact.source.uri`; a star stands for every
 * element of a list. What the path does not lead to stays as it is; undefined takes a member away.
 */
export function changedAt(
  value: unknown,
  path: string,
  change: (member: unknown) => unknown,
): unknown {
  const [first = '', ...others] = path.split('.');
  const rest = others.join('.');
  const inner = (member: unknown): unknown =>
    others.length === 0 ? change(member) : changedAt(member, rest, change);
  if (first === '*') return Array.isArray(value) ? value.map(inner) : value;
  if (!isObject(value) || !(first in value)) return value;
  const member = inner(value[first]);
  const { [first]: _, ...kept } = value;
  return member === undefined ? kept : { ...value, [first]: member };
}
