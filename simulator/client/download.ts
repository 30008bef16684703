/**
 * Downloads a file from its link: without a token, streamed, and resumed by range after a broken
 * connection. Received bytes are never buffered.
 * Spec: ArtifactLink
 */

import type { Clock } from '../../fixtures/clock.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { AnswerError, type Circumstances, ClientError, DownloadError } from '../network/errors.ts';
import type { Exchanger } from '../network/link.ts';
import type { OpenAnswer } from '../network/transport.ts';
import { statusError } from './answers.ts';

/** A file to download and how to fetch it. */
export interface Download {
  readonly transport: Exchanger;
  readonly clock: Clock;
  readonly caller: string;
  /** Absolute URL of the file; its parts have no meaning. */
  readonly uri: string;
  /** Largest accepted file size in bytes. */
  readonly fileMaxBytes: number;
  /** Waits before the next attempt; receives the error and the number of failed attempts. */
  readonly pause: (error: ClientError, attempt: number) => Promise<void>;
}

/** How often a download is resumed. */
export const RESUMPTIONS_MAX = 10;
/** Bytes read to inspect a file: the first block of a tar archive. */
const HEAD_BYTES = 512;
const operation = storageOperations['download-artifact'];

/** How far a download has come; a kept one allows resuming later. */
export interface DownloadProgress {
  receivedBytes: number;
  /** Size of the whole file, once the server has sent it. */
  totalBytes: number | undefined;
  /** Distinguishes this file from a later version: a strong ETag, else the last-modified time. */
  validator: string | undefined;
}

/** Returns the progress before the first byte. */
export function noProgress(): DownloadProgress {
  return { receivedBytes: 0, totalBytes: undefined, validator: undefined };
}

/**
 * Yields the bytes of the file in order, from the current progress on.
 * @throws AnswerError `link` for an invalid URL, StatusError, TransportError, TimeoutError,
 * DownloadError when it breaks off repeatedly, starts at a wrong offset, is too large, or is a
 * different file than at first (`changed`: start over)
 */
export async function* downloadedBytes(
  download: Download,
  progress: DownloadProgress = noProgress(),
): AsyncGenerator<Buffer> {
  const url = linkUrl(download);
  // A resumed download may have been complete before.
  if (progress.receivedBytes > 0 && progress.receivedBytes === progress.totalBytes) return;
  for (let failed = 1; ; failed++) {
    try {
      yield* onePart(download, url, progress);
      return;
    } catch (error) {
      if (!(error instanceof ClientError) || !error.passing) throw error;
      // The connection broke after the last byte: nothing is missing.
      if (progress.receivedBytes === progress.totalBytes) return;
      if (failed > RESUMPTIONS_MAX) throw givenUp(error, progress);
      await download.pause(error, failed);
    }
  }
}

/**
 * Returns the first bytes of the file and its size, without fetching the rest.
 * @throws as downloadedBytes; DownloadError `length` when the server does not send the size
 */
export async function downloadedHead(
  download: Download,
): Promise<{ readonly first: Buffer; readonly totalBytes: number }> {
  const url = linkUrl(download);
  for (let failed = 1; ; failed++) {
    try {
      return await onlyHead(download, url);
    } catch (error) {
      const isPassing = error instanceof ClientError && error.passing;
      if (!isPassing || failed > RESUMPTIONS_MAX) throw error;
      await download.pause(error, failed);
    }
  }
}

function givenUp(error: ClientError, { receivedBytes }: DownloadProgress): ClientError {
  if (receivedBytes === 0) return error;
  const times = RESUMPTIONS_MAX + 1;
  const said = `the download was cut off ${times} times, the last time after ${receivedBytes} bytes`;
  return new DownloadError('cut-off', said, { ...error, cause: error });
}

async function* onePart(
  download: Download,
  url: URL,
  progress: DownloadProgress,
): AsyncGenerator<Buffer> {
  const answer = await openedPart(download, url, rangeHeaders(progress));
  const { caller } = download;
  const circumstances = { operation: operation.id, caller, elapsedMs: answer.elapsedMs() };
  const skippedBytes = checkedHead(answer, { download, progress, circumstances });
  let toSkip = skippedBytes;
  for await (const chunk of answer.chunks()) {
    const fresh = chunk.subarray(Math.min(toSkip, chunk.length));
    toSkip -= chunk.length - fresh.length;
    progress.receivedBytes += fresh.length;
    if (progress.receivedBytes > download.fileMaxBytes) throw tooLarge(download, circumstances);
    if (fresh.length > 0) yield fresh;
  }
  if (progress.totalBytes !== undefined && progress.receivedBytes < progress.totalBytes) {
    const said = `received ${progress.receivedBytes} of ${progress.totalBytes} bytes`;
    throw new DownloadError('cut-off', said, circumstances);
  }
}

function openedPart(
  { transport, caller }: Download,
  target: URL,
  headers: Readonly<Record<string, string>>,
): Promise<OpenAnswer> {
  const { id, method } = operation;
  return transport.open({ operation: id, caller, method, target, headers });
}

function rangeHeaders({ receivedBytes, validator }: DownloadProgress): Record<string, string> {
  if (receivedBytes === 0) return {};
  const range = { range: `bytes=${receivedBytes}-` };
  return validator === undefined ? range : { ...range, 'if-range': validator };
}

interface Part {
  readonly download: Download;
  readonly progress: DownloadProgress;
  readonly circumstances: Circumstances;
}

/** Returns how many bytes of this response were received before. */
function checkedHead(answer: OpenAnswer, part: Part): number {
  try {
    return part.progress.receivedBytes === 0 ? expectWhole(answer, part) : expectRest(answer, part);
  } catch (error) {
    answer.discard();
    throw error;
  }
}

function refusal(answer: OpenAnswer, { download, circumstances }: Part): ClientError {
  const { caller, clock } = download;
  const head = { ...answer, body: Buffer.alloc(0), elapsedMs: circumstances.elapsedMs };
  return statusError(head, { operation, caller, clock });
}

function expectWhole(answer: OpenAnswer, part: Part): 0 {
  const { download, progress, circumstances } = part;
  if (answer.status !== 200) throw refusal(answer, part);
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  progress.totalBytes = Number.isNaN(length) ? undefined : length;
  progress.validator = validatorOf(answer);
  if (length > download.fileMaxBytes) throw tooLarge(download, circumstances);
  return 0;
}

function expectRest(answer: OpenAnswer, part: Part): number {
  const { progress, circumstances } = part;
  const isSame = progress.validator !== undefined && validatorOf(answer) === progress.validator;
  // A server without range support sends the whole file again: bytes already received are skipped.
  if (answer.status === 200 && isSame) return progress.receivedBytes;
  if (answer.status === 200 || answer.status === 416) {
    const said = 'the file changed on the server during the download';
    throw new DownloadError('changed', said, circumstances);
  }
  if (answer.status !== 206) throw refusal(answer, part);
  expectRange(answer, part);
  return 0;
}

/** A weak ETag does not guarantee identical bytes, and If-Range does not accept one. */
function validatorOf({ headers }: OpenAnswer): string | undefined {
  const { etag, 'last-modified': lastModified } = headers;
  return etag !== undefined && !etag.startsWith('W/') ? etag : lastModified;
}

async function onlyHead(download: Download, url: URL) {
  const { caller } = download;
  const answer = await openedPart(download, url, { range: `bytes=0-${HEAD_BYTES - 1}` });
  const circumstances = { operation: operation.id, caller, elapsedMs: answer.elapsedMs() };
  const progress = noProgress();
  const totalBytes = checkedTotal(answer, { download, progress, circumstances });
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.chunks()) {
    pieces.push(chunk);
    bytes += chunk.length;
    if (bytes >= HEAD_BYTES) break;
  }
  return { first: Buffer.concat(pieces).subarray(0, HEAD_BYTES), totalBytes };
}

/** Some servers answer a range request with the whole file; its length is then the size. */
function checkedTotal(answer: OpenAnswer, part: Part): number {
  try {
    if (answer.status === 206) expectRange(answer, part);
    else expectWhole(answer, part);
    const { totalBytes } = part.progress;
    if (totalBytes !== undefined && totalBytes > part.download.fileMaxBytes) {
      throw tooLarge(part.download, part.circumstances);
    }
    if (totalBytes !== undefined) return totalBytes;
    throw new DownloadError('length', 'the server does not state the size', part.circumstances);
  } catch (error) {
    answer.discard();
    throw error;
  }
}

/** A range that starts elsewhere, or is from a file of another size, would corrupt the file. */
function expectRange(answer: OpenAnswer, { progress, circumstances }: Part): void {
  const said = String(answer.headers['content-range'] ?? '');
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(said) ?? [];
  progress.totalBytes ??= Number(total);
  if (Number(first) === progress.receivedBytes && Number(total) === progress.totalBytes) return;
  const wanted = `bytes ${progress.receivedBytes}- of ${progress.totalBytes}`;
  const problem = `asked for ${wanted}, the server sent "${said}"`;
  throw new DownloadError('range', problem, circumstances);
}

function tooLarge(download: Download, circumstances: Circumstances): DownloadError {
  const said = `the file is larger than the limit of ${download.fileMaxBytes} bytes`;
  return new DownloadError('too-large', said, circumstances);
}

function linkUrl({ uri, caller }: Download): URL {
  if (/^https?:/i.test(uri) && URL.canParse(uri)) return new URL(uri);
  const circumstances = { operation: operation.id, caller, elapsedMs: 0 };
  throw new AnswerError('link', `"${uri}" is not an absolute http or https URL`, circumstances);
}
