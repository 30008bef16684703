/** Reads a request's body up to a size limit, and checks its media type. */
import type { IncomingMessage } from 'node:http';
import type { ByteBudget, HeldBytes } from './byte-budget.ts';
import { shown } from './problem-detail.ts';
import { type Refusal, refuse } from './refusal.ts';

const mediaTypePattern = /^\s*([A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+)\s*(;.*)?$/;

const mediaTypePath = 'header.Content-Type';

/** Thrown when the connection closes before the request was read or handled. */
export class RequestCutOff extends Error {
  override readonly name = 'RequestCutOff';
}

/** Returns the refusal of a body that cannot be read to its end, from the part that arrived. */
type BodyFailure = (received: Buffer) => Refusal;

/** Ends the reading of a request's body; see `failBody`. */
export type FailBody = typeof failBody;

/** Event on a request whose body cannot be read to its end. */
const bodyFailed = 'bodyFailed';
/** Failures of bodies that nobody has begun to read. */
const failures = new WeakMap<IncomingMessage, BodyFailure>();

/**
 * Makes `readBody` return a refusal for a body that cannot be read to its end. Returns false when
 * something else is reading the body.
 */
export function failBody(request: IncomingMessage, failure: BodyFailure): boolean {
  if (request.readableFlowing !== null) return request.emit(bodyFailed, failure);
  failures.set(request, failure);
  return true;
}

/** Estimated memory overhead of one received chunk, in bytes. */
const PIECE_BYTES = 256;

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
 * @throws RequestCutOff when the connection closes before the end of the body
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  underway: ByteBudget,
): Buffer | Refusal | Promise<Buffer | Refusal> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) return refuse.tooLarge(maxBytes, announced);
  if (isWhole(request)) return request.wholeBody;
  const failure = failures.get(request);
  if (failure) return failure(request.read() ?? Buffer.alloc(0));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    let isOver = false;
    let held: HeldBytes | undefined;
    const drop = (refusal: Refusal): void => {
      received = Number.POSITIVE_INFINITY;
      chunks.length = 0;
      held?.set(0);
      resolve(refusal);
    };
    request.on(bodyFailed, (fail: BodyFailure) => drop(fail(Buffer.concat(chunks))));
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) {
        drop(refuse.tooLarge(maxBytes));
        return;
      }
      chunks.push(chunk);
      // A body that is complete with its first chunk, as nearly all are, is never counted in the
      // budget; Node's end event comes later.
      if (received === announced || request.complete) return;
      held ??= underway.open(() => drop(tooManyBytes));
      held.set(received + chunks.length * PIECE_BYTES);
    });
    request.on('end', () => {
      isOver = true;
      held?.set(0);
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    const cutOff = (): void => {
      // Every request emits close in the end; creating an error for each one costs as much as
      // reading its body.
      if (isOver) return;
      held?.set(0);
      reject(new RequestCutOff('the connection closed before the end of the body'));
    };
    request.on('error', cutOff);
    request.on('close', cutOff);
  });
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
  const wanted = types.join('" or "');
  const given = request.headers['content-type'];
  if (given === undefined) {
    const detail = { path: mediaTypePath, expected: types.join(' or '), actual: 'nothing' };
    return refuse.malformed(`the Content-Type header is missing; send "${wanted}"`, detail);
  }
  const mediaType = mediaTypePattern.exec(given)?.[1]?.toLowerCase();
  if (mediaType === undefined) {
    const detail = { path: mediaTypePath, expected: types.join(' or '), actual: shown(given) };
    return refuse.malformed(`the Content-Type header is malformed; send "${wanted}"`, detail);
  }
  return types.includes(mediaType) ? undefined : refuse.unsupportedMediaType(mediaType, types);
}
