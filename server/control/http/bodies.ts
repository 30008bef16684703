/** Reads request bodies on the control listener, with limits. */
import express, { type RequestHandler } from 'express';
import { Semaphore } from '../../http/open-files.ts';
import { refuseForNow } from './refusals.ts';

/** Maximum length of a body. No command of the control API needs more. */
export const BODY_MAX_BYTES = 16_384;
/**
 * Maximum length of hand-written texts, such as plans and world files, and of bodies for the
 * signature doctor.
 */
export const TEXT_MAX_BYTES = 1024 * 1024;
/** Maximum size of all unfinished bodies together. */
const IN_FLIGHT_MAX_BYTES = 16 * TEXT_MAX_BYTES;

/** Limits the total size of all bodies that are being received. */
export function boundBodies(): RequestHandler {
  const inFlight = new Semaphore(IN_FLIGHT_MAX_BYTES);
  return (request, response, next) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    // A body without an announced length is counted with the maximum length.
    const bytes = Math.min(coding === undefined ? Number(length) : Infinity, TEXT_MAX_BYTES);
    if (!inFlight.tryAcquire(bytes))
      refuseForNow(response, 'too many bytes in unfinished requests');
    request.once('close', () => inFlight.release(bytes));
    next();
  };
}

/** Reads JSON bodies of at most `BODY_MAX_BYTES`, or of `TEXT_MAX_BYTES` if `isLong`. */
export function jsonBodies(isLong = false): RequestHandler {
  const limit = isLong ? TEXT_MAX_BYTES : BODY_MAX_BYTES;
  return express.json({ limit, strict: true, inflate: false });
}

/** Reads bodies of hand-written text, YAML or JSON, of at most `TEXT_MAX_BYTES`. */
export function textBodies(): RequestHandler {
  return express.text({ limit: TEXT_MAX_BYTES, type: () => true, inflate: false });
}
