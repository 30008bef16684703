/** The server's log: one line for people on standard error; text from outside loses its control characters. */
import { type ConsolaInstance, createConsola } from 'consola/basic';
import type { LogLevel } from './settings.ts';

const consolaLevels: Record<LogLevel, number> = {
  silent: -1,
  error: 0,
  warn: 1,
  info: 3,
  debug: 4,
};

/** Writes lines at a level; `debugOn` spares the hot path from building a line nobody reads. */
export interface Log {
  readonly debugOn: boolean;
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
  error(line: string, cause?: unknown): void;
}

/** A log that shows lines of `level` and above. */
export function openLog(level: LogLevel): Log {
  const sink: ConsolaInstance = createConsola({
    level: consolaLevels[level],
    stdout: process.stderr,
    stderr: process.stderr,
  });
  return {
    debugOn: level === 'debug',
    debug: (line) => sink.debug(printable(line)),
    info: (line) => sink.info(printable(line)),
    warn: (line) => sink.warn(printable(line)),
    error: (line, cause) => sink.error(printable(line), ...(cause === undefined ? [] : [cause])),
  };
}

/** The text without control characters, so that no device can move the reader's cursor. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\u{FFFD}');
}
