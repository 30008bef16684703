/** Input on the protocol listener that is not valid HTTP. */
import type { ParseFailure } from '../http/parse-failure.ts';
import type { EntryFields } from './entry-fields.ts';

const RECORD_BYTES = 256;

/**
 * Stores only the request line of the bytes and the masked text of the cause, because a part of a
 * header may be a part of a secret.
 */
export class UnparsableRecord implements EntryFields {
  readonly kind = 'unparsable';
  sequence = 0;
  countedBytes = 0;
  readonly atMs: number;
  readonly requestId: string;
  /** Why they cannot be read, with secrets masked. */
  readonly parseFailure: ParseFailure;
  /** HTTP status of the response; 0 if there was none. */
  readonly status: number;
  /** Length of the last chunk that was read, in bytes. */
  readonly bytes: number;

  constructor(facts: {
    atMs: number;
    requestId: string;
    parseFailure: ParseFailure;
    status: number;
    chunk: Buffer | undefined;
  }) {
    this.atMs = facts.atMs;
    this.requestId = facts.requestId;
    this.parseFailure = facts.parseFailure;
    this.status = facts.status;
    this.bytes = facts.chunk?.length ?? 0;
  }

  /** The request line; undefined if the bytes have none. */
  get line(): string | undefined {
    return this.parseFailure.line;
  }

  get sizeBytes(): number {
    return RECORD_BYTES + (this.line?.length ?? 0) + this.parseFailure.error.length;
  }

  settle(): void {
    // The constructor has already applied the limits.
  }
}
