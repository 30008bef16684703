/**
 * Stores partial downloads of devices, so that they survive the simulator. Each downloading device
 * has one file, with a JSON header in the first line, followed by the received bytes. All files
 * share one size limit; a download that does not fit is not stored and starts again in the next
 * run. A kill during a write leaves a shorter file, which is still valid. Only the owner can read
 * the files.
 */
import {
  closeSync,
  createReadStream,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import type { DownloadProgress } from '../api-client/download.ts';
import { type DeploymentRecord, isSettled, type SimulatedDevice } from '../device/device.ts';
import type { PartialDownload, PartialDownloads } from '../device/environment.ts';
import { fileError } from './state-error.ts';

const OWNER_ONLY = 0o600;
const FOLDER_MODE = 0o700;
const KEPT_MAX_BYTES = 2 ** 30;
/**
 * Maximum length of the header line. It contains the validator, which the server sent in a response
 * header.
 */
const HEAD_MAX_BYTES = 64 * 1024;

const headShape = v.object({
  deploymentId: v.string(),
  totalBytes: v.optional(v.number()),
  validator: v.optional(v.string()),
});

const headTextShape = v.pipe(v.string(), v.parseJson(), headShape);

/** The folder of all partial downloads. */
export class DownloadFolder implements PartialDownloads {
  readonly #folder: string;
  /** Number of stored bytes by device index. */
  readonly #sizes = new Map<number, number>();
  #leftBytes: number;

  /**
   * Opens or creates the folder, and deletes files that no device can resume.
   * @throws StateError
   */
  constructor(folder: string, devices: readonly SimulatedDevice[], keptMaxBytes = KEPT_MAX_BYTES) {
    this.#folder = folder;
    this.#leftBytes = keptMaxBytes;
    const inProgress = new Set(devices.filter(isInProgress).map(({ index }) => String(index)));
    rethrowAsFileError(`cannot use ${folder}`, () => {
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
      for (const name of readdirSync(folder)) {
        if (inProgress.has(name)) this.#grow(Number(name), statSync(join(folder, name)).size);
        else rmSync(join(folder, name), { recursive: true, force: true });
      }
    });
  }

  open(device: SimulatedDevice, { deploymentId }: DeploymentRecord): PartialDownload {
    const { index } = device;
    const path = join(this.#folder, String(index));
    const head = this.#sizes.has(index) ? headOf(path) : undefined;
    if (head?.deploymentId !== deploymentId) this.forget(device);
    return new OpenDownload({
      path,
      deploymentId,
      earlierPart: head?.deploymentId === deploymentId ? head : undefined,
      makeRoom: (bytes) => this.#grow(index, bytes),
      giveUp: () => this.forget(device),
    });
  }

  forget({ index }: SimulatedDevice): void {
    const size = this.#sizes.get(index);
    if (size === undefined) return;
    const path = join(this.#folder, String(index));
    rethrowAsFileError(`cannot remove ${path}`, () => rmSync(path, { force: true }));
    this.#sizes.delete(index);
    this.#leftBytes += size;
  }

  #grow(index: number, bytes: number): boolean {
    if (bytes > this.#leftBytes) return false;
    this.#leftBytes -= bytes;
    this.#sizes.set(index, (this.#sizes.get(index) ?? 0) + bytes);
    return true;
  }
}

interface Head {
  readonly deploymentId: string;
  readonly progress: DownloadProgress;
  /** Offset of the first downloaded byte in the stored file. */
  readonly startsAt: number;
}

interface OpenDownloadOptions {
  readonly path: string;
  readonly deploymentId: string;
  readonly earlierPart: Head | undefined;
  /** Reserves bytes for this download; returns false when the limit does not allow them. */
  readonly makeRoom: (bytes: number) => boolean;
  readonly giveUp: () => void;
}

class OpenDownload implements PartialDownload {
  readonly #options: OpenDownloadOptions;
  #file: number | undefined;
  #isOver = false;
  readonly progress: DownloadProgress | undefined;

  constructor(options: OpenDownloadOptions) {
    this.#options = options;
    this.progress = options.earlierPart?.progress;
  }

  chunks(): AsyncIterable<Buffer> {
    const { path, earlierPart } = this.#options;
    return createReadStream(path, { start: earlierPart?.startsAt ?? 0 });
  }

  append(chunk: Buffer, { totalBytes, validator }: DownloadProgress): void {
    if (this.#isOver) return;
    const { path, deploymentId, earlierPart, makeRoom, giveUp } = this.#options;
    rethrowAsFileError(`cannot write ${path}`, () => {
      const isNew = this.#file === undefined && earlierPart === undefined;
      const head = isNew ? `${JSON.stringify({ deploymentId, totalBytes, validator })}\n` : '';
      if (!makeRoom(Buffer.byteLength(head) + chunk.length)) {
        this.close();
        giveUp();
        return;
      }
      this.#file ??= openSync(path, isNew ? 'w' : 'a', OWNER_ONLY);
      if (isNew) writeAll(this.#file, Buffer.from(head));
      writeAll(this.#file, chunk);
    });
  }

  close(): void {
    this.#isOver = true;
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

function isInProgress({ deployments }: SimulatedDevice): boolean {
  return deployments.some(
    (deployment) => deployment.downloadedArtifact === undefined && !isSettled(deployment),
  );
}

/** Returns the header of a stored download; undefined when the header is truncated or invalid. */
function headOf(path: string): Head | undefined {
  const { first, sizeBytes } = rethrowAsFileError(`cannot read ${path}`, () => firstOf(path));
  const startsAt = first.indexOf('\n') + 1;
  const head = v.safeParse(headTextShape, first.toString('utf8', 0, startsAt));
  if (!head.success) return undefined;
  const { deploymentId, totalBytes, validator } = head.output;
  return {
    deploymentId,
    startsAt,
    progress: { receivedBytes: sizeBytes - startsAt, totalBytes, validator },
  };
}

function firstOf(path: string): { readonly first: Buffer; readonly sizeBytes: number } {
  const file = openSync(plainFile(path), 'r');
  try {
    const first = Buffer.alloc(HEAD_MAX_BYTES);
    const count = readSync(file, first, 0, HEAD_MAX_BYTES, 0);
    return { first: first.subarray(0, count), sizeBytes: fstatSync(file).size };
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let writtenBytes = 0; writtenBytes < bytes.length; )
    writtenBytes += writeSync(file, bytes, writtenBytes);
}

function rethrowAsFileError<Result>(action: string, callback: () => Result): Result {
  try {
    return callback();
  } catch (error) {
    throw fileError(action, error);
  }
}
