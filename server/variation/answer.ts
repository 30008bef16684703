/** The input and output of a variation: plain values, independent of the server. */
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { AppliedVariation } from '../http/exchange-record.ts';
import type { TextForm } from './json-text.ts';

export type HeaderLine = readonly [name: string, value: string];

/** An answer before it is written. */
export interface Answer {
  /** Absent when the request found none. */
  readonly operation?: Operation | undefined;
  readonly requestId: string;
  /** True when the caller sent no id, so that the server made this one. */
  readonly ownRequestId?: boolean;
  readonly status: number;
  readonly headers: readonly HeaderLine[];
  /** What is written as JSON; absent when the answer has no body, or one of another kind. */
  readonly body?: unknown;
}

/** An answer in a form that means the same. */
export interface VariedAnswer {
  /** As they go over the wire, one a line; `Content-Length`, where it was given, fits the text. */
  readonly headers: readonly HeaderLine[];
  /** Absent when the answer has no JSON body. */
  readonly text?: string;
  /** True when the body is sent in chunks, without Content-Length. */
  readonly chunked: boolean;
  readonly applied: readonly AppliedVariation[];
}

/** An answer on its way through the table of variations. */
export interface Draft extends Answer {
  readonly form: TextForm;
  readonly chunked: boolean;
}
