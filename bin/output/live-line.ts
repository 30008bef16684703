/**
 * Shows a line on a terminal that is updated in place, below all other output of the command, and
 * removed at the end. Without a terminal there is no such line.
 */
import { printable } from '../../fixtures/base/printable.ts';
import { isProgressOmitted, type Output } from './output.ts';

/** Control sequence that moves to the first column and clears the line. */
const CLEAR = '\r\u001b[K';
/** Width of a terminal that does not report its width. */
const COLUMNS_DEFAULT = 80;

/** Output with a line that can be updated. */
export interface LiveOutput extends Output {
  /** Replaces the text of the line. Absent without a terminal. */
  readonly live?: (text: string) => void;
}

/** The stream that the line is written to. */
interface LiveStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * Calls `run` with an output that has a live line, and removes the line when `run` ends, fails, or
 * the process exits.
 */
export async function withLiveLine<T>(
  output: Output,
  run: (output: LiveOutput) => Promise<T>,
  stream: LiveStream = process.stderr,
): Promise<T> {
  if (stream.isTTY !== true || isProgressOmitted()) return run(output);
  const { clear, ...live } = liveOutput(output, stream);
  // The line must be cleared before other listeners print something.
  process.prependListener('exit', clear);
  try {
    return await run(live);
  } finally {
    clear();
    process.off('exit', clear);
  }
}

function liveOutput(output: Output, stream: LiveStream) {
  let currentLine = '';
  const clear = (): void => {
    if (currentLine !== '') stream.write(CLEAR);
    currentLine = '';
  };
  const live = (text: string): void => {
    // Two columns stay free: some terminals start a new line after a character in the last column.
    currentLine = printable(text, (stream.columns ?? COLUMNS_DEFAULT) - 2);
    stream.write(CLEAR + currentLine);
  };
  const above = (say: () => void): void => {
    const lineBefore = currentLine;
    clear();
    say();
    if (lineBefore !== '') live(lineBefore);
  };
  return {
    json: output.json,
    data: (value: unknown) => above(() => output.data(value)),
    line: (text: string) => above(() => output.line(text)),
    progress: (text: string) => above(() => output.progress(text)),
    warn: (text: string) => above(() => output.warn(text)),
    live,
    clear,
  };
}
