/**
 * Interface for carrying requests to a server other than over connections: in virtual time they go
 * directly to a server in the same process.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { AttemptSubject } from './attempt.ts';

/** The part of undici's `Dispatcher` interface that the transport uses. */
export interface RequestDispatcher {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
  request(options: Dispatcher.RequestOptions): Promise<DispatchedResponse>;
  /** Absent in the same process, where requests wait for no connection. */
  compose?(interceptor: Dispatcher.DispatcherComposeInterceptor): RequestDispatcher;
}

/**
 * Status and headers of a response, with its unread body. The owner must read or destroy the body.
 */
export interface DispatchedResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** The caller and the operation of a request. */
export type InProcessSubject = Pick<AttemptSubject, 'operation' | 'caller'>;

/** Carries requests to a server in place of connections. */
export interface InProcessTransport {
  /** Returns the dispatcher for this request. */
  over(subject: InProcessSubject): RequestDispatcher;
  /** Number of requests and responses in transit that wait for virtual time to pass. */
  readonly inFlightCount: number;
}
