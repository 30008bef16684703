/**
 * What goes where: data to standard output, everything for human eyes beside it. With `--json`
 * standard output carries JSON only and human lines go to standard error.
 */

/** The two streams of a command. */
export interface Output {
  readonly json: boolean;
  /** One value as one line of JSON, in JSON mode only. */
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
      if (json) streams.stdout.write(`${JSON.stringify(value)}\n`);
    },
    line: (text) => human.write(`${clean(text)}\n`),
    progress: (text) => streams.stderr.write(`${clean(text)}\n`),
  };
}

const STEERING = /[\p{Cc}\p{Cs}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const HARMLESS = new Set(['\n', '\t']);

/**
 * The text with every control character but line break and tab spelled out (`\u{1b}`), and every
 * mark that turns the direction of writing: what a server or a device sent must not steer a terminal.
 */
export function clean(text: string): string {
  return text.replace(STEERING, (character) =>
    HARMLESS.has(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
