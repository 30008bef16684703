/** Files of devices, for users: each act is one conversation. Spec: Device connect */
import type { FileInfo, PutFile } from '../../fixtures/formats/connect-bodies.ts';
import { type Conversation, ConversationFault, type Failure } from './conversation.ts';
import type { DeviceAccess, DeviceConversations } from './device-access.ts';
import { abortTransfer, fetchFile, openTransfer, statFile, storeFile } from './file-transfer.ts';

/** A file on its way from a device. */
interface RemoteFile {
  readonly info: FileInfo;
  /** Must be taken to its end, or returned; returns why it ended too early. */
  readonly content: AsyncGenerator<Uint8Array, Failure | undefined>;
}

/** Looks at files of devices, reads and writes them. */
export class DeviceFiles {
  readonly #sockets: DeviceConversations;

  constructor(sockets: DeviceConversations) {
    this.#sockets = sockets;
  }

  /** What the device tells of a regular file. */
  describe(access: DeviceAccess, path: string): Promise<FileInfo | Failure> {
    return this.#sockets.converse(access, async (conversation) => {
      await openTransfer(conversation);
      const info = await statFile(conversation, path);
      conversation.end();
      return info;
    });
  }

  /** The file, once its first bytes are here: by then it is known whether it can be read. */
  read(access: DeviceAccess, path: string): Promise<RemoteFile | Failure> {
    return this.#sockets.converse(access, async (conversation) => {
      await openTransfer(conversation);
      const info = await statFile(conversation, path);
      const chunks = fetchFile(conversation, path);
      const first = await chunks.next();
      this.#sockets.recorderOf(access)('download_file', path);
      return { info, content: contentOf(conversation, first, chunks) };
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
    return this.#sockets.converse(access, async (conversation) => {
      await openTransfer(conversation);
      try {
        await storeFile(conversation, put, content);
      } catch (fault) {
        abortTransfer(conversation, 'the upload was cut off');
        throw fault;
      }
      this.#sockets.recorderOf(access)('upload_file', put.path);
      conversation.end();
      return undefined;
    });
  }
}

async function* contentOf(
  conversation: Conversation,
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncIterator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, Failure | undefined> {
  let isWhole = false;
  try {
    for (let chunk = first; !chunk.done; chunk = await rest.next()) yield chunk.value;
    isWhole = true;
    return undefined;
  } catch (fault) {
    if (fault instanceof ConversationFault) return fault.failure;
    throw fault;
  } finally {
    if (!isWhole) abortTransfer(conversation, 'the download was not taken to its end');
    conversation.end();
  }
}
