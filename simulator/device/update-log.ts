/** The log of one update, as the device uploads it when the update fails. Spec: DeploymentLog */
import { limits } from '../../fixtures/contract/limits.ts';
import type { LogLevel, LogLine } from '../behaviours/behaviour.ts';

/** Lines that are kept; one of those that may be sent tells of the others. */
const LINES_MAX = limits.logMessagesMax - 1;
/** Bytes of the upload that are kept free for its frame and for that line. */
const SPARE_BYTES = 4096;
const UPLOAD_MAX_BYTES = limits.bodyMaxBytes - SPARE_BYTES;

/** Collects lines with their time; when there are too many for one upload, the oldest go. */
export class UpdateLog {
  readonly #nowMs: () => number;
  readonly #lines: LogLine[] = [];
  #dropped = 0;
  #bytes = 0;

  /** @param nowMs the device's own time, in milliseconds since the Unix epoch */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  add(level: LogLevel, message: string): void {
    const line = { timestamp: this.#timestamp(), level, message };
    this.#lines.push(line);
    this.#bytes += bytesOf(line);
    while (this.#lines.length > LINES_MAX || this.#bytes > UPLOAD_MAX_BYTES) this.#dropOldest();
  }

  /** The log as the upload carries it. */
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

/** With the comma after it. */
function bytesOf(line: LogLine): number {
  return Buffer.byteLength(JSON.stringify(line)) + 1;
}
