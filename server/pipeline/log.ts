/**
 * The server's log: one line per event on standard error; control characters in external text are
 * escaped.
 */
import { type ConsolaInstance, createConsola } from 'consola/basic';
import { printable } from '../../fixtures/printable.ts';
import type { LogLevel } from '../settings.ts';

const consolaLevels: Record<LogLevel, number> = {
  silent: -1,
  error: 0,
  warn: 1,
  info: 3,
  debug: 4,
};

const LINE_MAX_CHARACTERS = 4096;

/** Writes lines at a level; `debugOn` saves the hot path from building an unread line. */
export interface Log {
  readonly debugOn: boolean;
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
  error(line: string, cause?: unknown): void;
}

/** Opens a log that shows lines of `level` and above. */
export function openLog(level: LogLevel): Log {
  const sink: ConsolaInstance = createConsola({
    level: consolaLevels[level],
    stdout: process.stderr,
    stderr: process.stderr,
  });
  return {
    debugOn: level === 'debug',
    debug: (line) => sink.debug(shown(line)),
    info: (line) => sink.info(shown(line)),
    warn: (line) => sink.warn(shown(line)),
    error: (line, cause) => sink.error(shown(line), ...(cause === undefined ? [] : [cause])),
  };
}

/** Keeps it on one line, so that no device can move the reader's cursor or forge a line. */
function shown(line: string): string {
  return printable(line, LINE_MAX_CHARACTERS);
}
