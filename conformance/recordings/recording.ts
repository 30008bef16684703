/** Recorded traffic, whatever file it came from, and what is wrong with a file that is none. */
import { printable } from '../../fixtures/printable.ts';

const SENTENCE_MAX_CHARACTERS = 500;

/** One request and its answer. Bodies are read only where a field may be in them. */
export interface RecordedExchange {
  /** When it was sent, milliseconds since the Unix epoch. */
  readonly atMs: number;
  readonly method: string;
  /** The URL's path, percent-encoded as sent; empty for what is no HTTP. */
  readonly pathname: string;
  /** 0 where no answer came. */
  readonly status: number;
  /** A text, or the value that a JSON body or a form is; undefined where it was not recorded. */
  readonly requestBody: () => unknown;
  readonly responseBody: () => unknown;
}

/** How a recording is written down. */
export type RecordingForm = 'har' | 'journal';

/** A file that cannot be read as recorded traffic, in one sentence. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';

  /** @param place in the file, such as `line 3` */
  constructor(file: string, place: string, what: string) {
    const where = place === '' ? file : `${file}, ${place}`;
    super(printable(`${where}: ${what}`, SENTENCE_MAX_CHARACTERS));
  }
}

/** The path of an absolute URL; pages load `data:` and the like too, whose paths mean nothing. */
export function pathnameOf(url: string): string {
  const { protocol, pathname } = new URL(url);
  return /^(https?|wss?):$/.test(protocol) ? pathname : '';
}

/** A value of JSON that is an object, and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A wrong value as a sentence shows it: short, and unable to steer a terminal. */
export function shownValue(value: unknown): string {
  return value === undefined ? 'missing' : `not ${printable(JSON.stringify(value), 60)}`;
}
