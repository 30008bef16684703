/**
 * The record of one exchange: a request and its response. Its fields are filled in during
 * processing.
 */
import type { IncomingMessage } from 'node:http';
import type { FaultAlteration } from '../../fixtures/control/client-event.ts';
import type { NoUpdate } from '../rules/no-update.ts';
import type { Refusal } from './refusal.ts';

/** Header names and values, alternating, as Node accepts them. */
export type FlatHeaders = readonly (string | readonly string[])[];

/** An injected fault that took effect: the name of its plan, and its effect. */
export interface AppliedFault {
  readonly name: string;
  readonly act: string;
  /** When the fault acts: before the handler, after it, or inside the body of the response. */
  readonly when: 'before' | 'after' | 'body';
  readonly alters: FaultAlteration | undefined;
}

/** A variation of the response that took effect, and the rule of the contract that allows it. */
export interface AppliedVariation {
  readonly id: string;
  readonly rule: string;
}

/** Estimated memory of a record besides its texts and bodies, in bytes. */
const RECORD_BYTES = 512;
const CHARACTERS_OF_HEADER = 48;

/**
 * The record of one exchange. Each field is set as soon as its value is known; all are set once the
 * record is in a journal.
 */
export class ExchangeRecord {
  readonly kind = 'exchange';
  readonly requestId: string;
  readonly method: string;
  /** Request target as sent, with its query. */
  readonly url: string;
  /** Header names and values, alternating, as sent. */
  readonly headers: readonly string[];
  sequence = 0;
  /** True once observers were notified of this record. */
  isComplete = false;
  countedBytes = 0;
  /**
   * The tenant's time, in milliseconds since the Unix epoch, when the response or the last byte of
   * a file or stream was sent.
   */
  atMs = 0;
  /** System time from the first byte read to the start of the response, in milliseconds. */
  tookMs = 0;
  /**
   * System time from the first byte read to the end of a file or stream, in milliseconds; 0 for a
   * response in one piece.
   */
  streamedMs = 0;
  /** Monotonic system time at the first byte read, in milliseconds; the basis of `tookMs`. */
  startedMs = 0;
  /** ID of the operation; undefined when no operation matched. */
  operation: string | undefined;
  deviceId: string | undefined;
  userId: string | undefined;
  /** The request body; truncated to `BODY_KEPT_BYTES` once the record is in a journal. */
  body: Buffer | undefined;
  /** Length of the whole request body, in bytes. */
  bodyBytes = 0;
  /**
   * Status code of the response; 0 until it is sent, or when the connection was cut without a
   * response.
   */
  status = 0;
  responseHeaders: FlatHeaders = [];
  /**
   * The body of the response, or the beginning of a long list, truncated as `body` is; undefined
   * for other streams.
   */
  responseBody: string | Buffer | undefined;
  /**
   * Length of the whole response in bytes; for a file or stream, the bytes passed to the
   * connection.
   */
  responseBytes = 0;
  /** Number of bytes of the body that a planned fault has sent; undefined without such a fault. */
  faultyBytes: number | undefined;
  /** True for a file or stream; its record enters the journal after its last byte was sent. */
  isStreamed = false;
  /** True when the connection closed during the request, or during a file or stream. */
  isIncomplete = false;
  refusal: Refusal | undefined;
  /** The reason why a device that requested an update received none. */
  noUpdate: NoUpdate | undefined;
  fault: AppliedFault | undefined;
  /** The variations that were applied to the response. */
  varied: readonly AppliedVariation[] | undefined;

  constructor(request: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>, requestId: string) {
    this.requestId = requestId;
    this.method = request.method ?? '';
    this.url = request.url ?? '';
    this.headers = request.rawHeaders;
  }

  get sizeBytes(): number {
    return (
      RECORD_BYTES +
      this.url.length +
      this.headers.length * CHARACTERS_OF_HEADER +
      (this.body?.length ?? 0) +
      (this.responseBody?.length ?? 0)
    );
  }

  settle(): void {
    if (this.body !== undefined) {
      this.bodyBytes = this.body.length;
      this.body = keptBytes(this.body);
    }
    // The handler has written more than what the fault let through.
    if (this.isStreamed) this.responseBytes = this.faultyBytes ?? this.responseBytes;
    const { responseBody } = this;
    if (responseBody === undefined) return;
    // The bytes of a stream were counted while they were sent.
    if (!this.isStreamed) this.responseBytes = Buffer.byteLength(responseBody);
    this.responseBody =
      typeof responseBody === 'string' ? textStart(responseBody) : keptBytes(responseBody);
  }
}

/** Maximum number of bytes kept of each body. */
export const BODY_KEPT_BYTES = 16_384;

/**
 * Returns the beginning as a copy, so that the rest can be freed; returns a short body unchanged.
 */
export function keptBytes(bytes: Buffer): Buffer {
  return bytes.length <= BODY_KEPT_BYTES ? bytes : Buffer.from(bytes.subarray(0, BODY_KEPT_BYTES));
}

/** Returns the beginning of a string as bytes; returns a short string unchanged. */
export function textStart(text: string): string | Buffer {
  // A substring would keep the whole string in memory.
  return text.length <= BODY_KEPT_BYTES / 4 || Buffer.byteLength(text) <= BODY_KEPT_BYTES
    ? text
    : keptBytes(Buffer.from(text.slice(0, BODY_KEPT_BYTES)));
}
