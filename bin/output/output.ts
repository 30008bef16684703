/**
 * What goes where: data to standard output, everything for human eyes beside it. With `--json`
 * standard output carries JSON only and human lines go to standard error.
 */
import { printableJson, printableText } from '../../fixtures/printable.ts';

/** The two streams of a command. */
export interface Output {
  readonly json: boolean;
  /** One value as one line of JSON that steers no terminal, in JSON mode only. */
  data(value: unknown): void;
  /** A result for human eyes. */
  line(text: string): void;
  /** A word on what is going on; always on standard error. */
  progress(text: string): void;
}

export interface OutputStreams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** @param json true when standard output carries JSON only */
export function createOutput(json: boolean, streams: OutputStreams = process): Output {
  const human = json ? streams.stderr : streams.stdout;
  return {
    json,
    data: (value) => {
      if (json) streams.stdout.write(`${printableJson(JSON.stringify(value))}\n`);
    },
    line: (text) => human.write(`${printableText(text)}\n`),
    progress: (text) => streams.stderr.write(`${printableText(text)}\n`),
  };
}
