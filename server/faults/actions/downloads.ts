/** Actions on downloads and uploads, and on the validators with which clients resume downloads. */
import * as v from 'valibot';
import type { FaultCall } from '../call.ts';
import { headerOf, replaceHeaders } from '../held-response.ts';
import { type Action, defineAction, whole } from './action.ts';
import { hasBody, writeRest } from './connections.ts';

const OFFSET_MAX_BYTES = 1_073_741_824;
const COUNT_MAX_BYTES = 1_048_576;

const corrupted = defineAction({
  kind: 'corrupted',
  does: 'flips bits, beginning at a byte; length and validators stay correct',
  alters: 'bytes',
  entries: {
    atByte: v.optional(whole(0, OFFSET_MAX_BYTES), 0),
    bytes: v.optional(whole(1, COUNT_MAX_BYTES), 1),
  },
  injectionPoints: ['body'],
  fits: ({ atByte }, head, call) => {
    const length = headerOf(head, 'Content-Length');
    return hasBody(undefined, head, call) && !(Number(length) <= atByte);
  },
  transform: async ({ atByte, bytes }, { wire }, response) => {
    const { status, headers } = await response.head;
    wire.head(status, headers);
    let begin = 0;
    for (let chunk = await response.next(); chunk; chunk = await response.next()) {
      const first = Math.max(0, atByte - begin);
      const end = Math.min(chunk.length, atByte + bytes - begin);
      for (let position = first; position < end; position += 1) {
        chunk.writeUInt8(chunk.readUInt8(position) ^ 0xff, position);
      }
      begin += chunk.length;
      await wire.write(chunk);
    }
    await wire.end();
  },
});

const rangePattern = /^bytes=(\d+)-(\d*)$/;

const shiftedRange = defineAction({
  kind: 'shifted-range',
  does: 'answers a Range with later bytes; Content-Range names the sent or the requested ones',
  entries: {
    byBytes: v.optional(whole(1, OFFSET_MAX_BYTES), 1),
    claims: v.optional(v.picklist(['sent', 'requested'], 'must be sent or requested'), 'sent'),
  },
  injectionPoints: ['body'],
  applies: (_given, call) => rangePattern.test(call.exchange.request.headers.range ?? ''),
  prepare: ({ byBytes }, { call }) => {
    const { headers } = call.exchange.request;
    const [, first, last] = rangePattern.exec(headers.range ?? '') ?? [];
    headers.range = `bytes=${Number(first) + byBytes}-${last === '' ? '' : Number(last) + byBytes}`;
  },
  fits: (_given, { status }) => status === 206,
  transform: async ({ byBytes, claims }, context, response) => {
    const head = await response.head;
    const range = headerOf(head, 'Content-Range') ?? '';
    const requested = range.replace(
      /(?<!\d)(\d+)-(\d+)/,
      (_, first: string, last: string) => `${Number(first) - byBytes}-${Number(last) - byBytes}`,
    );
    const contentRange = claims === 'sent' ? range : requested;
    context.wire.head(head.status, replaceHeaders(head, { 'Content-Range': contentRange }));
    await writeRest(context, response);
    await context.wire.end();
  },
});

/** A validator that no file of the server has. */
const otherValidator = '"changed-by-a-planned-fault"';

const changedValidator = defineAction({
  kind: 'changed-validator',
  does: 'answers as if the file had changed: ETag and Last-Modified differ, and preconditions fail',
  entries: {},
  injectionPoints: ['body'],
  prepare: (_given, { call }) => {
    const { headers } = call.exchange.request;
    for (const name of ['if-range', 'if-match', 'if-none-match'] as const) {
      if (headers[name] !== undefined) headers[name] = otherValidator;
    }
    delete headers['if-unmodified-since'];
    delete headers['if-modified-since'];
  },
  fits: (_given, head, call) => headerOf(head, 'ETag') !== undefined || isPrecondition(head, call),
  transform: async (_given, context, response) => {
    const head = await response.head;
    const changedHeaders = {
      ETag: otherValidator,
      'Last-Modified': new Date(context.tenant.clock.now()).toUTCString(),
    };
    const headers =
      headerOf(head, 'ETag') === undefined ? head.headers : replaceHeaders(head, changedHeaders);
    context.wire.head(head.status, headers);
    await writeRest(context, response);
    await context.wire.end();
  },
});

function isPrecondition({ status }: { status: number }, { exchange }: FaultCall): boolean {
  return status === 412 && exchange.request.headers['if-match'] !== undefined;
}

const resetUpload = defineAction({
  kind: 'reset-upload',
  does: 'cuts the connection with an RST once the given number of bytes of a streamed request body, or all, have arrived',
  entries: { afterBytes: v.optional(whole(1, OFFSET_MAX_BYTES), 1) },
  injectionPoints: ['before'],
  // Only a streamed body can be cut; any other body has already arrived.
  applies: (_given, { operation }) => operation.mediaType !== undefined,
  execute: async ({ afterBytes }, { call, wire }) => {
    const { request } = call.exchange;
    let receivedBytes = 0;
    const push = request.push.bind(request);
    Object.assign(request, {
      push: (chunk: Buffer | null) => {
        receivedBytes += chunk?.length ?? 0;
        if (receivedBytes >= afterBytes || chunk === null) wire.reset();
        return push(chunk);
      },
    });
    return 'continue';
  },
});

/** All actions of this file, in the order of the documentation. */
export const downloadActions: readonly Action[] = [
  corrupted,
  shiftedRange,
  changedValidator,
  resetUpload,
];
