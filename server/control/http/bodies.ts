/** Reads bodies on the control listener, with their limits. */
import express, { type RequestHandler } from 'express';
import { Semaphore } from '../../http/open-files.ts';
import { refuseForNow } from './refusals.ts';

/** Bytes of a body; nothing that is steered here needs more. */
export const BODY_MAX_BYTES = 16_384;
/** The same of plans and start states that people write, and of bodies for the doctor. */
export const TEXT_MAX_BYTES = 1024 * 1024;
/** Maximum size of all incomplete bodies together. */
const UNDERWAY_MAX_BYTES = 16 * TEXT_MAX_BYTES;

/** Limits the bytes of all bodies that are being received. */
export function boundBodies(): RequestHandler {
  const underway = new Semaphore(UNDERWAY_MAX_BYTES);
  return (request, response, next) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    // What announces no length may become as long as any.
    const bytes = Math.min(coding === undefined ? Number(length) : Infinity, TEXT_MAX_BYTES);
    if (!underway.tryAcquire(bytes))
      refuseForNow(response, 'too many bytes in unfinished requests');
    request.once('close', () => underway.release(bytes));
    next();
  };
}

/** Reads JSON bodies of at most `BODY_MAX_BYTES`, or of `TEXT_MAX_BYTES` where they are long. */
export function jsonBodies(isLong = false): RequestHandler {
  const limit = isLong ? TEXT_MAX_BYTES : BODY_MAX_BYTES;
  return express.json({ limit, strict: true, inflate: false });
}

/** Reads bodies of hand-written text, YAML or JSON, of at most `TEXT_MAX_BYTES`. */
export function textBodies(): RequestHandler {
  return express.text({ limit: TEXT_MAX_BYTES, type: () => true, inflate: false });
}
