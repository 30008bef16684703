/**
 * The two extension points of the pipeline for test features: observing exchanges, and changing
 * responses.
 */
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { SocketObserver } from '../connect/socket-observer.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { ParseFailure } from '../http/parse-failure.ts';
import type { ResponseRewriter } from '../http/response.ts';
import type { Tenant } from '../tenants/tenants.ts';
import type { Caller } from './callers.ts';
import type { RequestContext } from './context.ts';
import type { Interception } from './interception.ts';

/** Input to a protocol listener that could not be parsed as HTTP. */
export interface UnparsableRequest {
  readonly requestId: string;
  readonly parseFailure: ParseFailure;
  /** Status of the response; 0 without a response. */
  readonly status: number;
  /** The last chunk that was read. */
  readonly chunk: Buffer | undefined;
}

/** Observes exchanges without changing them. Its methods must not throw. */
export interface ExchangeObserver extends SocketObserver {
  /** Called when an operation was answered or refused; the response may not be fully sent. */
  onResponse?(context: RequestContext, status: number): void;
  /**
   * Called when an exchange is over; its record is complete except for its position in a journal.
   */
  onEnd?(record: ExchangeRecord, tenant: Tenant): void;
  onUnparsable?(request: UnparsableRequest, tenant: Tenant): void;
}

/** Changes, delays or cuts responses. */
export interface ResponseTransform {
  /** False while the transform affects no request; read for each request. */
  readonly isActive?: boolean;
  /**
   * Returns the transform's effect on this request, or undefined for none. The caller has no device
   * or user when its token is invalid. The transform must call `onStatusSent` once, with the status
   * that the caller finally saw, or 0 when the caller saw none.
   */
  intercept?(
    context: RequestContext,
    caller: Caller,
    onStatusSent: (status: number) => void,
  ): Interception | undefined;
  /** Writes responses in another way that the contract allows; read for each response. */
  readonly rewrite?: ResponseRewriter | undefined;
  /** Returns the ID of a request that brings none, derived from a new UUID. */
  newRequestId?(uuid: string): string;
  /** Returns the path parameters with IDs in the format that the store uses, if they change. */
  readParameters?(
    operation: Operation,
    parameters: Readonly<Record<string, string>>,
  ): Record<string, string> | undefined;
}
