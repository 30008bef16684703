/** Input and output of a variation. They are plain values, independent of the server. */
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { AppliedVariation } from '../http/exchange-record.ts';
import type { JsonStyle } from './json-text.ts';

export type HeaderLine = readonly [name: string, value: string];

/** A response before it is written. */
export interface PendingResponse {
  /** Absent if the request matched no operation. */
  readonly operation?: Operation | undefined;
  readonly requestId: string;
  /** True if the caller sent no request ID, so that the server generated this one. */
  readonly isRequestIdGenerated?: boolean;
  readonly status: number;
  readonly headers: readonly HeaderLine[];
  /** The JSON value of the body; absent if the response has no body or one of another type. */
  readonly body?: unknown;
}

/** A response written differently with the same meaning. */
export interface VariedResponse {
  /** The header lines as they are sent. `Content-Length`, if present, is the length of the text. */
  readonly headers: readonly HeaderLine[];
  /** Absent if the response has no JSON body. */
  readonly text?: string;
  /** True if the body is sent in chunks, without Content-Length. */
  readonly chunked: boolean;
  readonly applied: readonly AppliedVariation[];
}

/** A response while the variations are applied to it. */
export interface ResponseDraft extends PendingResponse {
  readonly jsonStyle: JsonStyle;
  readonly chunked: boolean;
}
