/** Input on the protocol listener that is not valid HTTP. */
import type { EntryFields } from './entry-fields.ts';

const RECORD_BYTES = 256;
const LINE_MAX_CHARACTERS = 512;
const requestLine = /^[A-Z]{1,20} [^ \r\n]+( HTTP\/\d\.\d)?(?=[\r\n]|$)/;

/**
 * Stores only the request line of the bytes, because a part of a header may be a part of a secret.
 */
export class UnreadableRecord implements EntryFields {
  readonly kind = 'unreadable';
  sequence = 0;
  countedBytes = 0;
  readonly atMs: number;
  readonly requestId: string;
  /** Node's error code, such as HPE_INVALID_METHOD. */
  readonly code: string;
  /** HTTP status of the response. */
  readonly status: number;
  /** The request line; absent if the bytes do not start with one. */
  readonly line: string | undefined;
  /** Length of the last chunk that was read, in bytes. */
  readonly bytes: number;

  constructor(facts: {
    atMs: number;
    requestId: string;
    code: string;
    status: number;
    piece: Buffer | undefined;
  }) {
    this.atMs = facts.atMs;
    this.requestId = facts.requestId;
    this.code = facts.code;
    this.status = facts.status;
    this.bytes = facts.piece?.length ?? 0;
    const head = facts.piece?.subarray(0, LINE_MAX_CHARACTERS).toString('latin1') ?? '';
    this.line = requestLine.exec(head)?.[0];
  }

  get sizeBytes(): number {
    return RECORD_BYTES + (this.line?.length ?? 0);
  }

  settle(): void {
    // The constructor has already applied the limits.
  }
}
