/**
 * Streams a part of a file into a response. The stream reuses its buffers: a new off-heap buffer
 * for every chunk would make V8 run dozens of full garbage collections a second.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { plainFile } from '../../fixtures/base/plain-file.ts';

/** First and last offset in the file, both inclusive. */
export interface FilePart {
  readonly start: number;
  readonly end: number;
}

/** Opens a regular file. Rejects with NotAFile, or with the system's error. */
async function openPlain(path: string): Promise<FileHandle> {
  return open(plainFile(path));
}

/** A buffer that was passed on, and the total of bytes passed on up to its end. */
interface SentBuffer {
  readonly buffer: Buffer;
  readonly untilBytes: number;
}

const CHUNK_BYTES = 65_536;

/**
 * A stream of one file part. Pipe it into `response` only, and destroy it when the response closes.
 */
export class FileStream extends Readable {
  readonly #path: string;
  readonly #response: ServerResponse;
  readonly #end: number;
  readonly #handed: SentBuffer[] = [];
  #at: number;
  #handedBytes = 0;
  #file: FileHandle | undefined;

  constructor(path: string, { start, end }: FilePart, response: ServerResponse) {
    super({ highWaterMark: CHUNK_BYTES });
    this.#path = path;
    this.#response = response;
    this.#at = start;
    this.#end = end;
  }

  override _construct(done: (error?: Error) => void): void {
    openPlain(this.#path).then((file) => {
      this.#file = file;
      done();
    }, done);
  }

  override _read(): void {
    this.#next().then(
      (chunk) => this.push(chunk),
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const closed = this.#file?.close() ?? Promise.resolve();
    closed.then(() => done(error), done);
  }

  async #next(): Promise<Buffer | null> {
    const bytes = Math.min(CHUNK_BYTES, this.#end + 1 - this.#at);
    if (bytes <= 0 || !this.#file) return null;
    const buffer = this.#written() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const { bytesRead } = await this.#file.read(buffer, 0, bytes, this.#at);
    if (bytesRead === 0) return null;
    this.#at += bytesRead;
    this.#handedBytes += bytesRead;
    if (this.#isWrittenOnly) this.#handed.push({ buffer, untilBytes: this.#handedBytes });
    return buffer.subarray(0, bytesRead);
  }

  /** Returns the oldest buffer if all of its bytes have been sent, for reuse. */
  #written(): Buffer | undefined {
    if (!this.#isWrittenOnly) return undefined;
    const waitingBytes = this.readableLength + this.#response.writableLength;
    const [oldest] = this.#handed;
    if (!oldest || oldest.untilBytes > this.#handedBytes - waitingBytes) return undefined;
    this.#handed.shift();
    return oldest.buffer;
  }

  /**
   * False when `write` of the response was replaced, as injected faults and in-memory requests do:
   * the replacement may keep the buffers, so they must not be reused.
   */
  get #isWrittenOnly(): boolean {
    return this.#response.write === ServerResponse.prototype.write;
  }
}
