/**
 * Carries requests to a server: over connections, or in virtual time directly to a server in the
 * same process.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { AttemptSubject } from './attempt.ts';

/** The part of undici's interface that the transport uses. */
export interface Dispatching {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
  request(options: Dispatcher.RequestOptions): Promise<CarriedAnswer>;
}

/** The head of an answer, and its body to be read or destroyed. */
export interface CarriedAnswer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** The caller and the operation of a request. */
export type CarrierSubject = Pick<AttemptSubject, 'operation' | 'caller'>;

/** Carries requests in place of connections. */
export interface Carrier {
  /** Returns the dispatcher for this request. */
  over(subject: CarrierSubject): Dispatching;
  /** Number of requests and answers in transit that wait for time to pass. */
  readonly onTheWayCount: number;
}
