/** The two ways into the pipeline for what is no part of the API: watching exchanges, and changing answers. */
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { SocketObserver } from '../connect/socket-observer.ts';
import type { AnswerRewriter } from '../http/answer.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import type { Tenant } from '../tenants/tenants.ts';
import type { Caller } from './callers.ts';
import type { RequestContext } from './context.ts';
import type { Interception } from './interception.ts';

/** What came to a protocol listener and could not be read as HTTP. */
export interface UnreadableRequest {
  readonly requestId: string;
  /** Node's name of the fault, such as HPE_INVALID_METHOD. */
  readonly code: string;
  /** What it was answered; 0 without an answer. */
  readonly status: number;
  /** The last piece that was read. */
  readonly piece: Buffer | undefined;
}

/** Is told of exchanges and changes nothing; must not throw. */
export interface ExchangeObserver extends SocketObserver {
  /** An operation was answered, or refused; the answer may still be on its way. */
  onAnswer?(context: RequestContext, status: number): void;
  /** An exchange is over, and its record is complete but for its place in a journal. */
  onEnd?(record: ExchangeRecord, tenant: Tenant): void;
  onUnreadable?(request: UnreadableRequest, tenant: Tenant): void;
}

/** May change, delay or cut answers. */
export interface ResponseTransform {
  /** False while it lets every request alone; asked for each one. */
  readonly isArmed?: boolean;
  /**
   * What it does to this request; nothing to let it alone. The caller has no device or user when
   * its token is not in order. `settled` is to be called once, with the status that the caller saw
   * in the end; 0 when it saw none.
   */
  intercept?(
    context: RequestContext,
    caller: Caller,
    settled: (status: number) => void,
  ): Interception | undefined;
  /** Writes an answer in another form. */
  readonly rewrite?: AnswerRewriter;
  /** An id for a request that came without one, made from a new UUID. */
  newRequestId?(uuid: string): string;
  /** Parameters of a path with ids in the form that the store knows. */
  readParameters?(
    operation: Operation,
    parameters: Readonly<Record<string, string>>,
  ): Record<string, string>;
}
