/** The log of one update, which the device uploads when the update fails. Spec: DeploymentLog */
import { limits } from '../../fixtures/contract/limits.ts';
import type { LogLevel, LogLine } from '../behaviours/behaviour.ts';

/** Upload bytes reserved for the envelope and for that note. */
const SPARE_BYTES = 4096;
const UPLOAD_MAX_BYTES = limits.bodyMaxBytes - SPARE_BYTES;

/** Collects timestamped lines; when there are too many for one upload, the oldest are dropped. */
export class UpdateLog {
  readonly #nowMs: () => number;
  readonly #lines: LogLine[] = [];
  #dropped = 0;
  #bytes = 0;

  /** @param nowMs returns the device's own time, in milliseconds since the Unix epoch */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  add(level: LogLevel, message: string): void {
    const line = { timestamp: this.#timestamp(), level, message };
    this.#lines.push(line);
    this.#bytes += bytesOf(line);
    while (this.#bytes > UPLOAD_MAX_BYTES) this.#dropOldest();
  }

  /** Returns the log in the form of the upload. */
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

/** Includes the comma after it. */
function bytesOf(line: LogLine): number {
  return Buffer.byteLength(JSON.stringify(line)) + 1;
}
