/**
 * The server's log: one line per event on standard error. Control characters in external text are
 * escaped.
 */
import { type ConsolaInstance, createConsola } from 'consola/basic';
import { printable } from '../../fixtures/base/printable.ts';
import { shellWord } from '../../fixtures/formats/shell-word.ts';
import type { Exchange } from '../http/exchange.ts';
import type { ParseFailure } from '../http/parse-failure.ts';
import type { Refusal } from '../http/refusal.ts';
import type { Success } from '../http/success.ts';
import type { RefusalDetail } from '../rules/refusal-detail.ts';
import type { ServerLogLevel } from '../settings.ts';

const consolaLevels: Record<ServerLogLevel, number> = {
  silent: -1,
  error: 0,
  warn: 1,
  info: 3,
  debug: 4,
};

const LINE_MAX_CHARACTERS = 4096;

/**
 * Writes lines at a level. `debugOn` is true when debug lines are shown; frequent code checks it
 * before it builds one.
 */
export interface Log {
  readonly debugOn: boolean;
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
  error(line: string, cause?: unknown): void;
}

/** Opens a log that shows lines of `level` and above. */
export function openLog(level: ServerLogLevel): Log {
  const sink: ConsolaInstance = createConsola({
    level: consolaLevels[level],
    stdout: process.stderr,
    stderr: process.stderr,
  });
  return {
    debugOn: level === 'debug',
    debug: (line) => sink.debug(printableLine(line)),
    info: (line) => sink.info(printableLine(line)),
    warn: (line) => sink.warn(printableLine(line)),
    error: (line, cause) =>
      sink.error(printableLine(line), ...(cause === undefined ? [] : [cause])),
  };
}

/**
 * Escapes line breaks and control characters, so that no device can move the reader's cursor or
 * forge a line.
 */
function printableLine(line: string): string {
  return printable(line, LINE_MAX_CHARACTERS);
}

/**
 * Returns the log line of a refusal: the reason, the location, and the command that explains it.
 */
export function refusalLine(exchange: Exchange, { status, error, detail }: Refusal): string {
  const { request, path, requestId } = exchange;
  const wrong =
    detail?.path === undefined ? '' : ` [${[detail.path, ...sidesOf(detail)].join(': ')}]`;
  const exchangeText = `${status} ${request.method} ${path}`;
  return `${exchangeText}: ${error}${wrong} (${requestId}); explain with: npx fleetbed explain ${shellWord(requestId)}`;
}

/** Returns the log line of input that is not HTTP. */
export function unparsableLine(unparsable: {
  readonly requestId: string;
  /** Status of the response; 0 without a response. */
  readonly status: number;
  readonly parseFailure: Pick<ParseFailure, 'error'>;
}): string {
  const { requestId, status, parseFailure } = unparsable;
  const outcome = status === 0 ? 'not answered' : status;
  return `${outcome}: ${parseFailure.error} (${requestId}); explain with: npx fleetbed explain ${shellWord(requestId)}`;
}

/** Returns the log line of a response, with the reason why a device received no update. */
export function responseLine(exchange: Exchange, { status, noUpdate }: Success): string {
  const { request, path, requestId } = exchange;
  const why = noUpdate ? `: no update: ${noUpdate.reason}` : '';
  return `${status} ${request.method} ${path}${why} (${requestId})`;
}

/** Returns the expected and the actual value as one text; none when neither is known. */
function sidesOf({ expected, actual }: RefusalDetail): readonly string[] {
  const sides = [
    ...(expected === undefined ? [] : [`expected ${expected}`]),
    ...(actual === undefined ? [] : [`got ${actual}`]),
  ];
  return sides.length === 0 ? [] : [sides.join(', ')];
}
