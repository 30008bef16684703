/** Actions that respond instead of the handler: any status with any body, 429, and redirects. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import * as v from 'valibot';
import { isObject, type JsonObject, parsedJson } from '../../../fixtures/base/json.ts';
import { Refusal } from '../../http/refusal.ts';
import { headerOf, replaceHeaders } from '../held-response.ts';
import type { HeaderPairs } from '../wire.ts';
import { type Action, type ActionContext, defineAction, textUpTo, whole } from './action.ts';

const BODY_MAX_CHARACTERS = 65_536;
const HEADERS_MAX = 50;
const HEADER_MAX_CHARACTERS = 4096;
const WAIT_MAX_SECONDS = 31_536_000;

/** The body of a planned response. */
interface PlannedResponse {
  readonly mediaType?: string;
  readonly bytes: Buffer;
  readonly headers?: HeaderPairs;
}

const json = 'application/json; charset=utf-8';

/** The available bodies. Each is generated for a status. */
const bodies = {
  error: (_status, requestId) => ({ mediaType: json, bytes: errorText(requestId) }),
  empty: () => ({ bytes: Buffer.alloc(0) }),
  html: (status) => ({ mediaType: 'text/html', bytes: Buffer.from(pageOf(status)) }),
  'object-error': (status, requestId) => ({
    mediaType: json,
    bytes: Buffer.from(
      JSON.stringify({ error: { code: status, message: reason }, request_id: requestId }),
    ),
  }),
  gzip: (_status, requestId) => ({
    mediaType: json,
    bytes: gzipSync(errorText(requestId)),
    headers: [['Content-Encoding', 'gzip']],
  }),
  'wrong-type': (_status, requestId) => ({
    mediaType: 'text/plain',
    bytes: errorText(requestId),
  }),
  'cut-json': (_status, requestId) => ({
    mediaType: json,
    bytes: errorText(requestId).subarray(0, -7),
  }),
} as const satisfies Readonly<
  Record<string, (status: number, requestId: string) => PlannedResponse>
>;

const reason = 'a planned fault of the testbed';

function errorText(requestId: string): Buffer {
  return Buffer.from(JSON.stringify({ error: reason, request_id: requestId }));
}

function pageOf(status: number): string {
  const title = `${status} ${status === 502 ? 'Bad Gateway' : 'from a gateway'}`;
  return `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
}

const bodyNames = Object.keys(bodies) as (keyof typeof bodies)[];

const ownBody = v.strictObject({
  text: textUpTo(BODY_MAX_CHARACTERS),
  mediaType: v.optional(v.pipe(textUpTo(256), headerValue()), 'text/plain'),
});

/** Returns a check that a string is valid as a header value. */
function headerValue() {
  return v.check<string, string>(
    (value) => !throws(() => validateHeaderValue('X', value)),
    'holds a character that headers cannot contain',
  );
}

const headersShape = v.pipe(
  v.record(
    v.pipe(
      textUpTo(256),
      v.check((name) => !throws(() => validateHeaderName(name)), 'is not a valid header name'),
      v.check(
        (name) => !/^(content-length|transfer-encoding)$/i.test(name),
        'cannot be set, because it frames the body; use the action truncated, over-long or malformed-chunks',
      ),
    ),
    v.pipe(textUpTo(HEADER_MAX_CHARACTERS), headerValue()),
  ),
  v.maxEntries(HEADERS_MAX, `must hold at most ${HEADERS_MAX} headers`),
);

function throws(callback: () => void): boolean {
  try {
    callback();
    return false;
  } catch {
    return true;
  }
}

const response = defineAction({
  kind: 'respond',
  does: 'answers with the given status, body and headers',
  alters: 'bytes',
  entries: {
    status: whole(200, 599),
    body: v.optional(
      v.union(
        [v.picklist(bodyNames), ownBody],
        `must be one of ${bodyNames.join(', ')}, or an object with text and mediaType`,
      ),
      'error',
    ),
    headers: v.optional(headersShape, {}),
  },
  injectionPoints: ['before', 'after'],
  execute: async ({ status, body, headers }, context) => {
    const { requestId } = context.call.exchange;
    const plannedResponse: PlannedResponse =
      typeof body === 'string'
        ? bodies[body](status, requestId)
        : { mediaType: body.mediaType, bytes: Buffer.from(body.text) };
    const type =
      plannedResponse.mediaType === undefined
        ? []
        : [['Content-Type', plannedResponse.mediaType] as const];
    const defaults = [...type, ...(plannedResponse.headers ?? [])];
    const plannedHeaders = Object.entries(headers);
    const names = plannedHeaders.map(([name]) => name.toLowerCase());
    const otherDefaults = defaults.filter(([name]) => !names.includes(name.toLowerCase()));
    await context.wire.answer(
      status,
      [...idOf(context), ...otherDefaults, ...plannedHeaders],
      plannedResponse.bytes,
    );
    return 'response-sent';
  },
});

/** The values of Retry-After: valid ones, and invalid or absurd ones. */
const retryAfter = {
  seconds: (seconds) => String(seconds),
  date: (seconds, nowMs) => new Date(nowMs + seconds * 1000).toUTCString(),
  'past-date': (seconds, nowMs) => new Date(nowMs - seconds * 1000).toUTCString(),
  absent: () => undefined,
  zero: () => '0',
  negative: (seconds) => String(-seconds),
  absurd: () => '999999999999999999999',
  words: () => 'in a while',
} as const satisfies Readonly<
  Record<string, (seconds: number, nowMs: number) => string | undefined>
>;

const retryAfterNames = Object.keys(retryAfter) as (keyof typeof retryAfter)[];

const rateLimited = defineAction({
  kind: 'rate-limited',
  does: 'answers 429 with a valid or invalid Retry-After',
  entries: {
    retryAfter: v.optional(
      v.picklist(retryAfterNames, `must be one of ${retryAfterNames.join(', ')}`),
      'seconds',
    ),
    seconds: v.optional(whole(1, WAIT_MAX_SECONDS), 30),
  },
  injectionPoints: ['before', 'after'],
  execute: async ({ retryAfter: form, seconds }, context) => {
    const value = retryAfter[form](seconds, context.tenant.clock.now());
    const headers: Record<string, string> = value === undefined ? {} : { 'Retry-After': value };
    await refuseRequest(context, new Refusal(429, reason, { headers }));
    return 'response-sent';
  },
});

const redirect = defineAction({
  kind: 'redirect',
  does: 'redirects to the given URL, or by default to the same URL, at another host if one is given',
  entries: {
    status: v.optional(
      v.picklist([301, 302, 303, 307, 308], 'must be 301, 302, 303, 307 or 308'),
      302,
    ),
    location: v.optional(v.pipe(textUpTo(HEADER_MAX_CHARACTERS), headerValue())),
    host: v.optional(v.pipe(textUpTo(253), v.regex(/^[\w.-]+$/, 'must be the name of a host'))),
  },
  injectionPoints: ['before', 'after'],
  execute: async ({ status, location, host }, context) => {
    const { url = '/', socket } = context.call.exchange.request;
    const scheme = socket instanceof TLSSocket ? 'https' : 'http';
    const sameUrl = host === undefined ? url : `${scheme}://${host}:${socket.localPort}${url}`;
    const to = location ?? sameUrl;
    await context.wire.answer(status, [...idOf(context), ['Location', to]]);
    return 'response-sent';
  },
});

const rangeRefused = defineAction({
  kind: 'range-refused',
  does: 'answers 416, as if the range were outside the file',
  entries: {},
  injectionPoints: ['before', 'after'],
  execute: async (_given, context) => {
    const headers = { 'Content-Range': 'bytes */0' };
    await refuseRequest(context, new Refusal(416, reason, { headers }));
    return 'response-sent';
  },
});

const alteredJson = defineAction({
  kind: 'altered-json',
  does: 'sets members of the JSON response, such as artifact.source.uri; null removes a member',
  entries: {
    set: v.pipe(
      v.record(textUpTo(256), v.unknown()),
      v.minEntries(1, 'must name at least one member'),
      v.maxEntries(HEADERS_MAX, `must name at most ${HEADERS_MAX} members`),
    ),
  },
  injectionPoints: ['body'],
  fits: (_given, head) => /\bjson\b/i.test(headerOf(head, 'Content-Type') ?? ''),
  transform: async ({ set }, { wire }, heldResponse) => {
    const head = await heldResponse.head;
    const chunks: Buffer[] = [];
    for (let chunk = await heldResponse.next(); chunk; chunk = await heldResponse.next())
      chunks.push(chunk);
    const content = Buffer.concat(chunks);
    const body = parsedJson(content.toString('utf8'));
    const bytes = isObject(body) ? Buffer.from(JSON.stringify(withMembers(body, set))) : content;
    const framing = { 'Content-Length': undefined, 'Transfer-Encoding': undefined };
    await wire.answer(head.status, replaceHeaders(head, framing), bytes);
  },
});

/** Returns the object with the members at these dotted paths set, and those set to null removed. */
function withMembers(body: JsonObject, set: JsonObject): JsonObject {
  let altered = body;
  for (const [path, value] of Object.entries(set)) {
    const [name = '', ...rest] = path.split('.');
    const { [name]: former, ...otherMembers } = altered;
    const inner = isObject(former) ? former : {};
    const member = rest.length > 0 ? withMembers(inner, { [rest.join('.')]: value }) : value;
    altered = member === null ? otherMembers : { ...otherMembers, [name]: member };
  }
  return altered;
}

/** Sends a refusal in the format of the server's own refusals. */
export async function refuseRequest(
  context: ActionContext,
  { status, error, headers }: Refusal,
): Promise<void> {
  const { requestId } = context.call.exchange;
  const body = Buffer.from(JSON.stringify({ error, request_id: requestId }));
  const all = [...idOf(context), ...Object.entries(headers), ['Content-Type', json] as const];
  await context.wire.answer(status, all, body);
}

/**
 * Returns the request ID header, and the Date header if the tenant's clock differs from the
 * machine's.
 */
function idOf({ call, headerNames, tenant }: ActionContext): HeaderPairs {
  const id = [headerNames.requestId, call.exchange.requestId] as const;
  if (tenant.clock.isSystem) return [id];
  return [id, ['Date', new Date(tenant.clock.now()).toUTCString()]];
}

/** All actions of this file, in the order of the documentation. */
export const responseActions: readonly Action[] = [
  response,
  rateLimited,
  redirect,
  rangeRefused,
  alteredJson,
];
