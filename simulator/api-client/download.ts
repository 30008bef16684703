/**
 * Downloads a file from its link: without a token, as a stream, and resumed by range after a broken
 * connection. Only the chunk in transit is in memory.
 * Spec: ArtifactLink
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { ClientError, DownloadError, type ErrorContext, ResponseError } from '../network/errors.ts';
import type { RequestSender } from '../network/simulated-network.ts';
import type { OpenResponse } from '../network/transport.ts';
import { statusError } from './responses.ts';

/** A file to download and how to fetch it. */
export interface DownloadRequest {
  readonly transport: RequestSender;
  readonly clock: Clock;
  readonly caller: string;
  /** Absolute URL of the file, used exactly as the server sent it. */
  readonly uri: string;
  /** Largest accepted file size in bytes. */
  readonly fileMaxBytes: number;
  /** Waits before the next attempt; receives the error and the number of failed attempts. */
  readonly pause: (error: ClientError, attempt: number) => Promise<void>;
}

/** Number of times that a download is resumed before it fails. */
export const RESUMPTIONS_MAX = 10;
/** Number of bytes read to inspect a file: the first block of a tar archive. */
const HEAD_BYTES = 512;
const operation = storageOperations['download-artifact'];

/** The progress of a download. A caller that keeps it can resume the download later. */
export interface DownloadProgress {
  receivedBytes: number;
  /** Size of the whole file; undefined until the server has sent it. */
  totalBytes: number | undefined;
  /**
   * Value that identifies this version of the file: a strong ETag, or else the Last-Modified
   * header.
   */
  validator: string | undefined;
}

/** Returns the progress of a download that has not started. */
export function noProgress(): DownloadProgress {
  return { receivedBytes: 0, totalBytes: undefined, validator: undefined };
}

/**
 * Yields the bytes of the file in order, starting after those that `progress` already counts.
 * @throws ResponseError `link` for an invalid URL; StatusError, TransportError or TimeoutError for a
 *   failed request; DownloadError when the download is cut off too often, starts at a wrong offset,
 *   exceeds `fileMaxBytes`, or the file has changed on the server (`changed`: start over)
 */
export async function* downloadedBytes(
  download: DownloadRequest,
  progress: DownloadProgress = noProgress(),
): AsyncGenerator<Buffer> {
  const url = linkUrl(download);
  // The earlier download that is resumed here may already have received the whole file.
  if (progress.receivedBytes > 0 && progress.receivedBytes === progress.totalBytes) return;
  for (let failed = 1; ; failed++) {
    try {
      yield* onePart(download, url, progress);
      return;
    } catch (error) {
      if (!(error instanceof ClientError) || !error.isTransient) throw error;
      // The connection broke after the last byte, so the file is complete.
      if (progress.receivedBytes === progress.totalBytes) return;
      if (failed > RESUMPTIONS_MAX) throw givenUp(error, progress);
      await download.pause(error, failed);
    }
  }
}

/**
 * Returns the first bytes of the file and its size, without downloading the rest.
 * @throws the errors of `downloadedBytes`; DownloadError `length` when the server does not send the
 *   size
 */
export async function downloadedHead(
  download: DownloadRequest,
): Promise<{ readonly first: Buffer; readonly totalBytes: number }> {
  const url = linkUrl(download);
  for (let failed = 1; ; failed++) {
    try {
      return await onlyHead(download, url);
    } catch (error) {
      const mayRetry = error instanceof ClientError && error.isTransient;
      if (!mayRetry || failed > RESUMPTIONS_MAX) throw error;
      await download.pause(error, failed);
    }
  }
}

function givenUp(error: ClientError, { receivedBytes }: DownloadProgress): ClientError {
  if (receivedBytes === 0) return error;
  const times = RESUMPTIONS_MAX + 1;
  const message = `the download was cut off ${times} times, the last time after ${receivedBytes} bytes`;
  return new DownloadError('cut-off', message, { ...error, cause: error });
}

async function* onePart(
  download: DownloadRequest,
  url: URL,
  progress: DownloadProgress,
): AsyncGenerator<Buffer> {
  const response = await openedPart(download, url, rangeHeaders(progress));
  const { caller } = download;
  const circumstances = { operation: operation.id, caller, elapsedMs: response.elapsedMs() };
  const skippedBytes = checkedHead(response, { download, progress, circumstances });
  let toSkip = skippedBytes;
  for await (const chunk of response.chunks()) {
    const fresh = chunk.subarray(Math.min(toSkip, chunk.length));
    toSkip -= chunk.length - fresh.length;
    progress.receivedBytes += fresh.length;
    if (progress.receivedBytes > download.fileMaxBytes) throw tooLarge(download, circumstances);
    if (fresh.length > 0) yield fresh;
  }
  if (progress.totalBytes !== undefined && progress.receivedBytes < progress.totalBytes) {
    const message = `received ${progress.receivedBytes} of ${progress.totalBytes} bytes`;
    throw new DownloadError('cut-off', message, circumstances);
  }
}

/** Number of redirects in a row that are followed. */
export const REDIRECTS_MAX = 10;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Opens the file, following redirects: a store may hand a link on to another host. */
async function openedPart(
  { transport, caller }: DownloadRequest,
  url: URL,
  headers: Readonly<Record<string, string>>,
): Promise<OpenResponse> {
  const { id, method } = operation;
  let target = url;
  for (let followed = 0; ; followed++) {
    const response = await transport.open({ operation: id, caller, method, target, headers });
    const { location } = response.headers;
    const isRedirect = redirectStatuses.has(response.status) && location !== undefined;
    if (!isRedirect || followed === REDIRECTS_MAX || !URL.canParse(location, target.href))
      return response;
    const next = new URL(location, target);
    if (!/^https?:$/.test(next.protocol)) return response;
    response.discard();
    target = next;
  }
}

function rangeHeaders({ receivedBytes, validator }: DownloadProgress): Record<string, string> {
  if (receivedBytes === 0) return {};
  const range = { range: `bytes=${receivedBytes}-` };
  return validator === undefined ? range : { ...range, 'if-range': validator };
}

interface DownloadPart {
  readonly download: DownloadRequest;
  readonly progress: DownloadProgress;
  readonly circumstances: ErrorContext;
}

/**
 * Checks the head of a response and returns the number of its leading bytes to skip because they
 * were received before.
 */
function checkedHead(response: OpenResponse, part: DownloadPart): number {
  try {
    return part.progress.receivedBytes === 0
      ? expectWhole(response, part)
      : expectRest(response, part);
  } catch (error) {
    response.discard();
    throw error;
  }
}

function refusal(response: OpenResponse, { download, circumstances }: DownloadPart): ClientError {
  const { caller, clock } = download;
  const head = { ...response, body: Buffer.alloc(0), elapsedMs: circumstances.elapsedMs };
  return statusError(head, { operation, caller, clock });
}

function expectWhole(response: OpenResponse, part: DownloadPart): 0 {
  const { download, progress, circumstances } = part;
  if (response.status !== 200) throw refusal(response, part);
  const length = Number(response.headers['content-length'] ?? Number.NaN);
  progress.totalBytes = Number.isNaN(length) ? undefined : length;
  progress.validator = validatorOf(response);
  if (length > download.fileMaxBytes) throw tooLarge(download, circumstances);
  return 0;
}

function expectRest(response: OpenResponse, part: DownloadPart): number {
  const { progress, circumstances } = part;
  const isSame = progress.validator !== undefined && validatorOf(response) === progress.validator;
  // A server without range support sends the whole file again, so the bytes already received are
  // skipped.
  if (response.status === 200 && isSame) return progress.receivedBytes;
  if (response.status === 200 || response.status === 416) {
    const message = 'the file changed on the server during the download';
    throw new DownloadError('changed', message, circumstances);
  }
  if (response.status !== 206) throw refusal(response, part);
  expectRange(response, part);
  return 0;
}

/**
 * Returns the validator of a response. A weak ETag is not used: it does not guarantee identical
 * bytes, and If-Range does not allow it.
 */
function validatorOf({ headers }: OpenResponse): string | undefined {
  const { etag, 'last-modified': lastModified } = headers;
  return etag !== undefined && !etag.startsWith('W/') ? etag : lastModified;
}

async function onlyHead(download: DownloadRequest, url: URL) {
  const { caller } = download;
  const response = await openedPart(download, url, { range: `bytes=0-${HEAD_BYTES - 1}` });
  const circumstances = { operation: operation.id, caller, elapsedMs: response.elapsedMs() };
  const progress = noProgress();
  const totalBytes = checkedTotal(response, { download, progress, circumstances });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.chunks()) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= HEAD_BYTES) break;
  }
  return { first: Buffer.concat(chunks).subarray(0, HEAD_BYTES), totalBytes };
}

/**
 * Returns the size of the file. A server without range support answers with the whole file, whose
 * Content-Length is the size.
 */
function checkedTotal(response: OpenResponse, part: DownloadPart): number {
  try {
    if (response.status === 206) expectRange(response, part);
    else expectWhole(response, part);
    const { totalBytes } = part.progress;
    if (totalBytes !== undefined && totalBytes > part.download.fileMaxBytes) {
      throw tooLarge(part.download, part.circumstances);
    }
    if (totalBytes !== undefined) return totalBytes;
    throw new DownloadError('length', 'the server does not state the size', part.circumstances);
  } catch (error) {
    response.discard();
    throw error;
  }
}

/**
 * Checks that the response continues the file. A range with another start, or of a file with
 * another size, would corrupt the file.
 */
function expectRange(response: OpenResponse, { progress, circumstances }: DownloadPart): void {
  const contentRange = String(response.headers['content-range'] ?? '');
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(contentRange) ?? [];
  progress.totalBytes ??= Number(total);
  if (Number(first) === progress.receivedBytes && Number(total) === progress.totalBytes) return;
  const range = `bytes ${progress.receivedBytes}- of ${progress.totalBytes}`;
  const problem = `asked for ${range}, the server sent "${contentRange}"`;
  throw new DownloadError('range', problem, circumstances);
}

function tooLarge(download: DownloadRequest, circumstances: ErrorContext): DownloadError {
  const message = `the file is larger than the limit of ${download.fileMaxBytes} bytes`;
  return new DownloadError('too-large', message, circumstances);
}

function linkUrl({ uri, caller }: DownloadRequest): URL {
  if (/^https?:/i.test(uri) && URL.canParse(uri)) return new URL(uri);
  const circumstances = { operation: operation.id, caller, elapsedMs: 0 };
  throw new ResponseError('link', `"${uri}" is not an absolute http or https URL`, circumstances);
}
