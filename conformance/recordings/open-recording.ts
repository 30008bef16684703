/** Opens a file of recorded traffic, finds out its form, and reads no more of it than it must. */

import { createReadStream } from 'node:fs';
import { plainFile } from '../../fixtures/plain-file.ts';
import { harExchanges } from './har.ts';
import { journalExchanges, listedExchanges, type SkippedEntry } from './journal.ts';
import { type FullExchange, RecordingError, type RecordingForm } from './recording.ts';

/** Enough of a text to know its form, after how much white space there may be before it. */
const HEAD_CHARACTERS = 64;
const HEAD_MAX_CHARACTERS = 65_536;
const WRONG_TEXT = 'ERR_ENCODING_INVALID_ENCODED_DATA';

/** What a command reads of recordings at most. */
interface RecordingLimits {
  /** An archive, or a journal that is a list, is one JSON text and is held whole. */
  readonly harMaxBytes: number;
  readonly lineMaxCharacters: number;
  /** Of all lines of a journal; those who read them one by one need no limit. */
  readonly journalMaxBytes?: number;
}

/** What is read at most unless a command says otherwise. */
export const recordingLimits: RecordingLimits = {
  harMaxBytes: 134_217_728,
  lineMaxCharacters: 16_777_216,
};

/** A file of recorded traffic and what is in it. */
interface Recording {
  readonly form: RecordingForm;
  readonly exchanges: Iterable<FullExchange> | AsyncIterable<FullExchange>;
}

/**
 * Opens a file by its content: an archive is named .har or begins with its object `log`, anything
 * else is a journal. The exchanges are read as they are asked for.
 * @param skipped called for each entry of a journal that is no exchange
 * @throws RecordingError, or the system's error for a file that cannot be read, here and while
 * reading
 */
export async function openRecording(
  file: string,
  limits: RecordingLimits = recordingLimits,
  skipped?: SkippedEntry,
): Promise<Recording> {
  const { harMaxBytes, lineMaxCharacters, journalMaxBytes = Number.POSITIVE_INFINITY } = limits;
  const texts = textsOf(file);
  const head = await headOf(texts);
  const all = joined(head, texts);
  if (file.endsWith('.har') || /^\s*\{\s*"log"\s*:/.test(head)) {
    const text = await wholeText(file, all, harMaxBytes);
    return { form: 'har', exchanges: harExchanges(file, text) };
  }
  if (/^\s*\[/.test(head)) {
    const text = await wholeText(file, all, harMaxBytes);
    return { form: 'journal', exchanges: listedExchanges(file, text, skipped) };
  }
  const lines = linesOf(file, bounded(file, all, journalMaxBytes), lineMaxCharacters);
  return { form: 'journal', exchanges: journalExchanges(file, lines, skipped) };
}

/** The file's text piece by piece; a mark of the byte order is left out. */
async function* textsOf(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const bytes of createReadStream(plainFile(file)))
      yield decoder.decode(bytes, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw isWrongText(error) ? new RecordingError(file, '', 'is not UTF-8 text.') : error;
  }
}

function isWrongText(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && error.code === WRONG_TEXT;
}

/** The beginning of a text, enough to know its form by. */
async function headOf(texts: AsyncGenerator<string>): Promise<string> {
  let head = '';
  while (head.trim().length < HEAD_CHARACTERS && head.length < HEAD_MAX_CHARACTERS) {
    const { done, value } = await texts.next();
    if (done) break;
    head += value;
  }
  return head;
}

async function* joined(head: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield head;
  yield* rest;
}

async function wholeText(
  file: string,
  texts: AsyncIterable<string>,
  bytesMax: number,
): Promise<string> {
  const pieces: string[] = [];
  for await (const text of bounded(file, texts, bytesMax)) pieces.push(text);
  return pieces.join('');
}

async function* bounded(
  file: string,
  texts: AsyncIterable<string>,
  bytesMax: number,
): AsyncGenerator<string> {
  let bytes = 0;
  for await (const text of texts) {
    bytes += Buffer.byteLength(text);
    if (bytes > bytesMax) {
      const mebibytes = bytesMax / 1_048_576;
      const wayOut = 'save it in parts, or without the bodies of pages';
      throw new RecordingError(file, '', `is larger than ${mebibytes} MiB; ${wayOut}.`);
    }
    yield text;
  }
}

async function* linesOf(
  file: string,
  texts: AsyncIterable<string>,
  charactersMax: number,
): AsyncGenerator<string> {
  let rest = '';
  let number = 1;
  for await (const text of texts) {
    rest += text;
    if (text.includes('\n')) {
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      number += lines.length;
      yield* lines;
    }
    if (rest.length > charactersMax) {
      const what = `is longer than ${charactersMax} characters; leave out large bodies.`;
      throw new RecordingError(file, `line ${number}`, what);
    }
  }
  yield rest;
}
