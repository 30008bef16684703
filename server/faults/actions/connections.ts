/**
 * Actions on timing and on the connection: delayed, slow, stalled, cut, or wrongly framed
 * responses.
 */
import * as v from 'valibot';
import type { FaultCall } from '../call.ts';
import {
  type HeldResponse,
  headerOf,
  type ResponseHead,
  replaceHeaders,
} from '../held-response.ts';
import { type Action, type ActionContext, defineAction, whole } from './action.ts';

const HOUR_MS = 3_600_000;
const OFFSET_MAX_BYTES = 1_073_741_824;
const RATE_MAX_BYTES_PER_SECOND = 10_000_000;
const EXTRA_MAX_BYTES = 1_048_576;
/** How long a half-closed connection is kept open for data that the caller still sends. */
const HALF_CLOSED_MAX_MS = 60_000;

/** A position in the body: its middle, its end, or a number of bytes. */
const positionShape = v.union(
  [v.picklist(['half', 'end']), whole(0, OFFSET_MAX_BYTES)],
  'must be half, end, or a number of bytes',
);
type BodyPosition = v.InferOutput<typeof positionShape>;

const delay = defineAction({
  kind: 'delay',
  does: 'waits, in server time: before the handler, before the response, or in the middle of the body',
  entries: { ms: whole(1, HOUR_MS) },
  injectionPoints: ['before', 'after', 'body'],
  execute: async ({ ms }, { tenant, signal, wire }) => {
    await tenant.clock.sleep(ms, signal);
    return wire.isDisconnected ? 'response-sent' : 'continue';
  },
  fits: hasBody,
  transform: async ({ ms }, context, response) => {
    await writeUpTo(context, response, 'half');
    await context.tenant.clock.sleep(ms, context.signal);
    await writeRest(context, response);
    await context.wire.end();
  },
});

const stall = defineAction({
  kind: 'stall',
  does: 'sends nothing, or in the body nothing after the given number of bytes, until the caller disconnects, the rule is removed or `maxSeconds` have passed; then cuts the connection',
  entries: {
    afterBytes: v.optional(positionShape, 'half'),
    maxSeconds: v.optional(whole(1, HOUR_MS / 1000), 300),
  },
  injectionPoints: ['before', 'after', 'body'],
  execute: async ({ maxSeconds }, context) => {
    await hangConnection(context, maxSeconds * 1000);
    return 'response-sent';
  },
  fits: hasBody,
  transform: async ({ afterBytes, maxSeconds }, context, response) => {
    await writeUpTo(context, response, afterBytes);
    await hangConnection(context, maxSeconds * 1000);
  },
});

const reset = defineAction({
  kind: 'reset',
  does: 'cuts the connection with an RST; in the body, after the given number of bytes, half of it, or its end',
  entries: { afterBytes: v.optional(positionShape, 'half') },
  injectionPoints: ['before', 'after', 'body'],
  execute: async (_given, { wire }) => {
    wire.reset();
    return 'response-sent';
  },
  fits: hasBody,
  transform: async ({ afterBytes }, context, response) => {
    await writeUpTo(context, response, afterBytes);
    context.wire.reset();
  },
});

const halfClose = defineAction({
  kind: 'half-close',
  does: 'sends FIN instead of the response, or of its second half, and keeps reading for a minute',
  entries: {},
  injectionPoints: ['before', 'after', 'body'],
  execute: async (_given, context) => {
    context.wire.halfClose();
    await hangConnection(context, HALF_CLOSED_MAX_MS);
    return 'response-sent';
  },
  fits: hasBody,
  transform: async (_given, context, response) => {
    await writeUpTo(context, response, 'half');
    context.wire.halfClose();
    await hangConnection(context, HALF_CLOSED_MAX_MS);
  },
});

const drip = defineAction({
  kind: 'drip',
  does: 'sends the body at the given bytes per second, one piece each second',
  entries: { bytesPerSecond: whole(1, RATE_MAX_BYTES_PER_SECOND) },
  injectionPoints: ['body'],
  fits: hasBody,
  transform: async ({ bytesPerSecond }, context, response) => {
    const { wire, tenant, signal } = context;
    await writeUpTo(context, response, bytesPerSecond);
    for (let sentBytes = bytesPerSecond; sentBytes === bytesPerSecond && !wire.isDisconnected; ) {
      await tenant.clock.sleep(1000, signal);
      sentBytes = await writeRest(context, response, bytesPerSecond);
    }
    await wire.end();
  },
});

const truncated = defineAction({
  kind: 'truncated',
  does: 'ends the connection the given number of bytes, or half a body, before the announced length',
  entries: { missingBytes: v.optional(whole(1, OFFSET_MAX_BYTES)) },
  injectionPoints: ['body'],
  fits: hasBody,
  transform: async ({ missingBytes }, context, response) => {
    const announced = lengthOf(await response.head);
    const isKnown = missingBytes !== undefined && announced !== undefined;
    const position = isKnown ? Math.max(0, announced - missingBytes) : 'half';
    await writeUpTo(context, response, position);
    context.wire.cut();
  },
});

const overLong = defineAction({
  kind: 'over-long',
  does: 'sends more bytes than Content-Length announces, and bytes after a response 204; in chunked encoding, more bytes than the file has',
  alters: 'end',
  entries: {
    extraBytes: v.optional(whole(1, EXTRA_MAX_BYTES), 16),
    isChunked: v.optional(v.boolean('must be true or false'), false),
  },
  injectionPoints: ['body'],
  fits: (_given, head, call) =>
    head.status === 204 || (hasBody(undefined, head, call) && lengthOf(head) !== undefined),
  transform: async ({ extraBytes, isChunked }, context, response) => {
    if (isChunked) {
      const head = await response.head;
      context.wire.head(head.status, replaceHeaders(head, { 'Content-Length': undefined }));
      await writeRest(context, response);
      await context.wire.write(Buffer.alloc(extraBytes, '!'));
      return context.wire.end();
    }
    await writeUpTo(context, response, 'end');
    await context.wire.bare(Buffer.alloc(extraBytes, '!'));
    await context.wire.end();
  },
});

const malformedChunks = defineAction({
  kind: 'malformed-chunks',
  does: 'announces chunked encoding, and sends a chunk whose length is not a number',
  entries: {},
  injectionPoints: ['body'],
  fits: hasBody,
  transform: async (_given, context, response) => {
    const head = await response.head;
    const framing = { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' };
    await writeUpTo(context, response, 'half', { ...head, headers: replaceHeaders(head, framing) });
    await context.wire.bare(Buffer.from('not-a-length\r\nrest of the body\r\n0\r\n\r\n'));
    context.wire.cut();
  },
});

/** Returns true if the response has a body. */
export function hasBody(_given: unknown, head: ResponseHead, { exchange }: FaultCall): boolean {
  const isBare = exchange.request.method === 'HEAD' || head.status === 204 || head.status === 304;
  return !isBare && lengthOf(head) !== 0;
}

/**
 * Writes the rest of the body, or at most the given number of bytes. Returns the number of bytes
 * written.
 */
export async function writeRest(
  { wire }: Pick<ActionContext, 'wire'>,
  response: HeldResponse,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<number> {
  let writtenBytes = 0;
  while (writtenBytes < maxBytes && !wire.isDisconnected) {
    const chunk = await response.next();
    if (!chunk) break;
    const part = chunk.subarray(0, maxBytes - writtenBytes);
    if (part.length < chunk.length) response.putBack(chunk.subarray(part.length));
    await wire.write(part);
    writtenBytes += part.length;
  }
  return writtenBytes;
}

/** Writes the head and the body up to a position, and flushes them. */
async function writeUpTo(
  context: ActionContext,
  response: HeldResponse,
  position: BodyPosition,
  head?: ResponseHead,
): Promise<void> {
  const responseHead = await response.head;
  const { status, headers } = head ?? responseHead;
  context.wire.head(status, headers);
  await writeRest(context, response, await bytesUpTo(position, response, lengthOf(responseHead)));
  await context.wire.flush();
}

/**
 * Returns the number of bytes before the position. If the length is not announced, the middle is
 * the middle of the first chunk.
 */
async function bytesUpTo(
  position: BodyPosition,
  response: HeldResponse,
  announced: number | undefined,
): Promise<number> {
  if (typeof position === 'number') return position;
  if (position === 'end') return Number.POSITIVE_INFINITY;
  if (announced !== undefined) return Math.floor(announced / 2);
  const first = await response.next();
  if (first) response.putBack(first);
  return Math.floor((first?.length ?? 0) / 2);
}

function lengthOf(head: ResponseHead): number | undefined {
  const length = headerOf(head, 'Content-Length');
  return length === undefined ? undefined : Number(length);
}

async function hangConnection(
  { wire, tenant, signal }: ActionContext,
  maxMs: number,
): Promise<void> {
  wire.withhold();
  await tenant.clock.sleep(maxMs, signal);
  wire.cut();
}

/** All actions of this file, in the order of the documentation. */
export const connectionActions: readonly Action[] = [
  delay,
  stall,
  reset,
  halfClose,
  drip,
  truncated,
  overLong,
  malformedChunks,
];
