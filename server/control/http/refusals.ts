/** Refusals of the control listener. */
import type { Response } from 'express';

/** Why a request is not done. */
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
 * Ends the request with an error body, which has the given members as well.
 * @throws ControlRefusal always; `faults` answers it
 */
export function refuse(status: number, error: string, members: object = {}): never {
  throw new ControlRefusal(status, error, members);
}

/** Refuses with 503 a request that exceeds a limit now, and closes the connection. */
export function refuseForNow(response: Response, error: string): never {
  response.set({ 'Retry-After': '5', Connection: 'close' });
  refuse(503, `${error}; try again later`);
}
