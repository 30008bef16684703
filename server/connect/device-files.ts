/** File access on devices, for users. Each action runs in its own session. Spec: Device connect */
import type { FileInfo, PutFile } from '../../fixtures/formats/connect-bodies.ts';
import type { DeviceAccess, DeviceSessions } from './device-access.ts';
import { type DeviceSession, DeviceSessionError, type SessionFailure } from './device-session.ts';
import { abortTransfer, fetchFile, openTransfer, statFile, storeFile } from './file-transfer.ts';

/** A file being received from a device. */
interface RemoteFile {
  readonly info: FileInfo;
  /**
   * The caller must consume it or call `return`. Returns a failure when the content ends too early.
   */
  readonly content: AsyncGenerator<Uint8Array, SessionFailure | undefined>;
}

/** Inspects, reads and writes files of devices. */
export class DeviceFileAccess {
  readonly #sockets: DeviceSessions;

  constructor(sockets: DeviceSessions) {
    this.#sockets = sockets;
  }

  /** Returns the device's description of a regular file. */
  describe(access: DeviceAccess, path: string): Promise<FileInfo | SessionFailure> {
    return this.#sockets.runInSession(access, async (session) => {
      await openTransfer(session);
      const info = await statFile(session, path);
      session.end();
      return info;
    });
  }

  /**
   * Returns the file once its first chunk has arrived, which proves that the device can read it.
   */
  read(access: DeviceAccess, path: string): Promise<RemoteFile | SessionFailure> {
    return this.#sockets.runInSession(access, async (session) => {
      await openTransfer(session);
      const info = await statFile(session, path);
      const chunks = fetchFile(session, path);
      const first = await chunks.next();
      this.#sockets.recorderOf(access)('download_file', path);
      return { info, content: contentOf(session, first, chunks) };
    });
  }

  /**
   * Writes a file, and resolves when the device has acknowledged its end. When `content` throws,
   * aborts the transfer on the device and rethrows.
   */
  write(
    access: DeviceAccess,
    put: PutFile,
    content: AsyncIterable<Uint8Array>,
  ): Promise<SessionFailure | undefined> {
    return this.#sockets.runInSession(access, async (session) => {
      await openTransfer(session);
      try {
        await storeFile(session, put, content);
      } catch (error) {
        abortTransfer(session, 'the upload was interrupted');
        throw error;
      }
      this.#sockets.recorderOf(access)('upload_file', put.path);
      session.end();
      return undefined;
    });
  }
}

async function* contentOf(
  session: DeviceSession,
  first: IteratorResult<Uint8Array, void>,
  furtherChunks: AsyncIterator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, SessionFailure | undefined> {
  let isWhole = false;
  try {
    for (let chunk = first; !chunk.done; chunk = await furtherChunks.next()) yield chunk.value;
    isWhole = true;
    return undefined;
  } catch (error) {
    if (error instanceof DeviceSessionError) return error.failure;
    throw error;
  } finally {
    if (!isWhole) abortTransfer(session, 'the client did not read the whole download');
    session.end();
  }
}
