/** Opens a file of recorded traffic, detects its format, and reads it lazily. */
import { createReadStream } from 'node:fs';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import { harExchanges } from './har.ts';
import { journalExchanges, listedExchanges, type SkippedEntry } from './journal.ts';
import { type FullExchange, RecordingError, type RecordingFormat } from './recording.ts';

/** Characters needed to detect the format, and the maximum including leading white space. */
const HEAD_CHARACTERS = 64;
const HEAD_MAX_CHARACTERS = 65_536;
const WRONG_TEXT = 'ERR_ENCODING_INVALID_ENCODED_DATA';

/** Limits on the size of recordings. */
interface RecordingLimits {
  /** Maximum size of an archive or a list, which is parsed as one JSON text in memory. */
  readonly harMaxBytes: number;
  readonly lineMaxCharacters: number;
  /** Maximum size of a journal of lines; unlimited by default, since the lines are read lazily. */
  readonly journalMaxBytes?: number;
}

/** Limits that apply unless a caller gives others. */
export const recordingLimits: RecordingLimits = {
  harMaxBytes: 134_217_728,
  lineMaxCharacters: 16_777_216,
};

/** An open file of recorded traffic. */
interface Recording {
  readonly format: RecordingFormat;
  readonly exchanges: Iterable<FullExchange> | AsyncIterable<FullExchange>;
}

/**
 * Opens a recording. A file is an archive if its name ends with .har or its text begins with the
 * object `log`; any other file is a journal. The exchanges are read as the caller iterates.
 * @param skipped called for each entry of a journal that is not an exchange
 * @throws RecordingError, or the system's error for a file that cannot be read; also thrown by the
 * iteration
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
    return { format: 'har', exchanges: harExchanges(file, text) };
  }
  if (/^\s*\[/.test(head)) {
    const text = await wholeText(file, all, harMaxBytes);
    return { format: 'journal', exchanges: listedExchanges(file, text, skipped) };
  }
  const lines = linesOf(file, bounded(file, all, journalMaxBytes), lineMaxCharacters);
  return { format: 'journal', exchanges: journalExchanges(file, lines, skipped) };
}

/** Yields the text of the file in pieces, without a byte order mark. */
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

/** Reads enough of the beginning of a text to detect its format. */
async function headOf(texts: AsyncGenerator<string>): Promise<string> {
  let head = '';
  while (head.trim().length < HEAD_CHARACTERS && head.length < HEAD_MAX_CHARACTERS) {
    const { done, value } = await texts.next();
    if (done) break;
    head += value;
  }
  return head;
}

async function* joined(head: string, tail: AsyncIterable<string>): AsyncGenerator<string> {
  yield head;
  yield* tail;
}

async function wholeText(
  file: string,
  texts: AsyncIterable<string>,
  bytesMax: number,
): Promise<string> {
  const chunks: string[] = [];
  for await (const text of bounded(file, texts, bytesMax)) chunks.push(text);
  return chunks.join('');
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
      const remedy = 'save it in parts, or without the bodies of pages';
      throw new RecordingError(file, '', `is larger than ${mebibytes} MiB; ${remedy}.`);
    }
    yield text;
  }
}

async function* linesOf(
  file: string,
  texts: AsyncIterable<string>,
  charactersMax: number,
): AsyncGenerator<string> {
  let unfinishedLine = '';
  let number = 1;
  for await (const text of texts) {
    unfinishedLine += text;
    if (text.includes('\n')) {
      const lines = unfinishedLine.split('\n');
      unfinishedLine = lines.pop() ?? '';
      number += lines.length;
      yield* lines;
    }
    if (unfinishedLine.length > charactersMax) {
      const problem = `is longer than ${charactersMax} characters; leave out large bodies.`;
      throw new RecordingError(file, `line ${number}`, problem);
    }
  }
  yield unfinishedLine;
}
