/** Types of requests and responses that are passed within one process. */

/** A request with its whole body. */
export interface MemoryRequest {
  readonly method: string;
  /** Path and query of the request. */
  readonly target: string;
  /** Value of the Host header, such as `127.0.0.1:8080`. */
  readonly host: string;
  /** Headers by name; each has one value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | null | undefined;
}

/** Header values by name; a list for a header that occurs more than once. */
export type ResponseHeaders = Record<string, string | string[]>;

/** Receives a response: `onHead`, any number of `onData`, then `onEnd`. */
export interface MemoryResponseReader {
  /** @param headers values by header name in lower case */
  onHead(status: number, headers: ResponseHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
}

/** Answers one request. The reader may be called before this function returns. */
export type MemoryListener = (request: MemoryRequest, reader: MemoryResponseReader) => void;
