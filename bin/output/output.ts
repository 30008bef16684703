/**
 * The output of a command. With `--json`, standard output contains only JSON, and lines for people
 * go to standard error.
 */
import { printableJson, printableText } from '../../fixtures/base/printable.ts';

/** The output functions of a command. */
export interface Output {
  readonly json: boolean;
  /** Prints a value as one line of JSON without terminal control characters; only with `--json`. */
  data(value: unknown): void;
  /** Prints a line of the result for people. */
  line(text: string): void;
  /** Prints a progress message, always on standard error; nothing with `--quiet`. */
  progress(text: string): void;
  /** Prints a warning, or why a command fails, on standard error, also with `--quiet`. */
  warn(text: string): void;
}

export interface OutputStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

let isOmitted = false;

/** Omits all progress messages and live lines from now on, as the option `--quiet` asks for. */
export function omitProgress(): void {
  isOmitted = true;
}

/** Returns true when progress messages and live lines are omitted. */
export function isProgressOmitted(): boolean {
  return isOmitted;
}

/** Creates the output of a command. @param json true when standard output contains only JSON */
export function createOutput(json: boolean, streams: OutputStreams = process): Output {
  const human = json ? streams.stderr : streams.stdout;
  return {
    json,
    data: (value) => {
      if (json) streams.stdout.write(`${printableJson(JSON.stringify(value))}\n`);
    },
    line: (text) => human.write(`${printableText(text)}\n`),
    warn: (text) => streams.stderr.write(`${printableText(text)}\n`),
    progress: (text) => {
      if (!isOmitted) streams.stderr.write(`${printableText(text)}\n`);
    },
  };
}
