/**
 * The two extension points of the pipeline for test features: observing exchanges, and changing
 * answers.
 */
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { SocketObserver } from '../connect/socket-observer.ts';
import type { AnswerRewriter } from '../http/answer.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { Tenant } from '../tenants/tenants.ts';
import type { Caller } from './callers.ts';
import type { RequestContext } from './context.ts';
import type { Interception } from './interception.ts';

/** Input to a protocol listener that could not be parsed as HTTP. */
export interface UnreadableRequest {
  readonly requestId: string;
  /** Node's error code, such as HPE_INVALID_METHOD. */
  readonly code: string;
  /** Status of the answer; 0 without an answer. */
  readonly status: number;
  /** The last piece that was read. */
  readonly piece: Buffer | undefined;
}

/** Observes exchanges and changes nothing; must not throw. */
export interface ExchangeObserver extends SocketObserver {
  /** Called when an operation was answered or refused; the answer may still be in transit. */
  onAnswer?(context: RequestContext, status: number): void;
  /**
   * Called when an exchange is over and its record is complete except for its place in a journal.
   */
  onEnd?(record: ExchangeRecord, tenant: Tenant): void;
  onUnreadable?(request: UnreadableRequest, tenant: Tenant): void;
}

/** May change, delay or cut answers. */
export interface ResponseTransform {
  /** False while it changes no request; read for each one. */
  readonly isArmed?: boolean;
  /**
   * Returns what it does to this request, or nothing. The caller has no device or user when its
   * token is invalid. `settled` must be called once, with the status that the caller finally saw; 0
   * when it saw none.
   */
  intercept?(
    context: RequestContext,
    caller: Caller,
    settled: (status: number) => void,
  ): Interception | undefined;
  /** Writes an answer in another form. */
  readonly rewrite?: AnswerRewriter;
  /** Returns an id for a request without one, derived from a new UUID. */
  newRequestId?(uuid: string): string;
  /** Returns path parameters with ids in the form that the store uses. */
  readParameters?(
    operation: Operation,
    parameters: Readonly<Record<string, string>>,
  ): Record<string, string>;
}
