/** The error handler of the control listener. */
import type { ErrorRequestHandler } from 'express';
import type { Log } from '../../pipeline/log.ts';
import { BODY_MAX_BYTES, TEXT_MAX_BYTES } from './bodies.ts';
import { ControlRefusal } from './refusals.ts';

/**
 * Responds to refusals and to unreadable bodies with their own status, and to any other error with
 * 500. `refusalOf` recognizes further errors that are refusals.
 */
export function errorHandler(
  log: Log,
  refusalOf: (error: unknown) => { status: number; error: string } | undefined,
): ErrorRequestHandler {
  return (thrown: unknown, _request, response, next) => {
    if (response.headersSent) {
      log.error('the control listener had an internal error', thrown);
      next(thrown);
      return;
    }
    const respond = (status: number, error: string, members = {}): void => {
      response.status(status).json({ error, ...members });
    };
    if (thrown instanceof ControlRefusal) {
      respond(thrown.status, thrown.message, thrown.members);
      return;
    }
    const refusal = refusalOf(thrown);
    if (refusal) {
      respond(refusal.status, refusal.error);
      return;
    }
    const status = statusOf(thrown);
    if (status === undefined) log.error('the control listener had an internal error', thrown);
    respond(status ?? 500, status === undefined ? 'internal error' : sentences[status]);
  };
}

const sentences = {
  400: 'the request is malformed; send a JSON body and a path with valid percent-encoding',
  413: `the body is larger than the limit: ${BODY_MAX_BYTES} bytes, ${TEXT_MAX_BYTES} for a fault plan, a world file or a signed body`,
  415: 'the body must be JSON in UTF-8, not compressed',
} as const;

function statusOf(error: unknown): keyof typeof sentences | undefined {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return status === 400 || status === 413 || status === 415 ? status : undefined;
}
