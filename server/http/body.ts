/** Reads a request's body within a limit, and checks its media type. */
import type { IncomingMessage } from 'node:http';
import type { ByteBudget, Holding } from './byte-budget.ts';
import { shown } from './problem-detail.ts';
import { type Refusal, refuse } from './refusal.ts';

const mediaTypePattern = /^\s*([A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+)\s*(;.*)?$/;

const mediaTypePath = 'header.Content-Type';

/** The connection closed before the request was read completely, or handled. */
export class RequestCutOff extends Error {
  override readonly name = 'RequestCutOff';
}

/** Overhead of a piece besides its bytes. */
const PIECE_BYTES = 256;

/** The response to the longest-running transfer when others need its memory. */
export const tooManyBytes = refuse.unavailable(
  'the server has reached its limit of bytes in unfinished requests; try again later',
);

/**
 * Returns the whole body, at once where it need not be waited for; 413 as soon as it is known to be
 * too large, 503 when it has to make room for others. @throws RequestCutOff
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  underway: ByteBudget,
): Buffer | Refusal | Promise<Buffer | Refusal> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) return refuse.tooLarge(maxBytes, announced);
  if (isWhole(request)) return request.wholeBody;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    let isOver = false;
    let held: Holding | undefined;
    const drop = (refusal: Refusal): void => {
      received = Number.POSITIVE_INFINITY;
      chunks.length = 0;
      held?.set(0);
      resolve(refusal);
    };
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) {
        drop(refuse.tooLarge(maxBytes));
        return;
      }
      chunks.push(chunk);
      // A complete body, as nearly every one is at once, is not in progress; Node tells of the end
      // of its request only after this.
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
      // Every request closes, in the end; a fault for each of them costs as much as its body.
      if (isOver) return;
      held?.set(0);
      reject(new RequestCutOff('the connection closed before the end of the body'));
    };
    request.on('error', cutOff);
    request.on('close', cutOff);
  });
}

/** A request that has never been on a connection: nothing of its body is still to arrive. */
export interface WholeRequest extends IncomingMessage {
  readonly wholeBody: Buffer;
}

/** True for a request that was handed over in memory. */
function isWhole(request: IncomingMessage): request is WholeRequest {
  return 'wholeBody' in request;
}

/** Returns 415 for a body in a content coding: none is taken in requests (RFC 9110, 15.5.16). */
export function checkCoding({ headers }: IncomingMessage): Refusal | undefined {
  const coding = headers['content-encoding'];
  if (coding === undefined || /^(?:\s|,|identity)*$/i.test(coding)) return undefined;
  return refuse.unsupportedCoding(coding);
}

/**
 * Returns nothing when the media type is an expected one; 400 when missing or malformed, otherwise
 * 415.
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
