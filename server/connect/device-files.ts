/** Files of devices, for users: each act is one session. Spec: Device connect */
import type { FileInfo, PutFile } from '../../fixtures/formats/connect-bodies.ts';
import type { DeviceAccess, DeviceSessions } from './device-access.ts';
import { type DeviceSession, DeviceSessionFault, type Failure } from './device-session.ts';
import { abortTransfer, fetchFile, openTransfer, statFile, storeFile } from './file-transfer.ts';

/** A file on its way from a device. */
interface RemoteFile {
  readonly info: FileInfo;
  /** Must be taken to its end, or returned; returns why it ended too early. */
  readonly content: AsyncGenerator<Uint8Array, Failure | undefined>;
}

/** Looks at files of devices, reads and writes them. */
export class DeviceFiles {
  readonly #sockets: DeviceSessions;

  constructor(sockets: DeviceSessions) {
    this.#sockets = sockets;
  }

  /** What the device tells of a regular file. */
  describe(access: DeviceAccess, path: string): Promise<FileInfo | Failure> {
    return this.#sockets.inSession(access, async (session) => {
      await openTransfer(session);
      const info = await statFile(session, path);
      session.end();
      return info;
    });
  }

  /** The file, once its first bytes are here: by then it is known whether it can be read. */
  read(access: DeviceAccess, path: string): Promise<RemoteFile | Failure> {
    return this.#sockets.inSession(access, async (session) => {
      await openTransfer(session);
      const info = await statFile(session, path);
      const chunks = fetchFile(session, path);
      const first = await chunks.next();
      this.#sockets.recorderOf(access)('download_file', path);
      return { info, content: contentOf(session, first, chunks) };
    });
  }

  /**
   * Writes a file, and has it acknowledged to its end. What the content throws is thrown on, after
   * the device has been told.
   */
  write(
    access: DeviceAccess,
    put: PutFile,
    content: AsyncIterable<Uint8Array>,
  ): Promise<Failure | undefined> {
    return this.#sockets.inSession(access, async (session) => {
      await openTransfer(session);
      try {
        await storeFile(session, put, content);
      } catch (fault) {
        abortTransfer(session, 'the upload was cut off');
        throw fault;
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
  rest: AsyncIterator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, Failure | undefined> {
  let isWhole = false;
  try {
    for (let chunk = first; !chunk.done; chunk = await rest.next()) yield chunk.value;
    isWhole = true;
    return undefined;
  } catch (fault) {
    if (fault instanceof DeviceSessionFault) return fault.failure;
    throw fault;
  } finally {
    if (!isWhole) abortTransfer(session, 'the download was not taken to its end');
    session.end();
  }
}
