/** The record of one exchange: request and answer. Plain fields, filled in during processing. */
import type { IncomingMessage } from 'node:http';
import type { NoUpdate } from '../rules/no-update.ts';
import type { Refusal } from './refusal.ts';

/** A name with its value, or alternating names and values, as Node accepts headers. */
export type FlatHeaders = readonly (string | readonly string[])[];

/** A planned fault that took effect: its plan's name and what it did. */
export interface AppliedFault {
  readonly name: string;
  readonly act: string;
  /** Before the handler, after it, or inside the answer. */
  readonly phase: 'before' | 'after' | 'body';
}

/** A variation that took effect, and the rule that allows it. */
export interface AppliedVariation {
  readonly id: string;
  readonly rule: string;
}

/** Size of a record besides its texts and bodies: the object and its arrays. */
const RECORD_BYTES = 512;
const CHARACTERS_OF_HEADER = 48;

/** Each field is set where it becomes known; complete once it is in a journal. */
export class ExchangeRecord {
  readonly kind = 'exchange';
  readonly requestId: string;
  readonly method: string;
  /** Target as sent, with its query. */
  readonly url: string;
  /** Alternating names and values, as sent. */
  readonly headers: readonly string[];
  sequence = 0;
  /** True once observers were notified of it. */
  isComplete = false;
  countedBytes = 0;
  /** The tenant's time when it was answered, or when the last byte of a file or stream was sent. */
  atMs = 0;
  /** Real time from the first byte read to the start of the answer, in milliseconds. */
  tookMs = 0;
  /** The same to the end of a file or a stream; 0 for an answer in one piece. */
  streamedMs = 0;
  /** Monotonic system time, used for `tookMs`. */
  startedMs = 0;
  /** Absent when no operation was matched. */
  operation: string | undefined;
  deviceId: string | undefined;
  userId: string | undefined;
  /** At most the first `BODY_KEPT_BYTES` once it is in a journal. */
  body: Buffer | undefined;
  /** Length of the whole body, in bytes. */
  bodyBytes = 0;
  /** 0 until it is answered; it stays 0 when the connection was cut instead. */
  status = 0;
  answerHeaders: FlatHeaders = [];
  /** The answer, or the beginning of a long list, bounded as `body`; absent for other streams. */
  answerBody: string | Buffer | undefined;
  /** Length of the whole answer; for a file or a stream, the bytes handed to the connection. */
  answerBytes = 0;
  /** True for a file or a stream, which enters the journal once its last byte was sent. */
  isStreamed = false;
  /** True when the connection ended within the request, or within a file or a stream. */
  isCut = false;
  refusal: Refusal | undefined;
  /** Why a device that requested an update got none. */
  noUpdate: NoUpdate | undefined;
  fault: AppliedFault | undefined;
  /** Legal variations of the answer. */
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
      (this.answerBody?.length ?? 0)
    );
  }

  settle(): void {
    if (this.body !== undefined) {
      this.bodyBytes = this.body.length;
      this.body = keptBytes(this.body);
    }
    const { answerBody } = this;
    if (answerBody === undefined) return;
    // Those of a stream were counted as they were sent.
    if (!this.isStreamed) this.answerBytes = Buffer.byteLength(answerBody);
    this.answerBody = typeof answerBody === 'string' ? keptText(answerBody) : keptBytes(answerBody);
  }
}

/** Bytes kept of each body; the rest is only counted. */
export const BODY_KEPT_BYTES = 16_384;

/**
 * Returns the beginning as a copy, so that the rest can be freed; returns a short body as it is.
 */
export function keptBytes(bytes: Buffer): Buffer {
  return bytes.length <= BODY_KEPT_BYTES ? bytes : Buffer.from(bytes.subarray(0, BODY_KEPT_BYTES));
}

/** Returns the beginning of a text as bytes; a short text is returned as it is. */
export function keptText(text: string): string | Buffer {
  // A substring would keep the whole string in memory.
  return text.length <= BODY_KEPT_BYTES / 4 || Buffer.byteLength(text) <= BODY_KEPT_BYTES
    ? text
    : keptBytes(Buffer.from(text.slice(0, BODY_KEPT_BYTES)));
}
