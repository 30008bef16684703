/** Requests and answers that are passed within a process, as the caller sees them. */

/** A request as a whole. */
export interface MemoryRequest {
  readonly method: string;
  /** Path and query of the request. */
  readonly target: string;
  /** As the Host header would have it, such as `127.0.0.1:8080`. */
  readonly host: string;
  /** Headers by name, each with one value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | null | undefined;
}

/** By name; a list where a header comes more than once. */
export type AnswerHeaders = Record<string, string | string[]>;

/** Receives the answer: head, data, end, in this order. */
export interface MemoryAnswerReader {
  /** @param headers by name in lower case */
  onHead(status: number, headers: AnswerHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
}

/** Answers one request; the answer may begin before it returns. */
export type MemoryListener = (request: MemoryRequest, reader: MemoryAnswerReader) => void;
