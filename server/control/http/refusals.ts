/** Refusals of the control listener. */
import type { Response } from 'express';

/** An error response of the control listener, as an exception. */
export class ControlRefusal extends Error {
  override readonly name = 'ControlRefusal';
  readonly status: number;
  readonly members: object;

  constructor(status: number, error: string, members: object) {
    super(error);
    this.status = status;
    this.members = members;
  }
}

/**
 * Throws a refusal with an error body, to which the given members are added.
 * @throws ControlRefusal always; `error-handler.ts` responds to it
 */
export function throwRefusal(status: number, error: string, members: object = {}): never {
  throw new ControlRefusal(status, error, members);
}

/** Refuses with 503 a request that currently exceeds a limit, and closes the connection. */
export function refuseForNow(response: Response, error: string): never {
  response.set({ 'Retry-After': '5', Connection: 'close' });
  throwRefusal(503, `${error}; try again later`);
}
