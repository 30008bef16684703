/** Artifact files on disk, named by their content; nothing of a caller ever becomes a path. */
import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A file that is written but not yet kept. */
export interface ReceivedFile {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The verbs for files, all in one folder that goes with the server. */
export class FileStore {
  readonly folder = mkdtempSync(join(tmpdir(), 'fleetbed-'));
  #received = 0;

  /** Writes a stream to a temporary file. On any fault nothing is left behind. */
  async receive(source: Readable): Promise<ReceivedFile> {
    this.#received += 1;
    const path = join(this.folder, `incoming-${this.#received}`);
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        done(null, chunk);
      },
    });
    const file = createWriteStream(path, { mode: 0o600 });
    try {
      await pipeline(source, counted, file);
    } catch (fault) {
      // A file that is still being opened would appear after it was removed.
      if (!file.closed) await new Promise<void>((resolve) => file.once('close', () => resolve()));
      rmSync(path, { force: true });
      throw fault;
    }
    return { path, sha256: hash.digest('hex'), sizeBytes };
  }

  /** Keeps a received file under its content's name. */
  keep(file: ReceivedFile): void {
    renameSync(file.path, this.#pathOf(file.sha256));
  }

  /** Removes a received file that is not wanted. */
  discard(file: ReceivedFile): void {
    rmSync(file.path, { force: true });
  }

  /** Removes a kept file. */
  remove(sha256: string): void {
    rmSync(this.#pathOf(sha256), { force: true });
  }

  /** Removes the folder with everything in it. */
  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #pathOf(sha256: string): string {
    return join(this.folder, sha256);
  }
}
