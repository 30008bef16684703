/**
 * Downloads a file through its link: no token, streamed, and taken up again once where the
 * connection broke. Spec: ArtifactLink
 */

import type { Clock } from '../../fixtures/clock.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { statusError } from './answers.ts';
import { AnswerError, type Circumstances, DownloadError, TransportError } from './errors.ts';
import type { OpenAnswer, Transport } from './transport.ts';

/** Which file, and how it is fetched. */
export interface Download {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly caller: string;
  /** Absolute URL, opaque. */
  readonly uri: string;
  /** Size of the file beyond which it is refused, in bytes. */
  readonly fileMaxBytes: number;
}

/** How often a broken download is taken up again. */
const RESUMPTIONS_MAX = 1;
const operation = storageOperations['download-artifact'];

/**
 * The bytes of the file, in order.
 * @throws AnswerError `link` for a URL that is none, StatusError, TransportError, TimeoutError,
 * DownloadError when it breaks off twice, comes from a wrong place or is too large
 */
export async function* downloadedBytes(download: Download): AsyncGenerator<Buffer> {
  const url = linkUrl(download);
  const progress: Progress = { receivedBytes: 0, totalBytes: undefined };
  for (let resumptions = 0; ; resumptions++) {
    try {
      yield* onePart(download, url, progress);
      return;
    } catch (error) {
      const broken = error instanceof TransportError || error instanceof DownloadError;
      const resumable = broken && error.passing && progress.receivedBytes > 0;
      if (!resumable) throw error;
      if (resumptions === RESUMPTIONS_MAX) {
        const said = `the file broke off twice, after ${progress.receivedBytes} bytes at last`;
        throw new DownloadError('cut-off', said, { ...error, cause: error });
      }
    }
  }
}

interface Progress {
  receivedBytes: number;
  /** Size of the whole file, once the server has said it. */
  totalBytes: number | undefined;
}

async function* onePart(download: Download, url: URL, progress: Progress): AsyncGenerator<Buffer> {
  const { caller } = download;
  const fromByte = progress.receivedBytes;
  const answer = await download.transport.open({
    operation: operation.id,
    caller,
    method: operation.method,
    target: url,
    headers: fromByte === 0 ? {} : { range: `bytes=${fromByte}-` },
  });
  const circumstances = { operation: operation.id, caller, elapsedMs: answer.elapsedMs() };
  try {
    expectPart(answer, { download, progress, circumstances });
  } catch (error) {
    answer.discard();
    throw error;
  }
  for await (const chunk of answer.chunks()) {
    progress.receivedBytes += chunk.byteLength;
    if (progress.receivedBytes > download.fileMaxBytes) throw tooLarge(download, circumstances);
    yield chunk;
  }
  if (progress.totalBytes !== undefined && progress.receivedBytes < progress.totalBytes) {
    const said = `${progress.receivedBytes} of ${progress.totalBytes} bytes came`;
    throw new DownloadError('cut-off', said, circumstances);
  }
}

interface Part {
  readonly download: Download;
  readonly progress: Progress;
  readonly circumstances: Circumstances;
}

function expectPart(answer: OpenAnswer, part: Part): void {
  const { download, progress, circumstances } = part;
  const { caller, clock } = download;
  const resumed = progress.receivedBytes > 0;
  if (answer.status !== (resumed ? 206 : 200)) {
    const head = { ...answer, body: Buffer.alloc(0), elapsedMs: circumstances.elapsedMs };
    throw statusError(head, { operation, caller, clock });
  }
  if (resumed) expectRange(answer, part);
  else expectWhole(answer, part);
}

function expectWhole(answer: OpenAnswer, { download, progress, circumstances }: Part): void {
  const length = Number(answer.headers['content-length'] ?? Number.NaN);
  progress.totalBytes = Number.isNaN(length) ? undefined : length;
  if (length > download.fileMaxBytes) throw tooLarge(download, circumstances);
}

/** A part that begins elsewhere, or belongs to a file of another size, would spoil the file. */
function expectRange(answer: OpenAnswer, { progress, circumstances }: Part): void {
  const said = String(answer.headers['content-range'] ?? '');
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(said) ?? [];
  progress.totalBytes ??= Number(total);
  if (Number(first) === progress.receivedBytes && Number(total) === progress.totalBytes) return;
  const wanted = `bytes ${progress.receivedBytes}- of ${progress.totalBytes}`;
  const fault = `asked for ${wanted}, the server sent "${said}"`;
  throw new DownloadError('range', fault, circumstances);
}

function tooLarge(download: Download, circumstances: Circumstances): DownloadError {
  const said = `the file is larger than the ${download.fileMaxBytes} bytes that are accepted`;
  return new DownloadError('too-large', said, circumstances);
}

function linkUrl({ uri, caller }: Download): URL {
  if (/^https?:/i.test(uri) && URL.canParse(uri)) return new URL(uri);
  const circumstances = { operation: operation.id, caller, elapsedMs: 0 };
  throw new AnswerError('link', `"${uri}" is no absolute http or https URL`, circumstances);
}
