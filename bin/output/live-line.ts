/**
 * A line on a terminal that is updated in place, below all other output of the command, and removed
 * at the end. Without a terminal there is no such line.
 */
import { printable } from '../../fixtures/printable.ts';
import type { Output } from './output.ts';

/** Moves to the first column and clears the line. */
const CLEAR = '\r\u001b[K';
/** For a terminal that does not report its width. */
const COLUMNS_DEFAULT = 80;

/** Output with a line that changes. */
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
 * Gives `run` an output with a live line, and removes the line however `run` ends, also when the
 * process ends in between.
 */
export async function withLiveLine<T>(
  output: Output,
  run: (output: LiveOutput) => Promise<T>,
  stream: LiveStream = process.stderr,
): Promise<T> {
  if (stream.isTTY !== true) return run(output);
  const { clear, ...live } = liveOutput(output, stream);
  // Before all other listeners, which may print something.
  process.prependListener('exit', clear);
  try {
    return await run(live);
  } finally {
    clear();
    process.off('exit', clear);
  }
}

function liveOutput(output: Output, stream: LiveStream) {
  let shown = '';
  const clear = (): void => {
    if (shown !== '') stream.write(CLEAR);
    shown = '';
  };
  const live = (text: string): void => {
    // A character in the last column makes some terminals begin the next line.
    shown = printable(text, (stream.columns ?? COLUMNS_DEFAULT) - 2);
    stream.write(CLEAR + shown);
  };
  const above = (say: () => void): void => {
    const kept = shown;
    clear();
    say();
    if (kept !== '') live(kept);
  };
  return {
    json: output.json,
    data: (value: unknown) => above(() => output.data(value)),
    line: (text: string) => above(() => output.line(text)),
    progress: (text: string) => above(() => output.progress(text)),
    live,
    clear,
  };
}
