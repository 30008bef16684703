/**
 * An artifact being received by a device: checked while it arrives and kept, as on a disk, when the
 * power fails; the rest may arrive later, on another connection. No file is held in memory; only a
 * run with a state folder stores the bytes, so that they survive a restart of the simulator.
 */
import type { ArtifactContents } from '../../fixtures/formats/mender-artifact.ts';
import { readArtifact } from '../../fixtures/formats/mender-artifact-reader.ts';
import { type DownloadProgress, noProgress } from '../client/download.ts';
import type { DeviceDeployment } from './device.ts';
import type { KeptDownload } from './environment.ts';

/** One artifact, from first byte to last, over as many downloads as it takes. */
export class ArtifactIntake {
  readonly #handover = new Handover();
  readonly #contents: Promise<ArtifactContents>;
  /** How far the download has come; bytes that arrived but were not stored do not count. */
  readonly progress: DownloadProgress;

  constructor(progress: DownloadProgress) {
    this.progress = progress;
    this.#contents = readArtifact(this.#handover);
    // The caller of `takeIn` gets the error; nothing else awaits this promise.
    this.#contents.catch(() => this.#handover.close());
  }

  /** Returns an intake that has already read what was kept of the artifact. */
  static async resume(kept: KeptDownload | undefined): Promise<ArtifactIntake> {
    const intake = new ArtifactIntake(noProgress());
    if (kept?.progress === undefined) return intake;
    const { totalBytes, validator } = kept.progress;
    Object.assign(intake.progress, { totalBytes, validator });
    for await (const piece of kept.pieces()) {
      if (!(await intake.#handover.give(piece))) break;
      intake.progress.receivedBytes += piece.length;
    }
    return intake;
  }

  /**
   * Stores the pieces, which continue where the previous ones ended, and returns the artifact's
   * contents.
   * @param kept where the pieces are also written to
   * @throws ArtifactError when it is refused; any error of the pieces, after which it can be
   * resumed
   */
  takeIn(pieces: AsyncIterable<Buffer>, kept?: KeptDownload): Promise<ArtifactContents> {
    return Promise.race([this.#contents, this.#store(pieces, kept)]);
  }

  async #store(
    pieces: AsyncIterable<Buffer>,
    kept: KeptDownload | undefined,
  ): Promise<ArtifactContents> {
    let storedBytes = this.progress.receivedBytes;
    try {
      for await (const piece of pieces) {
        kept?.append(piece, this.progress);
        if (!(await this.#handover.give(piece))) return this.#contents;
        storedBytes += piece.length;
      }
    } finally {
      this.progress.receivedBytes = storedBytes;
    }
    await this.#handover.end();
    return this.#contents;
  }
}

/** What devices without power have stored of an artifact. */
const stored = new WeakMap<DeviceDeployment, ArtifactIntake>();

/** Keeps a partly received artifact until the device has power again. */
export function keepIntake(deployment: DeviceDeployment, intake: ArtifactIntake): void {
  stored.set(deployment, intake);
}

/** Removes and returns what was received before the power loss; undefined when there is nothing. */
export function takeKeptIntake(deployment: DeviceDeployment): ArtifactIntake | undefined {
  const intake = stored.get(deployment);
  stored.delete(deployment);
  return intake;
}

type Asking = (result: IteratorResult<Buffer>) => void;

/** Passes pieces from a producer to a consumer on request, one at a time. */
class Handover implements AsyncIterableIterator<Buffer> {
  #asking: Asking | undefined;
  #onAsked: (() => void) | undefined;
  #isClosed = false;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Buffer>> {
    return new Promise((resolve) => {
      this.#asking = resolve;
      this.#onAsked?.();
    });
  }

  /** Ends the iteration when the consumer stops before the last piece. */
  async return(): Promise<IteratorResult<Buffer>> {
    this.close();
    return { done: true, value: undefined };
  }

  close(): void {
    this.#isClosed = true;
    this.#onAsked?.();
  }

  /** Passes a piece on once it is requested; returns false when the consumer is done. */
  async give(piece: Buffer): Promise<boolean> {
    const asking = await this.#asked();
    asking?.({ done: false, value: piece });
    return asking !== undefined;
  }

  /** Ends the iteration for the consumer after the last piece. */
  async end(): Promise<void> {
    const asking = await this.#asked();
    asking?.({ done: true, value: undefined });
  }

  async #asked(): Promise<Asking | undefined> {
    if (this.#asking === undefined && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#onAsked = resolve;
      });
    }
    this.#onAsked = undefined;
    const asking = this.#isClosed ? undefined : this.#asking;
    this.#asking = undefined;
    return asking;
  }
}
