/** The log of one update, which the device uploads when the update fails. Spec: DeploymentLog */
import { limits } from '../../fixtures/contract/limits.ts';
import type { LogLevel, LogLine } from '../behaviours/behaviour.ts';

/** Bytes of an upload reserved for its JSON envelope and the note about dropped lines. */
const SPARE_BYTES = 4096;
const UPLOAD_MAX_BYTES = limits.bodyMaxBytes - SPARE_BYTES;

/**
 * Collects lines with their times. When one upload cannot hold them all, the oldest are dropped.
 */
export class UpdateLog {
  readonly #nowMs: () => number;
  readonly #lines: LogLine[] = [];
  #dropped = 0;
  #bytes = 0;

  /** @param nowMs returns the time of the device's clock, in milliseconds since the Unix epoch */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  add(level: LogLevel, message: string): void {
    const line = { timestamp: this.#timestamp(), level, message };
    this.#lines.push(line);
    this.#bytes += bytesOf(line);
    while (this.#bytes > UPLOAD_MAX_BYTES) this.#dropOldest();
  }

  /** Returns the body of the log upload. */
  body(): { messages: LogLine[] } {
    if (this.#dropped === 0) return { messages: this.#lines };
    const message = `${this.#dropped} earlier lines were dropped`;
    return {
      messages: [{ timestamp: this.#timestamp(), level: 'warning', message }, ...this.#lines],
    };
  }

  #dropOldest(): void {
    const [oldest] = this.#lines.splice(0, 1);
    if (oldest) this.#bytes -= bytesOf(oldest);
    this.#dropped++;
  }

  #timestamp(): string {
    return new Date(this.#nowMs()).toISOString();
  }
}

/** Returns the bytes of a line in the upload, including the comma that follows it. */
function bytesOf(line: LogLine): number {
  return Buffer.byteLength(JSON.stringify(line)) + 1;
}
