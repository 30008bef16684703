/**
 * An artifact on its way into a device: what has come is checked as it comes and stays, as on a
 * disk, when the power goes; the rest may come later, by another connection. No file is held in
 * memory; only a run with a state folder keeps the bytes, so that they outlive the simulator.
 */
import type { ArtifactContents } from '../../fixtures/formats/mender-artifact.ts';
import { readArtifact } from '../../fixtures/formats/mender-artifact-reader.ts';
import { type DownloadProgress, noProgress } from '../client/download.ts';
import type { DeploymentPart } from './device.ts';
import type { KeptDownload } from './environment.ts';

/** One artifact, from its first byte to its last, in as many goes as it takes. */
export class ArtifactIntake {
  readonly #handover = new Handover();
  readonly #contents: Promise<ArtifactContents>;
  /** How far the download has come; the bytes that came and were not stored do not count. */
  readonly progress: DownloadProgress;

  constructor(progress: DownloadProgress) {
    this.progress = progress;
    this.#contents = readArtifact(this.#handover);
    // Whoever takes pieces in is told; nobody else waits for it.
    this.#contents.catch(() => this.#handover.close());
  }

  /** One that has taken in already what was kept of it. */
  static async goOn(kept: KeptDownload | undefined): Promise<ArtifactIntake> {
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
   * Stores the pieces, which go on where those before them ended, and says what the artifact holds.
   * @param kept where they are written to as well
   * @throws ArtifactError when it is refused; what the pieces throw, and then it can be gone on with
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
const stored = new WeakMap<DeploymentPart, ArtifactIntake>();

/** Keeps what has come of an artifact until the device has power again. */
export function keepIntake(part: DeploymentPart, intake: ArtifactIntake): void {
  stored.set(part, intake);
}

/** What has come of the artifact before the power went; undefined when nothing has. */
export function takeKeptIntake(part: DeploymentPart): ArtifactIntake | undefined {
  const intake = stored.get(part);
  stored.delete(part);
  return intake;
}

type Asking = (result: IteratorResult<Buffer>) => void;

/** Hands pieces from one who has them to one who asks for them, one at a time. */
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

  /** Nobody asks any more. */
  async return(): Promise<IteratorResult<Buffer>> {
    this.close();
    return { done: true, value: undefined };
  }

  close(): void {
    this.#isClosed = true;
    this.#onAsked?.();
  }

  /** Hands a piece over once it is asked for; false when nobody asks any more. */
  async give(piece: Buffer): Promise<boolean> {
    const asking = await this.#asked();
    asking?.({ done: false, value: piece });
    return asking !== undefined;
  }

  /** There are no more pieces. */
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
