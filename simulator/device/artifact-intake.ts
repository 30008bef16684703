/**
 * Receives an artifact on a device and checks it as it arrives. A partly received artifact survives
 * a power loss, as if stored on the device's disk, and continues on a later connection. The bytes
 * of the file are not kept; only a run with a state folder writes them to disk, so that a download
 * survives a restart of the simulator.
 */
import type { ArtifactContents } from '../../fixtures/formats/mender-artifact.ts';
import { readArtifact } from '../../fixtures/formats/mender-artifact-reader.ts';
import { type DownloadProgress, noProgress } from '../api-client/download.ts';
import type { DeploymentRecord } from './device.ts';
import type { PartialDownload } from './environment.ts';

/** Receives one artifact, possibly over several downloads. */
export class ArtifactIntake {
  readonly #handover = new Handover();
  readonly #contents: Promise<ArtifactContents>;
  /** The progress of the download. It does not count bytes that arrived but were not processed. */
  readonly progress: DownloadProgress;

  constructor(progress: DownloadProgress) {
    this.progress = progress;
    this.#contents = readArtifact(this.#handover);
    // The caller of `takeIn` gets the error; nothing else awaits this promise.
    this.#contents.catch(() => this.#handover.close());
  }

  /** Returns an intake that has read the bytes that an earlier run wrote to disk. */
  static async resume(partialDownload: PartialDownload | undefined): Promise<ArtifactIntake> {
    const intake = new ArtifactIntake(noProgress());
    if (partialDownload?.progress === undefined) return intake;
    const { totalBytes, validator } = partialDownload.progress;
    Object.assign(intake.progress, { totalBytes, validator });
    for await (const chunk of partialDownload.chunks()) {
      if (!(await intake.#handover.give(chunk))) break;
      intake.progress.receivedBytes += chunk.length;
    }
    return intake;
  }

  /**
   * Processes the pieces, which must continue where the previous ones ended, and returns the
   * contents of the artifact.
   * @param kept file on disk to which the pieces are also written
   * @throws ArtifactError for an invalid artifact; any error of `chunks`, after which the download
   *   can be resumed
   */
  takeIn(chunks: AsyncIterable<Buffer>, kept?: PartialDownload): Promise<ArtifactContents> {
    return Promise.race([this.#contents, this.#store(chunks, kept)]);
  }

  async #store(
    chunks: AsyncIterable<Buffer>,
    partialDownload: PartialDownload | undefined,
  ): Promise<ArtifactContents> {
    let storedBytes = this.progress.receivedBytes;
    try {
      for await (const chunk of chunks) {
        partialDownload?.append(chunk, this.progress);
        if (!(await this.#handover.give(chunk))) return this.#contents;
        storedBytes += chunk.length;
      }
    } finally {
      this.progress.receivedBytes = storedBytes;
    }
    await this.#handover.end();
    return this.#contents;
  }
}

/** Partly received artifacts of devices that are switched off. */
const storedIntakes = new WeakMap<DeploymentRecord, ArtifactIntake>();

/** Stores a partly received artifact while the device is switched off. */
export function keepIntake(deployment: DeploymentRecord, intake: ArtifactIntake): void {
  storedIntakes.set(deployment, intake);
}

/**
 * Removes and returns the artifact that was partly received before the power loss; undefined when
 * there is none.
 */
export function takeKeptIntake(deployment: DeploymentRecord): ArtifactIntake | undefined {
  const intake = storedIntakes.get(deployment);
  storedIntakes.delete(deployment);
  return intake;
}

type ChunkRequest = (result: IteratorResult<Buffer>) => void;

/** Passes pieces from a producer to a consumer on request, one at a time. */
class Handover implements AsyncIterableIterator<Buffer> {
  #request: ChunkRequest | undefined;
  #onRequest: (() => void) | undefined;
  #isClosed = false;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer>> {
    return new Promise((resolve) => {
      this.#request = resolve;
      this.#onRequest?.();
    });
  }

  /** Ends the iteration when the consumer stops before the last piece. */
  async return(): Promise<IteratorResult<Buffer>> {
    this.close();
    return { done: true, value: undefined };
  }

  close(): void {
    this.#isClosed = true;
    this.#onRequest?.();
  }

  /**
   * Waits for the consumer's next request and passes the piece to it. Returns false when the
   * consumer has stopped.
   */
  async give(chunk: Buffer): Promise<boolean> {
    const request = await this.#nextRequest();
    request?.({ done: false, value: chunk });
    return request !== undefined;
  }

  /** Ends the iteration after the last piece. */
  async end(): Promise<void> {
    const request = await this.#nextRequest();
    request?.({ done: true, value: undefined });
  }

  async #nextRequest(): Promise<ChunkRequest | undefined> {
    if (this.#request === undefined && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#onRequest = resolve;
      });
    }
    this.#onRequest = undefined;
    const request = this.#isClosed ? undefined : this.#request;
    this.#request = undefined;
    return request;
  }
}
