/** Reads a request's body up to a size limit, and checks its media type. */
import type { IncomingMessage } from 'node:http';
import type { ByteBudget, Holding } from './byte-budget.ts';
import { describeValue } from './problem-detail.ts';
import { type Refusal, refuse } from './refusal.ts';

const mediaTypePattern = /^\s*([A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+)\s*(;.*)?$/;

const mediaTypePath = 'header.Content-Type';

/** Thrown when the connection closes before the request was read or handled. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected';
}

/** The part of a body that arrived before its reading failed. */
export interface ReceivedPart {
  readonly bytes: number;
  /** The last bytes of the part, at most 64. */
  readonly end: Buffer;
}

/** The part that arrived of a body whose reading had not begun. */
export const nothingReceived: ReceivedPart = { bytes: 0, end: Buffer.alloc(0) };

/** Returns the refusal of a body that cannot be read to its end, from the part that arrived. */
type BodyFailure = (received: ReceivedPart) => Refusal;

/** Ends the reading of a request's body; see `failBody`. */
export type FailBody = typeof failBody;

/** Event on a request whose body cannot be read to its end. */
const bodyFailed = 'bodyFailed';
/** Failures of bodies that nobody has begun to read. */
const failures = new WeakMap<IncomingMessage, BodyFailure>();

/**
 * Makes the reader of a body refuse it because it cannot be read to its end. Returns false when
 * that reader cannot do so any more.
 */
export function failBody(request: IncomingMessage, failure: BodyFailure): boolean {
  if (request.readableFlowing !== null) return request.emit(bodyFailed, failure);
  failures.set(request, failure);
  return true;
}

/**
 * Calls the listener once with the refusal of a body that cannot be read to its end. For readers of
 * streamed bodies; `readBody` returns that refusal itself.
 */
export function watchBodyFailure(request: IncomingMessage, refuseBody: (refusal: Refusal) => void) {
  const failure = failures.get(request);
  if (failure) {
    refuseBody(failure(nothingReceived));
    return;
  }
  let bytes = 0;
  let end = nothingReceived.end;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    end = chunk.length < END_BYTES ? endOf(Buffer.concat([end, chunk])) : endOf(chunk);
  });
  request.once(bodyFailed, (fail: BodyFailure) => refuseBody(fail({ bytes, end })));
}

/** Kept bytes of the end of a part that arrived. */
const END_BYTES = 64;

function endOf(chunk: Buffer): Buffer {
  return Buffer.from(chunk.subarray(-END_BYTES));
}

/** Estimated memory overhead of one received chunk, in bytes. */
const CHUNK_BYTES = 256;

/**
 * The refusal for the request that has been in progress longest when the byte budget is exhausted.
 */
export const tooManyBytes = refuse.unavailable(
  'the server has reached its limit of bytes in unfinished requests; try again later',
);

/**
 * Returns the whole body; synchronously when it is already in memory. Returns 413 as soon as the
 * body is known to be too large, 503 when the byte budget is exhausted and this body is the oldest
 * in it, and the refusal of a body that cannot be read to its end.
 * @throws ClientDisconnected when the connection closes before the end of the body
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  incompleteTransfers: ByteBudget,
): Buffer | Refusal | Promise<Buffer | Refusal> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) return refuse.tooLarge(maxBytes, announced);
  if (isWhole(request)) return request.wholeBody;
  const failure = failures.get(request);
  if (failure) return failure(partOf([request.read() ?? nothingReceived.end]));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let receivedBytes = 0;
    let isOver = false;
    let transfer: Holding | undefined;
    const drop = (refusal: Refusal): void => {
      receivedBytes = Number.POSITIVE_INFINITY;
      chunks.length = 0;
      transfer?.set(0);
      resolve(refusal);
    };
    request.on(bodyFailed, (fail: BodyFailure) => drop(fail(partOf(chunks))));
    request.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
      if (receivedBytes > maxBytes) {
        drop(refuse.tooLarge(maxBytes));
        return;
      }
      chunks.push(chunk);
      // A body that is complete with its first chunk, as nearly all are, is never counted in the
      // budget; Node's end event comes later.
      if (receivedBytes === announced || request.complete) return;
      transfer ??= incompleteTransfers.open(() => drop(tooManyBytes));
      transfer.set(receivedBytes + chunks.length * CHUNK_BYTES);
    });
    request.on('end', () => {
      isOver = true;
      transfer?.set(0);
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    const cutOff = (): void => {
      // Every request emits close in the end; creating an error for each one costs as much as
      // reading its body.
      if (isOver) return;
      transfer?.set(0);
      reject(new ClientDisconnected('the connection closed before the end of the body'));
    };
    request.on('error', cutOff);
    request.on('close', cutOff);
  });
}

function partOf(chunks: readonly Buffer[]): ReceivedPart {
  const receivedBytes = Buffer.concat(chunks);
  return { bytes: receivedBytes.length, end: endOf(receivedBytes) };
}

/** A request that was created in memory, with its body complete. */
export interface WholeRequest extends IncomingMessage {
  readonly wholeBody: Buffer;
}

/** Returns true for a request that was created in memory. */
function isWhole(request: IncomingMessage): request is WholeRequest {
  return 'wholeBody' in request;
}

/**
 * Returns 415 for a body with a content coding: the server accepts none in requests (RFC 9110,
 * 15.5.16).
 */
export function checkCoding({ headers }: IncomingMessage): Refusal | undefined {
  const coding = headers['content-encoding'];
  if (coding === undefined || /^(?:\s|,|identity)*$/i.test(coding)) return undefined;
  return refuse.unsupportedCoding(coding);
}

/**
 * Returns undefined when the media type is one of the expected ones; 400 when it is missing or
 * malformed; otherwise 415.
 */
export function checkMediaType(
  request: IncomingMessage,
  expected: string | readonly string[],
): Refusal | undefined {
  const types = typeof expected === 'string' ? [expected] : expected;
  const acceptedTypes = types.join('" or "');
  const contentType = request.headers['content-type'];
  if (contentType === undefined) {
    const detail = { path: mediaTypePath, expected: types.join(' or '), actual: 'nothing' };
    return refuse.malformed(`the Content-Type header is missing; send "${acceptedTypes}"`, detail);
  }
  const mediaType = mediaTypePattern.exec(contentType)?.[1]?.toLowerCase();
  if (mediaType === undefined) {
    const detail = {
      path: mediaTypePath,
      expected: types.join(' or '),
      actual: describeValue(contentType),
    };
    return refuse.malformed(
      `the Content-Type header is malformed; send "${acceptedTypes}"`,
      detail,
    );
  }
  return types.includes(mediaType) ? undefined : refuse.unsupportedMediaType(mediaType, types);
}
